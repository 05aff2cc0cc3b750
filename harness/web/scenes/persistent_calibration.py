"""Persistent Calibration as pictures: three balances with all weights, and a table of the seats.

Owns its frames and the table: the weights of a round go down together, then the lighter sides score, and the end shows
the ranks. Every number is the engine's. Players know the totals and each other's side, left or right; the spectator
sees all, and what was secret stands under a heading of its own. The balances are drawn in
`persistent_calibration_balances` next to this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from weigh.games.game import Move, Outcome, Seat, State
from weigh.games.persistent_calibration import moves as rules
from weigh.games.persistent_calibration.moves import HEAVIEST, LIGHTEST, PLACES, Placement, scale_of, side_of
from weigh.games.persistent_calibration.rules import DEALS, ROUNDS, PersistentCalibrationState
from weigh.harness.web.assets import asset
from weigh.harness.web.scene import (
    Board,
    Counts,
    Frame,
    Names,
    badge,
    bar,
    exact_score,
    full_score,
    listed,
    ranking,
    score,
    seat_class,
)
from weigh.harness.web.scenes.persistent_calibration_balances import Balances
from weigh.harness.web.svg import Child, Element, h, part

STYLE: Final = asset("scenes/persistent_calibration.css")

_WEIGHTS: Final = ", ".join(map(str, range(LIGHTEST, HEAVIEST + 1)))
_GAME: Final = "persistent_calibration"


def words(before: State, seat: Seat, move: Move) -> str:
    """Where the weight goes: see `harness.web.scene.BoardView`."""
    if move is None:
        return "no move"
    placed = cast(Mapping[str, str | int], move)
    spent = int(placed["modify"])
    garnets = f" with {_garnets(spent)}: {int(placed['weight']) + spent}"
    return f"{placed['scale']} {placed['side']}, weight {placed['weight']}{garnets if spent else ''}"


def _garnets(spent: int) -> str:
    return f"{abs(spent)} {'garnet' if abs(spent) == 1 else 'garnets'}"


def opening(names: Names, state: PersistentCalibrationState) -> Iterator[Frame]:
    """Three empty scales."""
    garnets: tuple[str, ...] = ()
    if state.table.garnets_matter:
        garnets = (f"Garnets, each held in secret: {listed(names, state.garnets)}.",)
    yield Seats(names, state, (0,) * len(names)).frame(
        "start",
        "three empty scales",
        f"{len(names)} players put weights on the scales A, B and C for {ROUNDS} rounds. Each holds {_WEIGHTS}.",
        *garnets,
    )


def played(names: Names, before: PersistentCalibrationState, after: PersistentCalibrationState) -> Iterator[Frame]:
    """The weights of a round, and then its points."""
    yield _put_down(names, before, after)
    yield _scored(names, after)


def _put_down(names: Names, before: PersistentCalibrationState, after: PersistentCalibrationState) -> Frame:
    number, placed = len(after.rounds), after.rounds[-1]
    tipped = tuple(list(rules.flips(after.totals))[-1])
    shown = Seats(names, after, tuple(sum(own[:-1]) for own in after.points_by_round), before=before, tipped=tipped)
    lines = [f"Round {number} of {ROUNDS}: all weights are put down at once."]
    for place in PLACES:
        here = [(name, each) for name, each in zip(names, placed, strict=True) if each and each.place == place]
        if here:
            lines.append(f"{scale_of(place)} {side_of(place)}: {', '.join(f'{n} {_value(p)}' for n, p in here)}.")
    absent = [f"{name} (weight {shown.lost(seat)})" for seat, name in enumerate(names) if placed[seat] is None]
    if absent:
        lines.append(f"No move, so the lowest weight is lost: {', '.join(absent)}.")
    lines.append(f"Totals, known to all: {shown.balances.label}.")
    lighter = {scale_of(place): side_of(place) for place in rules.lighter_places(after.totals[-1])}
    lines += [f"Scale {scale} tips: now its {lighter[scale]} side is the lighter one." for scale in tipped]
    banner = None
    if tipped:
        banner = f"SCALE {tipped[0]} TIPS" if len(tipped) == 1 else f"SCALES {' AND '.join(tipped)} TIP"
    return shown.frame("reveal", f"round {number}: weights", *lines, banner=banner)


def _value(placement: Placement) -> str:
    """`3`, or `3 (weight 2, 1 garnet)`."""
    if not placement.modify:
        return str(placement.value)
    return f"{placement.value} (weight {placement.weight}, {_garnets(placement.modify)})"


def _scored(names: Names, state: PersistentCalibrationState) -> Frame:
    number, by_round = len(state.rounds), state.points_by_round
    won = tuple(own[-1] for own in by_round)
    sides = ", ".join(f"{scale_of(place)} {side_of(place)}" for place in rules.lighter_places(state.totals[-1]))
    ranked = ranking(won)
    scorers = ", ".join(f"{names[seat]} {won[seat]}" for seat in ranked if won[seat])
    others = ", ".join(names[seat] for seat in ranked if not won[seat])
    lines = [
        f"Round {number}: the lighter sides score: {sides}." if sides else f"Round {number}: no side is lighter.",
        f"Points: {scorers}." if scorers else "Nobody scores.",
    ]
    if scorers and others:
        lines.append(f"Nothing for {others}.")
    if number in DEALS and state.to_act:
        lines.append(f"Everybody gets the weights {_WEIGHTS} anew.")
    shown = Seats(names, state, tuple(map(sum, by_round)), won=won)
    return shown.frame("event", f"round {number}: points", *lines)


def ended(names: Names, state: PersistentCalibrationState, outcome: Outcome) -> Frame:
    """The ranks."""
    rounds, points = len(state.rounds), tuple(map(sum, state.points_by_round))
    shown = Seats(names, state, points, outcome=outcome)
    why = f"All {ROUNDS} rounds are played."
    if rounds < ROUNDS:
        why = f"The clock stopped the game after {rounds} rounds."
    ranked = ranking(points)
    winners = ", ".join(names[seat] for seat in ranked if seat in shown.measure("winners"))
    last = ", ".join(names[seat] for seat in ranked if seat in shown.measure("elimination_candidates"))
    tokens = shown.measure("tokens_of_life")[ranked[0]]
    standing = "; ".join(
        f"{names[seat]} {points[seat]} points, score {full_score(outcome.scores[seat])}" for seat in ranked
    )
    return shown.frame(
        "end",
        f"end: {outcome.ending}",
        why,
        f"Most points: {winners} ({tokens} {'Token' if tokens == 1 else 'Tokens'} of Life each).",
        f"Fewest points, the elimination candidates: {last}.",
        f"Final standing: {standing}.",
    )


@dataclass(frozen=True)
class Seats(Board):
    """One position with the table of its seats: what each one did, won and holds, or how it ended."""

    game = _GAME
    names: Names
    state: PersistentCalibrationState
    points: tuple[int, ...]
    """What each seat has at this point."""
    before: PersistentCalibrationState | None = None
    """Where the picture is about the weights of a round: the position before, when new ones had not been dealt yet."""
    won: tuple[int, ...] | None = None
    """Where the picture is about what scores: the points of this round."""
    tipped: tuple[str, ...] = ()
    """The scales whose lighter side has changed."""
    outcome: Outcome | None = None
    """At the end only."""

    def measure(self, name: str) -> Sequence[int]:
        """A measure of the outcome, with an entry a seat or the seats it holds for."""
        return cast(Sequence[int], self.outcome.measures[name]) if self.outcome else ()

    def lost(self, seat: Seat) -> int | None:
        """The weight that went because nothing was put down; None where none did."""
        if self.before is None or self.state.rounds[-1][seat] is not None:
            return None
        held = self.before.hands[seat]  # before new ones are dealt there is but one left to lose
        return next((weight for weight in held if weight not in self.state.hands[seat]), held[0])

    def hand(self, seat: Seat) -> tuple[int, ...]:
        """The weights of a seat at this point."""
        if self.before is None:
            return self.state.hands[seat]
        placement = self.state.rounds[-1][seat]
        gone = placement.weight if placement else self.lost(seat)
        return tuple(weight for weight in self.before.hands[seat] if weight != gone)

    def counts(self) -> Counts:
        seats = range(len(self.names))
        garnets = tuple(map(str, self.state.garnets))
        return (
            ("points", tuple(map(str, self.points))),
            ("this round", tuple(map(str, self.won)) if self.won else ("-",) * len(seats)),
            ("hand", tuple(_in_line(self.hand(seat)) for seat in seats)),
            *([("garnets", garnets)] if self.state.table.garnets_matter else []),
        )

    @property
    def balances(self) -> Balances:
        return Balances(self.marks, self.state, self.before is not None, self.won is not None, self.tipped)

    def draw(self) -> Element:
        # A table within an image would be lost: of an image a reader is told the label alone.
        shown, rounds = self.balances, len(self.state.rounds)
        if self.outcome is not None:
            results = ", ".join(
                f"{self.names[seat]} {score(self.outcome.scores[seat])}" for seat in ranking(self.points)
            )
            label = f"The end. Scores: {results}. Scales: {shown.label}."
            return part("div", _GAME, self._final(), shown.draw(label))
        points = listed(self.names, self.points)
        label = f"Round {rounds} of {ROUNDS}. Scales: {shown.label}. Points: {points}."
        return part("div", _GAME, shown.draw(label), self._table())

    def _table(self) -> Element:
        """The table while the game is on: what the players knew of each other apart from what was secret."""
        columns = ["scale, weight", "won", "points", "hand", *(["garnets"] if self.state.table.garnets_matter else [])]
        groups = part(
            "tr",
            f"{_GAME}-groups",
            h("td"),
            h("th", {"scope": "colgroup"}, "known to all"),
            h("th", {"scope": "colgroup", "colspan": len(columns)}, "secret to the end"),
        )
        body = h("tbody", None, *map(self._row, range(len(self.names))))
        return part("table", f"{_GAME}-table", h("thead", None, groups, _headings("seat", "side", *columns)), body)

    def _row(self, seat: Seat) -> Element:
        placement = self.state.rounds[-1][seat] if self.state.rounds else None
        side = side_of(placement.place) if placement else "no move" if self.state.rounds else "-"
        won = "" if self.won is None else f"+{self.won[seat]}" if self.won[seat] else "0"
        return part(
            "tr",
            seat_class(seat),
            self._name(seat),
            h("td", None, side),
            h("td", None, *_put(placement, self.lost(seat))),
            part("td", f"{_GAME}-won", won),
            self._points(seat),
            part("td", f"{_GAME}-hand", _in_line(self.hand(seat))),
            h("td", None, str(self.state.garnets[seat])) if self.state.table.garnets_matter else None,
        )

    def _name(self, seat: Seat, under: str = "") -> Element:
        named = h("div", None, badge(seat, self.marks[seat]), h("span", None, self.names[seat]))
        return part("th", f"{_GAME}-who", named, h("small", None, under) if under else None, scope="row")

    def _points(self, seat: Seat) -> Element:
        """A bar and the number; the bar is full for the most points."""
        share = self.points[seat] / (max(self.points) or 1)
        drawn = bar(f"{_GAME}-empty", f"{_GAME}-full", share)
        return h("td", None, part("div", f"{_GAME}-points", drawn, h("b", None, str(self.points[seat]))))

    def _final(self) -> Element:
        """The table at the end, the best first."""
        columns = ("place", "seat", "points", "by round", "score", "tokens of life", "garnets")
        rows = h("tbody", None, *map(self._place, ranking(self.points)))
        return part("table", f"{_GAME}-table {_GAME}-final", h("thead", None, _headings(*columns)), rows)

    def _place(self, seat: Seat) -> Element:
        value = cast(Outcome, self.outcome).scores[seat]
        winner, candidate = seat in self.measure("winners"), seat in self.measure("elimination_candidates")
        signs = [sign for sign, holds in (("★ winner", winner), ("▼ elimination candidate", candidate)) if holds]
        place = 1 + sum(other > self.points[seat] for other in self.points)
        exact = h("b", None, score(value)), h("small", None, exact_score(value))
        return part(
            "tr",
            f"{seat_class(seat)}{f' {_GAME}-first' if winner else ''}",
            h("td", None, h("b", None, f"{place}.")),
            self._name(seat, ", ".join(signs)),
            self._points(seat),
            part("td", f"{_GAME}-rounds", _in_line(self.state.points_by_round[seat])),
            part("td", f"{_GAME}-score", *exact),
            h("td", None, str(self.measure("tokens_of_life")[seat])),
            h("td", None, str(self.measure("garnets_final")[seat])),
        )


def _headings(*columns: str) -> Element:
    return h("tr", None, *(h("th", {"scope": "col"}, column) for column in columns))


def _in_line(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers)) or "-"


def _put(placement: Placement | None, lost: int | None) -> Iterator[Child]:
    """What a seat put down this round."""
    if placement is None:
        yield "-" if lost is None else f"lost {lost}"
        return
    yield f"{scale_of(placement.place)} "
    yield h("b", None, str(placement.value))
    if placement.modify:
        sign = "+" if placement.modify > 0 else "−"
        yield h("small", None, f" = {placement.weight}{sign}{abs(placement.modify)}")
