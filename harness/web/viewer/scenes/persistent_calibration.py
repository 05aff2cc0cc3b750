"""Persistent Calibration as pictures: three balances with everybody's weights, and a table of the seats.

Owns its beats: the weights of a round go down together, then the lighter sides score, and the end shows the standing.
Every number is the engine's. Players know the totals and each other's side, left or right; the spectator sees all. The
drawings are in `persistent_calibration_balances` and `persistent_calibration_table` beside this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final, cast

from weigh.games.game import Move, Outcome, Seat, State
from weigh.games.persistent_calibration.moves import (
    EMPTY,
    HEAVIEST,
    LIGHTEST,
    PLACES,
    Placement,
    flips,
    lighter_places,
    scale_of,
    side_of,
)
from weigh.games.persistent_calibration.rules import DEALS, ROUNDS, PersistentCalibrationState
from weigh.harness.web.viewer.amounts import exact_score, score
from weigh.harness.web.viewer.assets import asset
from weigh.harness.web.viewer.nodes import Element, h
from weigh.harness.web.viewer.scene import Beat, Moment
from weigh.harness.web.viewer.scenes import persistent_calibration_balances, persistent_calibration_table
from weigh.harness.web.viewer.scenes.persistent_calibration_balances import Balances, told
from weigh.harness.web.viewer.scenes.persistent_calibration_table import Place, Row
from weigh.harness.web.viewer.seat_marks import marks

STYLE: Final = asset("persistent_calibration.css")

_WEIGHTS: Final = ", ".join(map(str, range(LIGHTEST, HEAVIEST + 1)))


def beats(moment: Moment) -> Sequence[Beat]:
    """The beats of one moment: see `harness.web.viewer.scene.Scene`."""
    return tuple(_beats(moment))


def said(before: State, seat: Seat, move: Move) -> str:
    """Where the weight goes: see `harness.web.viewer.scene.Scene`."""
    if move is None:
        return "no move"
    placed = cast(Mapping[str, str | int], move)
    spent = int(placed["modify"])
    garnets = f" with {abs(spent)} {'garnet' if abs(spent) == 1 else 'garnets'}: {int(placed['weight']) + spent}"
    return f"{placed['scale']} {placed['side']}, weight {placed['weight']}{garnets if spent else ''}"


def _beats(moment: Moment) -> Iterator[Beat]:
    names, after = moment.names, cast(PersistentCalibrationState, moment.after)
    if moment.before is None:
        yield _opening(names, after)
    if moment.moves:
        before = cast(PersistentCalibrationState, moment.before)
        yield _put_down(names, before, after)
        yield _scored(names, after)
    if after.outcome is not None:
        yield _ended(names, after, after.outcome)


# -- the beats ---------------------------------------------------------------------------------------------------------


def _opening(names: Sequence[str], state: PersistentCalibrationState) -> Beat:
    garnets: tuple[str, ...] = ()
    if state.table.garnets_matter:
        held = ", ".join(f"{name} {number}" for name, number in zip(names, state.garnets, strict=True))
        garnets = (f"Garnets, each held in secret: {held}.",)
    rows = _rows(names, state, points=(0,) * len(names))
    return Beat(
        "start",
        "three empty scales",
        _picture(names, state, rows),
        (
            f"{len(names)} players put weights on the scales A, B and C for {ROUNDS} rounds. Each holds {_WEIGHTS}.",
            *garnets,
        ),
        _counts(state, rows, None),
    )


def _put_down(names: Sequence[str], before: PersistentCalibrationState, after: PersistentCalibrationState) -> Beat:
    number, placed = len(after.rounds), after.rounds[-1]
    tipped = list(flips(after.totals))[-1]
    points = tuple(sum(own[:-1]) for own in after.points_by_round)
    rows = _rows(names, after, points=points, before=before)
    lines = [f"Round {number} of {ROUNDS}: all weights are put down at once."]
    for place in PLACES:
        here = [(name, each) for name, each in zip(names, placed, strict=True) if each and each.place == place]
        if here:
            said = ", ".join(f"{name} {_value(each)}" for name, each in here)
            lines.append(f"{scale_of(place)} {side_of(place)}: {said}.")
    absent = [
        f"{name} (weight {_lost(before, after, seat)})" for seat, name in enumerate(names) if placed[seat] is None
    ]
    if absent:
        lines.append(f"No move, so the lowest weight is lost: {', '.join(absent)}.")
    lines.append(f"Totals, known to all: {told(_balances(names, after))}.")
    lighter = {scale_of(place): side_of(place) for place in lighter_places(after.totals[-1])}
    lines += [f"Scale {scale} tips: now its {lighter[scale]} side is the lighter one." for scale in tipped]
    return Beat(
        "reveal",
        f"round {number}: weights",
        _picture(names, after, rows, fresh=True, tipped=tipped),
        tuple(lines),
        _counts(after, rows, None),
        f"{'SCALE' if len(tipped) == 1 else 'SCALES'} {' AND '.join(tipped)} {'TIPS' if len(tipped) == 1 else 'TIP'}"
        if tipped
        else None,
    )


def _value(placement: Placement) -> str:
    """`3`, or `3 (weight 2, 1 garnet)`."""
    if not placement.modify:
        return str(placement.value)
    spent = abs(placement.modify)
    return f"{placement.value} (weight {placement.weight}, {spent} {'garnet' if spent == 1 else 'garnets'})"


def _lost(before: PersistentCalibrationState, after: PersistentCalibrationState, seat: Seat) -> int:
    """The weight that a seat no longer has; before new ones are dealt there is but one left to lose."""
    held = before.hands[seat]
    return next((weight for weight in held if weight not in after.hands[seat]), held[0])


def _scored(names: Sequence[str], state: PersistentCalibrationState) -> Beat:
    number, by_round = len(state.rounds), state.points_by_round
    won = tuple(own[-1] for own in by_round)
    points = tuple(map(sum, by_round))
    lighter = lighter_places(state.totals[-1])
    sides = ", ".join(f"{scale_of(place)} {side_of(place)}" for place in lighter)
    ranked = sorted(range(len(names)), key=lambda seat: (-won[seat], seat))
    scorers = ", ".join(f"{names[seat]} {won[seat]}" for seat in ranked if won[seat])
    others = ", ".join(names[seat] for seat in ranked if not won[seat])
    lines = [
        f"Round {number}: the lighter sides score: {sides}." if lighter else f"Round {number}: no side is lighter.",
        f"Points: {scorers}." if scorers else "Nobody scores.",
    ]
    if scorers and others:
        lines.append(f"Nothing for {others}.")
    if number in DEALS and state.to_act:
        lines.append(f"Everybody gets the weights {_WEIGHTS} anew.")
    rows = _rows(names, state, points=points, won=won)
    return Beat(
        "event",
        f"round {number}: points",
        _picture(names, state, rows, scoring=True),
        tuple(lines),
        _counts(state, rows, won),
    )


def _ended(names: Sequence[str], state: PersistentCalibrationState, outcome: Outcome) -> Beat:
    places = _places(names, state, outcome)
    played = len(state.rounds)
    why = (
        f"All {ROUNDS} rounds are played." if played == ROUNDS else f"The clock stopped the game after {played} rounds."
    )
    winners = [place.name for place in places if place.winner]
    last = [place.name for place in places if place.candidate]
    tokens = places[0].tokens
    standing = "; ".join(
        f"{place.name} {place.points} points, score {score(place.score)} ({exact_score(place.score)})"
        for place in places
    )
    shown = _balances(names, state)
    results = ", ".join(f"{place.name} {score(place.score)}" for place in places)
    return Beat(
        "end",
        f"end: {outcome.ending}",
        h(
            "div",
            {"class": "persistent_calibration"},
            persistent_calibration_table.draw_places(places),
            persistent_calibration_balances.draw(shown, f"The end. Scores: {results}. Scales: {told(shown)}."),
        ),
        (
            why,
            f"Most points: {', '.join(winners)} ({tokens} {'Token' if tokens == 1 else 'Tokens'} of Life each).",
            f"Fewest points, the elimination candidates: {', '.join(last)}.",
            f"Final standing: {standing}.",
        ),
        _counts(state, _rows(names, state, points=tuple(map(sum, state.points_by_round))), None),
    )


# -- what is drawn -----------------------------------------------------------------------------------------------------


def _balances(
    names: Sequence[str],
    state: PersistentCalibrationState,
    *,
    fresh: bool = False,
    scoring: bool = False,
    tipped: Sequence[str] = (),
) -> Balances:
    own = [[0] * len(names) for _ in PLACES]
    for placed in state.rounds:
        for seat, placement in enumerate(placed):
            if placement is not None:
                own[placement.place][seat] += placement.value
    totals = state.totals[-1] if state.totals else EMPTY
    return Balances(
        marks=marks(names),
        totals=totals,
        lighter=lighter_places(totals),
        own=tuple(map(tuple, own)),
        fresh=tuple(placement.place if placement else None for placement in state.rounds[-1]) if fresh else (),
        scoring=scoring,
        tipped=tuple(tipped),
    )


def _picture(
    names: Sequence[str],
    state: PersistentCalibrationState,
    rows: Sequence[Row],
    *,
    fresh: bool = False,
    scoring: bool = False,
    tipped: Sequence[str] = (),
) -> Element:
    shown = _balances(names, state, fresh=fresh, scoring=scoring, tipped=tipped)
    points = ", ".join(f"{row.name} {row.points}" for row in rows)
    return h(
        "div",
        {"class": "persistent_calibration"},
        # A table within an image would be lost: of an image a reader is told the label alone.
        persistent_calibration_balances.draw(
            shown, f"Round {len(state.rounds)} of {ROUNDS}. Scales: {told(shown)}. Points: {points}."
        ),
        persistent_calibration_table.draw_rows(rows, max([row.points for row in rows])),
    )


def _rows(
    names: Sequence[str],
    state: PersistentCalibrationState,
    *,
    points: Sequence[int],
    won: Sequence[int] | None = None,
    before: PersistentCalibrationState | None = None,
) -> list[Row]:
    """A row a seat. `before`: the picture is about this round's weights, and new ones have not been dealt yet."""
    return [_row(names, state, seat, points[seat], won[seat] if won else None, before) for seat in range(len(names))]


