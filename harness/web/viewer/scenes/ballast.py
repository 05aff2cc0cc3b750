"""Ballast as pictures: two hands, and scales that tilt by what the weights on them truly are.

Owns its beats: a placement, a challenge with what it turned up, what a failed one cost, and the end with the winner of
each scale. Every number is the engine's. The spectator sees true weights and lies; the players saw neither. The drawing
is in `harness.web.viewer.scenes.ballast_scales`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, cast

from weigh.games.ballast.moves import CHALLENGE, PLACE, Challenged, Discarded, Placed
from weigh.games.ballast.rules import BallastState
from weigh.games.game import Move, Outcome, Seat, State
from weigh.harness.web.viewer.amounts import exact_score, score
from weigh.harness.web.viewer.assets import asset
from weigh.harness.web.viewer.scene import Beat, BeatKind, Moment
from weigh.harness.web.viewer.scenes import ballast_scales
from weigh.harness.web.viewer.scenes.ballast_scales import Scales, why
from weigh.harness.web.viewer.seat_marks import marks

STYLE: Final = asset("ballast.css")


def beats(moment: Moment) -> Sequence[Beat]:
    """The beats of one moment: see `harness.web.viewer.scene.Scene`."""
    return tuple(_beats(moment))


def said(before: State, seat: Seat, move: Move) -> str:
    """The action in words: see `harness.web.viewer.scene.Scene`."""
    word, number, *where = cast(list[str | int], move)
    if word == PLACE:
        scale, announced = where
        lie = ", a lie" if announced != number else ""
        return f"weight {number} on scale {scale}, said to be {announced}{lie}"
    return f"challenges #{number}" if word == CHALLENGE else f"gives up weight {number}"


def _beats(moment: Moment) -> Iterator[Beat]:
    names, after = moment.names, cast(BallastState, moment.after)
    if moment.before is None:
        yield _opening(names, after)
    else:
        before = cast(BallastState, moment.before)
        for entry in after.log[len(before.log) :]:
            match entry:
                case Placed(number):
                    yield _placed(names, after, number)
                case Challenged(seat, number):
                    yield _challenged(names, after, seat, number)
                case Discarded(seat, value):
                    yield _given_up(names, after, seat, value)
    if after.outcome is not None:
        yield _ended(names, after, after.outcome)


def _opening(names: Sequence[str], state: BallastState) -> Beat:
    top, scales = state.config.weights, state.config.scales
    return _beat(
        "start",
        f"{scales} empty scales",
        names,
        state,
        f"{names[0]} and {names[1]} each hold the weights 1 to {top}, and one challenge. There are {scales} scales.",
        f"{names[0]} moves first.",
    )


def _placed(names: Sequence[str], state: BallastState, number: int) -> Beat:
    owner, scale, announced, true, _ = weight = state.placed[number]
    truth = f"A lie: it is {true}." if weight.false else "That is the truth."
    put = f"{names[owner]} places #{number} face down on scale {scale} and announces {announced}."
    return _beat(
        "move",
        f"turn {state.turns}: {marks(names)[owner]} puts {true} on scale {scale}{', a lie' if weight.false else ''}",
        names,
        state,
        f"Turn {state.turns}: {put} {truth}",
        _standing(names, state, scale),
        *_skipped(names, state, owner),
        new=number,
    )


def _challenged(names: Sequence[str], state: BallastState, seat: Seat, number: int) -> Beat:
    weight = state.placed[number]
    target = f"#{number} of {names[weight.owner]}, announced as {weight.announced}"
    call = f"Turn {state.turns}: {names[seat]} challenges {target}."
    if weight.false:
        verdict = "false"
        found = f"It is {weight.true}: the claim was false, and the weight is removed from scale {weight.scale}."
    else:
        verdict = "true"
        found = (
            f"It is {weight.true}: the claim was true. The weight stays, face up, and {names[seat]} must give one up."
        )
    return _beat(
        "challenge",
        f"turn {state.turns}: {marks(names)[seat]} challenges #{number}, {verdict}",
        names,
        state,
        call,
        found,
        _standing(names, state, weight.scale),
        *(_skipped(names, state, seat) if weight.false else ()),
        called=number,
        banner=f"CHALLENGE: the claim was {verdict}",
    )


def _given_up(names: Sequence[str], state: BallastState, seat: Seat, value: int | None) -> Beat:
    return _beat(
        "event",
        f"turn {state.turns}: {marks(names)[seat]} gives up {value}",
        names,
        state,
        f"{names[seat]} gives up weight {value} for the challenge that failed. {names[1 - seat]} does not see which.",
        *_skipped(names, state, seat),
    )


def _standing(names: Sequence[str], state: BallastState, scale: int) -> str:
    verdict = state.verdicts()[scale]
    if verdict.winner is None:
        return f"Scale {scale} is empty."
    return f"Scale {scale} by true weights: {names[verdict.winner]} is ahead ({why(verdict)})."


def _skipped(names: Sequence[str], state: BallastState, seat: Seat) -> tuple[str, ...]:
    """A line where `seat` moved and moves again, for the other hand is empty."""
    return (f"{names[1 - seat]} has an empty hand: {names[seat]} moves again.",) if state.mover == seat else ()


def _ended(names: Sequence[str], state: BallastState, outcome: Outcome) -> Beat:
    verdicts = state.verdicts()
    won = [[verdict.winner for verdict in verdicts].count(seat) for seat in (0, 1)]
    lines = [
        f"Scale {scale}: nobody ({why(verdict)})."
        if verdict.winner is None
        else f"Scale {scale}: {names[verdict.winner]} wins ({why(verdict)})."
        for scale, verdict in enumerate(verdicts)
    ]
    lead = outcome.scores[0]
    verdict = "A draw" if lead == 0 else f"{names[0 if lead > 0 else 1]} wins"
    scores = ", ".join(
        f"{name} {score(value)} ({exact_score(value)})" for name, value in zip(names, outcome.scores, strict=True)
    )
    ended = (
        "The clock stopped the game; the scales are judged as they stand." if state.stopped else "Both hands are empty."
    )
    return _beat(
        "end",
        f"end: {outcome.ending}",
        names,
        state,
        ended,
        *lines,
        f"{verdict}: {names[0]} won {_scales(won[0])}, {names[1]} {won[1]}.",
        f"Scores: {scores}.",
        outcome=outcome,
    )


def _scales(number: int) -> str:
    return "1 scale" if number == 1 else f"{number} scales"


def _beat(
    kind: BeatKind,
    label: str,
    names: Sequence[str],
    state: BallastState,
    *feed: str,
    new: int | None = None,
    called: int | None = None,
    outcome: Outcome | None = None,
    banner: str | None = None,
) -> Beat:
    shown = scales_of(names, state, new=new, called=called, outcome=outcome)
    winners = [verdict.winner for verdict in shown.verdicts]
    down = [[weight for weight in state.placed if weight.owner == seat] for seat in (0, 1)]
    counts = (
        ("scales won" if outcome else "scales ahead", tuple(str(winners.count(seat)) for seat in (0, 1))),
        ("weights in hand", tuple(str(len(hand)) for hand in state.hands)),
        ("lies told", tuple(f"{sum(each.false for each in placed)} of {len(placed)}" for placed in down)),
        ("challenge", tuple("used" if used else "left" for used in state.challenged)),
    )
    return Beat(kind, label, ballast_scales.draw(shown), feed, counts, banner)


def scales_of(
    names: Sequence[str],
    state: BallastState,
    *,
    new: int | None = None,
    called: int | None = None,
    outcome: Outcome | None = None,
) -> Scales:
    """What is drawn of a position. `new` and `called` are numbers of weights to point at."""
    given: tuple[list[int], list[int]] = ([], [])
    for entry in state.log:
        if isinstance(entry, Discarded) and entry.value is not None:
            given[entry.seat].append(entry.value)
    return Scales(
        names=(names[0], names[1]),
        weights=state.config.weights,
        hands=state.hands,
        given_up=(tuple(given[0]), tuple(given[1])),
        placed=state.placed,
        verdicts=tuple(state.verdicts()),
        challenged=state.challenged,
        mover=state.mover,
        discarding=state.discarding,
        new=new,
        called=called,
        scores=outcome.scores if outcome else None,
    )
