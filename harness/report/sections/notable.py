"""Episodes worth looking at: the largest overbid, the biggest upset, the closest game, the most faults.

Owns which they are. One pass over records; what is kept does not grow with their number. Of equals the first in the
order of the runs counts, so that equal runs give equal reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

from weigh.games.game import Json
from weigh.harness.store.record import Record

Why: TypeAlias = Literal["overbid", "upset", "closest", "faults"]
ORDER: tuple[Why, ...] = ("upset", "closest", "overbid", "faults")
_Told: TypeAlias = "Callable[[Why, int | None, float, tuple[str, ...]], Notable]"


@dataclass(frozen=True, slots=True)
class Notable:
    """One episode, and why."""

    why: Why
    game: str
    run: str
    """Run id."""
    episode: str
    step: int | None
    """The step to look at; None for the whole episode."""
    entrants: tuple[str, ...]
    """By seat."""
    scores: tuple[float, ...]
    """By seat."""
    size: float
    """overbid: its margin; upset: places between the two; closest: the first two scores apart; faults: how many."""
    who: tuple[str, ...]
    """overbid: who bid; upset: who beat whom; closest: the first two; faults: who had them, the most first."""

    def to_json(self) -> dict[str, Json]:
        return {**asdict(self), "entrants": list(self.entrants), "scores": list(self.scores), "who": list(self.who)}


def notable(
    records: Iterable[tuple[str, Record]], ranks: Mapping[str, Mapping[str, int]]
) -> dict[str, tuple[Notable, ...]]:
    """By game, at most one episode for each reason of ORDER. `records` come with their run's id; `ranks` are places by
    game and entrant, of the ranked."""
    best: dict[tuple[str, Why], tuple[tuple[float, ...], Notable]] = {}
    widest: dict[str, float] = {}
    for run, record in records:
        for weight, found in _candidates(run, record, ranks.get(record.game, {})):
            place = record.game, found.why
            if found.why == "closest":
                widest[record.game] = max(widest.get(record.game, found.size), found.size)
            if place not in best or weight > best[place][0]:
                best[place] = (weight, found)
    for game, apart in widest.items():
        if best[game, "closest"][1].size >= apart:
            del best[game, "closest"]  # all are alike: where every game is won outright, none is close
    games = dict.fromkeys(game for game, _ in best)
    return {game: tuple(best[game, why][1] for why in ORDER if (game, why) in best) for game in sorted(games)}


def _candidates(run: str, record: Record, ranks: Mapping[str, int]) -> Iterable[tuple[tuple[float, ...], Notable]]:
    def told(why: Why, step: int | None, size: float, who: tuple[str, ...]) -> Notable:
        return Notable(why, record.game, run, record.key, step, record.entrants, record.scores, size, who)

    yield from _overbids(record, told)
    scored = sorted(zip(record.scores, record.entrants, strict=True), key=lambda pair: -pair[0])
    if len(scored) > 1 and scored[0][1] != scored[1][1]:
        apart = scored[0][0] - scored[1][0]
        yield (-apart, -(scored[0][0] - scored[-1][0])), told("closest", None, apart, (scored[0][1], scored[1][1]))
    for above, winner in scored:
        for below, loser in scored:
            places = ranks.get(winner, 0) - ranks.get(loser, 0) if winner in ranks and loser in ranks else 0
            if above > below and places > 0:
                yield (places, above - below), told("upset", None, places, (winner, loser))
    faults = {seat: 0 for seat in range(len(record.entrants))}
    for decision in record.decisions:
        faults[decision.seat] = faults.get(decision.seat, 0) + len(decision.faults)
    if total := sum(faults.values()):
        most = sorted((-number, seat) for seat, number in faults.items() if number)
        yield (total,), told("faults", None, total, tuple(record.entrants[seat] for _, seat in most))


def _overbids(record: Record, told: _Told) -> Iterable[tuple[tuple[float, ...], Notable]]:
    step = 0
    for event in record.events:
        number, margin, seat = event.get("round"), event.get("margin"), event.get("seat")
        if isinstance(number, int):
            step = number
        if event.get("type") == "overbid" and isinstance(margin, int) and isinstance(seat, int):
            yield (margin,), told("overbid", step, margin, (record.entrants[seat],))
