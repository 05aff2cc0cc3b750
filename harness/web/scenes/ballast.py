"""Ballast as pictures: two hands, and scales that tilt by what the weights on them truly are.

Owns its frames and how they look: a placement, a challenge with what it turned up, what a failed one cost, and the end
with the winner of each scale. Every number is the engine's. The spectator sees true weights and lies; the players saw
neither. A weight shows what it is worth, and next to that what was said of it: dashed while it is face down, and marked
where the two differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, cast

from weigh.games.ballast.moves import CHALLENGE, PLACE, Challenged, Discarded, Placed, Verdict, Weight
from weigh.games.ballast.rules import BallastState
from weigh.games.game import Move, Outcome, Seat, State
from weigh.harness.web.assets import asset
from weigh.harness.web.scene import (
    Board,
    Counts,
    Frame,
    Names,
    badge,
    beam,
    full_score,
    listed,
    marks,
    score,
    seat_class,
)
from weigh.harness.web.svg import Element, drawing, h, part

STYLE: Final = asset("scenes/ballast.css")


def words(before: State, seat: Seat, move: Move) -> str:
    """The action in words: see `harness.web.scene.BoardView`."""
    word, number, *where = cast(list[str | int], move)
    if word == PLACE:
        scale, announced = where
        lie = ", a lie" if announced != number else ""
        return f"weight {number} on scale {scale}, said to be {announced}{lie}"
    return f"challenges #{number}" if word == CHALLENGE else f"gives up weight {number}"


def opening(names: Names, state: BallastState) -> Iterator[Frame]:
    """Empty scales."""
    top, scales = state.config.weights, state.config.scales
    yield Scales(names, state).frame(
        "start",
        f"{scales} empty scales",
        f"{names[0]} and {names[1]} each hold the weights 1 to {top}, and one challenge. There are {scales} scales.",
        f"{names[0]} moves first.",
    )


def played(names: Names, before: BallastState, after: BallastState) -> Iterator[Frame]:
    """A frame for each entry of the log."""
    for entry in after.log[len(before.log) :]:
        match entry:
            case Placed(number):
                yield _placed(names, after, number)
            case Challenged(seat, number):
                yield _challenged(names, after, seat, number)
            case Discarded(seat, value):
                yield _given_up(names, after, seat, value)


def _placed(names: Names, state: BallastState, number: int) -> Frame:
    owner, scale, announced, true, _ = weight = state.placed[number]
    truth = f"A lie: it is {true}." if weight.false else "That is the truth."
    put = f"{names[owner]} places #{number} face down on scale {scale} and announces {announced}."
    return Scales(names, state, new=number).frame(
        "move",
        f"turn {state.turns}: {marks(names)[owner]} puts {true} on scale {scale}{', a lie' if weight.false else ''}",
        f"Turn {state.turns}: {put} {truth}",
        _leader(names, state, scale),
        *_again(names, state, owner),
    )


def _challenged(names: Names, state: BallastState, seat: Seat, number: int) -> Frame:
    weight = state.placed[number]
    if weight.false:
        verdict = "false"
        found = f"It is {weight.true}: the claim was false, and the weight is removed from scale {weight.scale}."
    else:
        verdict, stays = "true", f"The weight stays, face up, and {names[seat]} must give one up."
        found = f"It is {weight.true}: the claim was true. {stays}"
    target = f"#{number} of {names[weight.owner]}, announced as {weight.announced}"
    return Scales(names, state, called=number).frame(
        "challenge",
        f"turn {state.turns}: {marks(names)[seat]} challenges #{number}, {verdict}",
        f"Turn {state.turns}: {names[seat]} challenges {target}.",
        found,
        _leader(names, state, weight.scale),
        *(_again(names, state, seat) if weight.false else ()),
        banner=f"CHALLENGE: the claim was {verdict}",
    )


def _given_up(names: Names, state: BallastState, seat: Seat, value: int | None) -> Frame:
    line = f"{names[seat]} gives up weight {value} for the challenge that failed."
    return Scales(names, state).frame(
        "event",
        f"turn {state.turns}: {marks(names)[seat]} gives up {value}",
        f"{line} {names[1 - seat]} does not see which.",
        *_again(names, state, seat),
    )


def _leader(names: Names, state: BallastState, scale: int) -> str:
    verdict = state.verdicts()[scale]
    if verdict.winner is None:
        return f"Scale {scale} is empty."
    return f"Scale {scale} by true weights: {names[verdict.winner]} is ahead ({why(verdict)})."


def _again(names: Names, state: BallastState, seat: Seat) -> tuple[str, ...]:
    """A line where `seat` moved and moves again, for the other hand is empty."""
    return (f"{names[1 - seat]} has an empty hand: {names[seat]} moves again.",) if state.mover == seat else ()


def ended(names: Names, state: BallastState, outcome: Outcome) -> Frame:
    """The winner of each scale."""
    verdicts, lead = tuple(state.verdicts()), outcome.scores[0]
    won = [[verdict.winner for verdict in verdicts].count(seat) for seat in (0, 1)]
    lines = [
        f"Scale {scale}: {'nobody' if each.winner is None else f'{names[each.winner]} wins'} ({why(each)})."
        for scale, each in enumerate(verdicts)
    ]
    result = "A draw" if lead == 0 else f"{names[0 if lead > 0 else 1]} wins"
    stopped = "The clock stopped the game; the scales are judged as they stand."
    return Scales(names, state, scores=outcome.scores).frame(
        "end",
        f"end: {outcome.ending}",
        stopped if state.stopped else "Both hands are empty.",
        *lines,
        f"{result}: {names[0]} won {won[0]} {'scale' if won[0] == 1 else 'scales'}, {names[1]} {won[1]}.",
        f"Scores: {listed(names, map(full_score, outcome.scores))}.",
    )


def why(verdict: Verdict) -> str:
    """What decides a scale: `larger total, 7 to 4`."""
    if verdict.winner is None:
        return "empty"
    mine, theirs = verdict.winner, 1 - verdict.winner
    (total, other), counts = verdict.totals, verdict.counts
    if total != other:
        return f"larger total, {verdict.totals[mine]} to {verdict.totals[theirs]}"
    if counts[0] != counts[1]:
        return f"equal totals of {total}, fewer weights, {counts[mine]} to {counts[theirs]}"
    return f"equal totals of {total}, as many weights, first on the scale"


_WIDE: Final = 192
_CENTRES: Final = (48, 144)
_CHIP: Final = 80
_HIGH: Final = 32
"""The width of a balance, the middles of its pans, and width and height of a weight on one."""
_SWING: Final = 14
"""How far a pan goes down at most."""
_SLOT: Final = 30
"""From one weight of a hand to the next."""


@dataclass(frozen=True)
class Scales(Board):
    """One position, and what is pointed at in it."""

    game = "ballast"
    names: Names
    state: BallastState
    new: int | None = None
    """The number of the weight that just came down."""
    called: int | None = None
    """The number of the weight that was just challenged. It is drawn where it lay even if it was removed."""
    scores: tuple[Fraction, ...] | None = None
    """At the end only."""

    def counts(self) -> Counts:
        winners = [verdict.winner for verdict in self.state.verdicts()]
        down = [[weight for weight in self.state.placed if weight.owner == seat] for seat in (0, 1)]
        return (
            ("scales won" if self.scores else "scales ahead", tuple(str(winners.count(seat)) for seat in (0, 1))),
            ("weights in hand", tuple(str(len(hand)) for hand in self.state.hands)),
            ("lies told", tuple(f"{sum(each.false for each in placed)} of {len(placed)}" for placed in down)),
            ("challenge", tuple("used" if used else "left" for used in self.state.challenged)),
        )

    def draw(self) -> Element:
        verdicts = list(self.state.verdicts())
        pans = [[self._on(scale, seat) for seat in (0, 1)] for scale in range(len(verdicts))]
        rooms = max([2, *(len(pan) for both in pans for pan in both)])
        scales = (self._scale(scale, verdicts[scale], pans[scale], rooms) for scale in range(len(verdicts)))
        sides = part("div", "ballast-sides", self._side(0), self._side(1))
        return self.figure(self._label(verdicts), sides, part("div", "ballast-scales", *scales))

    def _label(self, verdicts: Sequence[Verdict]) -> str:
        totals = (f"Scale {scale}: {listed(self.names, verdict.totals)}" for scale, verdict in enumerate(verdicts))
        scales = ". ".join(totals)
        if self.scores is not None:
            return f"The end, by true weights. {scales}. Scores: {listed(self.names, map(score, self.scores))}."
        hands = (" ".join(map(str, hand)) or "nothing" for hand in self.state.hands)
        return f"True weights. {scales}. In hand: {listed(self.names, hands)}."

    def _on(self, scale: int, seat: Seat) -> list[int]:
        """The numbers of what is drawn on one pan, from the bottom."""
        return [
            number
            for number, each in enumerate(self.state.placed)
            if (each.scale, each.owner) == (scale, seat) and (each.status != "removed" or number == self.called)
        ]

    def _side(self, seat: Seat) -> Element:
        moving = self.state.mover == seat and self.scores is None
        if self.scores is not None:
            state = full_score(self.scores[seat])
        elif moving:
            state = "gives up a weight" if self.state.discarding else "to move"
        else:
            state = "waits" if self.state.hands[seat] else "hand is empty"
        kind, left = ("used", "used") if self.state.challenged[seat] else ("ready", "left")
        challenge = part("span", f"ballast-{kind}", f"challenge {left}")
        return part(
            "div",
            f"ballast-side {seat_class(seat)}{' ballast-moving' if moving else ''}",
            self.who(seat),
            self._hand(seat),
            part("div", "ballast-state", h("b", None, state), challenge),
        )

    def _hand(self, seat: Seat) -> Element:
        """Every weight the side began with: full ones held, empty ones on a scale, struck ones out of the game."""
        placed, log, held = self.state.placed, self.state.log, self.state.hands[seat]
        lost = {weight.true for weight in placed if weight.owner == seat and weight.status == "removed"}
        lost |= {entry.value for entry in log if isinstance(entry, Discarded) and entry.seat == seat and entry.value}
        drawn = (
            _held(value, "held" if value in held else "lost" if value in lost else "gone")
            for value in range(1, self.state.config.weights + 1)
        )
        return drawing("ballast-hand", self.state.config.weights * _SLOT, 30, *drawn)

    def _scale(self, scale: int, verdict: Verdict, pans: Sequence[Sequence[int]], rooms: int) -> Element:
        kind, leader, standing = "ballast-scale", None, "nobody"
        if verdict.winner is not None:
            leader, standing = badge(verdict.winner, self.marks[verdict.winner]), "wins" if self.scores else "ahead"
            kind += f" {seat_class(verdict.winner)}{' ballast-won' if self.scores else ''}"
        placed = enumerate(self.state.placed)
        gone = (
            f"#{number} removed: {self.marks[each.owner]}'s {each.true}, said {each.announced}"
            for number, each in placed
            if each.scale == scale and each.status == "removed"
        )
        return part(
            "div",
            kind,
            part("div", "ballast-head", h("b", None, f"Scale {scale}"), h("span", None, leader, standing)),
            self._balance(verdict, pans, rooms),
            part("small", "ballast-why", why(verdict)),
            *(part("small", "ballast-out", line) for line in gone),
        )

    def _balance(self, verdict: Verdict, pans: Sequence[Sequence[int]], rooms: int) -> Element:
        lead = verdict.totals[0] - verdict.totals[1]
        # The same lead tilts as far on every scale, and a larger one always further.
        drop = _SWING * lead / (abs(lead) + self.state.config.weights / 2)
        floor = rooms * _HIGH + _SWING + 4
        totals = (
            part(
                "text",
                f"ballast-total {seat_class(seat)}",
                f"{self.marks[seat]} {verdict.totals[seat]}",
                x=_CENTRES[seat] + (-11, 11)[seat],
                y=floor + 54,
            )
            for seat in (0, 1)
        )
        level = beam("ballast", _CENTRES, floor + 16, drop, "l-15 38h30z", 5)
        both = (self._pan(0, pans[0], floor + drop), self._pan(1, pans[1], floor - drop))
        return drawing("ballast-balance", _WIDE, floor + 62, *level, *both, *totals)

    def _pan(self, seat: Seat, numbers: Sequence[int], floor: float) -> Element:
        """One pan with its weights; drawn from the middle of its upper edge, so that it is the same at every height."""
        pan = part("path", "ballast-pan", d="M-45 0h90l-8 6h-74zM0 6v10")
        chips = (self._chip(number, place) for place, number in enumerate(numbers))
        return part("g", seat_class(seat), pan, *chips, transform=f"translate({_CENTRES[seat]} {round(floor, 2):g})")

    def _chip(self, number: int, place: int) -> Element:
        weight = self.state.placed[number]
        kinds = ["ballast-weight", f"ballast-{weight.status}"]
        signs = {"lie": weight.false, "new": number == self.new, "called": number == self.called}
        kinds += [f"ballast-{sign}" for sign, shown in signs.items() if shown]
        return part("g", " ".join(kinds), *_face(weight, number, -_CHIP // 2, -(place + 1) * _HIGH + 1))


@lru_cache(maxsize=4_096)
def _held(value: int, state: str) -> Element:
    left = (value - 1) * _SLOT
    return part(
        "g",
        f"ballast-{state}",
        part("rect", None, x=left + 2, y=2, width=_SLOT - 4, height=26, rx=6),
        part("text", None, str(value), x=left + _SLOT / 2, y=20),
        part("path", None, d=f"M{left + 6} 24l18-18") if state == "lost" else None,
    )


def _face(weight: Weight, number: int, left: int, top: int) -> Iterator[Element]:
    tall = _HIGH - 3
    yield part("rect", "ballast-body", x=left, y=top, width=_CHIP, height=tall, rx=6)
    yield part("path", "ballast-worth", d=f"M{left + 28} {top}v{tall}h-22q-6 0-6-6v-{tall - 12}q0-6 6-6z")
    yield part("text", "ballast-true", str(weight.true), x=left + 14, y=top + 21)
    yield part("text", "ballast-number", f"#{number}", x=left + 33, y=top + 11.5)
    claim = "face up" if weight.status == "up" else f"says {weight.announced}"
    yield part("text", "ballast-said", claim, x=left + 33, y=top + 24.5)
    if weight.false:
        # A sign besides the colour: what it is differs from what was said.
        yield part("text", "ballast-sign", "≠", x=left + 70, y=top + 13)
    if weight.status == "removed":
        yield part("path", "ballast-strike", d=f"M{left + 4} {top + tall - 4}l20-21")
