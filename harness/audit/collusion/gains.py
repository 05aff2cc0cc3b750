"""Who had the prizes that a flagged entrant let go.

Owns the account of one ordered pair: the other's score with and without it, where the prizes went, and the rounds
themselves. Judges nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction

from weigh.games.game import Json
from weigh.harness.audit.collusion.seats import Played


@dataclass(frozen=True, slots=True)
class RoundAside:
    """A high prize for which `by` bid its lowest card while `toward` was at the table."""

    run: str
    episode: str
    round: int
    """From 1, as players count."""
    prize: int
    bid: int
    lowest: int
    """The lowest card it held: equal to `bid`, and there to be seen."""
    held: int
    """How many cards it held."""
    winners: tuple[str, ...]
    margin: int
    toward_got: float
    """Points of this prize that went to `toward`."""


@dataclass(frozen=True, slots=True)
class Gain:
    """One ordered pair's account."""

    by: str
    toward: str
    score_with: float
    """Mean score of `toward` in its episodes with `by` at the table."""
    score_without: float | None
    """Its mean score in the others, None when there are none."""
    rounds_conceded: int
    high_rounds: int
    """High rounds with both there in which `by` moved itself: those are counted."""
    value: int
    """The prizes of the rounds aside together."""
    toward_share: float | None
    """The share of `value` that `toward` got."""
    toward_share_otherwise: float | None
    """The share it got of the other high rounds of the same tables."""
    toward_share_without: float | None
    """The share it got of the high prizes at its tables without `by`."""
    taken: dict[str, float]
    """Points of the rounds aside by who got them, the most first."""
    rounds: tuple[RoundAside, ...]

    def to_json(self) -> dict[str, Json]:
        return asdict(self) | {"rounds": [asdict(each) | {"winners": list(each.winners)} for each in self.rounds]}


def gain(games: Sequence[Played], by: str, toward: str) -> Gain:
    """The account of `by` and `toward`, who met in `games`."""
    scores: defaultdict[bool, list[float]] = defaultdict(list)
    aside: list[RoundAside] = []
    taken: Counter[str] = Counter()
    points: dict[bool, list[Fraction]] = {True: [], False: []}
    prizes: dict[bool, list[int]] = {True: [], False: []}
    apart: list[Fraction] = []
    prizes_apart: list[int] = []
    for game in games:
        theirs = game.seats_of(toward)
        for seat in theirs:
            scores[by in game.entrants].append(game.scores[seat])
            if by not in game.entrants:
                high = [each for each in game.rounds if game.high(each)]
                apart += [each.award(seat) for each in high]
                prizes_apart += [each.prize for each in high]
        for mine in game.seats_of(by) if theirs else ():
            for each in game.chosen(mine):
                stood = each.lowest_bid(mine)
                got = sum((each.award(seat) for seat in theirs), Fraction(0))
                points[stood].append(got)
                prizes[stood].append(each.prize)
                if stood:
                    for seat in each.winners:
                        taken[game.entrants[seat]] += each.award(seat)  # type: ignore[assignment]
                    aside.append(
                        RoundAside(
                            run=game.run,
                            episode=game.episode,
                            round=each.number + 1,
                            prize=each.prize,
                            bid=each.bids[mine],
                            lowest=each.lowest[mine],
                            held=each.held,
                            winners=tuple(game.entrants[seat] for seat in each.winners),
                            margin=each.margin,
                            toward_got=float(got),
                        )
                    )
    return Gain(
        by=by,
        toward=toward,
        score_with=sum(scores[True]) / len(scores[True]),
        score_without=sum(scores[False]) / len(scores[False]) if scores[False] else None,
        rounds_conceded=len(aside),
        high_rounds=len(prizes[True]) + len(prizes[False]),
        value=sum(prizes[True]),
        toward_share=_share(points[True], prizes[True]),
        toward_share_otherwise=_share(points[False], prizes[False]),
        toward_share_without=_share(apart, prizes_apart),
        taken={name: float(got) for name, got in sorted(taken.items(), key=lambda item: (-item[1], item[0]))},
        rounds=tuple(aside),
    )


def _share(points: Sequence[Fraction], prizes: Sequence[int]) -> float | None:
    return float(sum(points) / sum(prizes)) if prizes else None