def _row(
    names: Sequence[str],
    state: PersistentCalibrationState,
    seat: Seat,
    points: int,
    won: int | None,
    before: PersistentCalibrationState | None,
) -> Row:
    placement = state.rounds[-1][seat] if state.rounds else None
    hand, lost = state.hands[seat], None
    if before is not None:
        lost = _lost(before, state, seat) if placement is None else None
        hand = tuple(weight for weight in before.hands[seat] if weight != (placement.weight if placement else lost))
    return Row(
        name=names[seat],
        mark=marks(names)[seat],
        moved=bool(state.rounds),
        placement=placement,
        lost=lost,
        won=won,
        points=points,
        hand=hand,
        garnets=state.garnets[seat] if state.table.garnets_matter else None,
    )


def _places(names: Sequence[str], state: PersistentCalibrationState, outcome: Outcome) -> list[Place]:
    by_round = state.points_by_round
    points = list(map(sum, by_round))
    own, measures = marks(names), cast(Mapping[str, Sequence[int]], outcome.measures)
    return [
        Place(
            seat=seat,
            name=names[seat],
            mark=own[seat],
            place=1 + sum(other > points[seat] for other in points),
            points=points[seat],
            by_round=tuple(by_round[seat]),
            score=Fraction(outcome.scores[seat]),
            tokens=measures["tokens_of_life"][seat],
            garnets=measures["garnets_final"][seat],
            winner=seat in measures["winners"],
            candidate=seat in measures["elimination_candidates"],
        )
        for seat in sorted(range(len(names)), key=lambda seat: (-points[seat], seat))
    ]


def _counts(
    state: PersistentCalibrationState, rows: Sequence[Row], won: Sequence[int] | None
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    counts = [
        ("points", tuple(str(row.points) for row in rows)),
        ("this round", tuple(map(str, won)) if won else ("-",) * len(rows)),
        ("hand", tuple(" ".join(map(str, row.hand)) or "-" for row in rows)),
    ]
    if state.table.garnets_matter:
        counts.append(("garnets", tuple(map(str, state.garnets))))
    return tuple(counts)
