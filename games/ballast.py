"""Ballast: weights placed face down under claims that may be false, and one challenge each.

Owns the rules: config, turns, challenges and what they cost, events, the end and its score. How moves are written is in
`games.ballast_moves`, who wins a scale in `games.ballast_board`, what a seat is shown in `games.ballast_view`.

A challenge that fails is followed by a decision of the same seat, which weight to give up. So a turn is one or two
steps, and always one seat acts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from games.ballast_board import Challenged, Discarded, Entry, Placed, Verdict, Weight, judge, listed
from games.ballast_moves import Action, Actions, Challenge, Discard, Place
from games.ballast_view import Seen, View, observe
from games.game import (
    Deal,
    DealInvalid,
    Event,
    Json,
    Move,
    MoveRefused,
    MoveUnreadable,
    Observation,
    Outcome,
    Reason,
    Seat,
)
from games.quoting import quote
from games.rulebook import rulebook_text

Ending: TypeAlias = Literal["hands-empty", "wall-clock"]

_ALONE: tuple[frozenset[Seat], frozenset[Seat]] = (frozenset((0,)), frozenset((1,)))
_NOBODY: frozenset[Seat] = frozenset()


class BallastConfig(BaseModel):
    """What may vary between games. The author's game has the defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    weights: int = Field(default=5, ge=2, le=7)
    """Each player holds the weights 1..weights, one of each; a claim is one of these values."""
    scales: int = Field(default=3, ge=2, le=5)


@dataclass(frozen=True, slots=True)
class BallastState:
    """One position. Implements `games.game.State`."""

    config: BallastConfig
    mover: Seat | None
    """Whose decision it is; None when the game is over."""
    hands: tuple[tuple[int, ...], tuple[int, ...]]
    """The weights each seat still holds, ascending."""
    placed: tuple[Weight, ...] = ()
    """Every weight ever placed; a weight's number is its index."""
    challenged: tuple[bool, bool] = (False, False)
    """Who has used the one challenge."""
    discarding: bool = False
    """Whether `mover` has still to pay for a challenge that failed."""
    log: tuple[Entry, ...] = ()
    decisions: int = 0
    """Moves made; a weight that went by itself was none."""
    stopped: bool = False

    @property
    def to_act(self) -> frozenset[Seat]:
        return _NOBODY if self.mover is None else _ALONE[self.mover]

    def legal(self, seat: Seat) -> Actions:
        """What `seat` may do. It tells no more than the seat may know."""
        if seat != self.mover:
            raise ValueError(f"seat {seat} has no move to make")
        config = self.config
        targets: tuple[int, ...] = ()
        if not self.challenged[seat]:
            targets = tuple(
                [n for n, weight in enumerate(self.placed) if weight.owner != seat and weight.status == "down"]
            )
        return Actions(self.hands[seat], config.scales, config.weights, targets, self.challenged[seat], self.discarding)

    def read(self, seat: Seat, value: Json) -> list[Json]:
        return self.legal(seat).read(value)

    def play(self, moves: Mapping[Seat, Move]) -> BallastState:
        if self.mover is None:
            raise ValueError("the episode is over")
        if moves.keys() != self.to_act:
            raise ValueError(f"the step takes a move from seat {self.mover}, and from no other")
        action = self.legal(self.mover).find(moves[self.mover])
        if action is None:
            raise self._refusal(self.mover, moves[self.mover])
        return self._after(self.mover, action)

    def _refusal(self, seat: Seat, move: Move) -> ValueError:
        try:
            canonical = self.read(seat, move)
        except MoveRefused as refused:
            return type(refused)(f"seat {seat}: {refused}")
        return MoveUnreadable(f"seat {seat}: {quote(move)} is not canonical; `read` makes it {quote(canonical)}")

    def _after(self, seat: Seat, action: Action) -> BallastState:
        match action:
            case Place(weight, scale, announced):
                placed = (*self.placed, Weight(seat, scale, announced, weight))
                after = replace(self, hands=self._without(seat, weight), placed=placed)
                return after._turn_over(seat, Placed(len(self.placed)))
            case Challenge(number):
                return self._challenge(seat, number)
            case Discard(weight):
                after = replace(self, hands=self._without(seat, weight), discarding=False)
                return after._turn_over(seat, Discarded(seat, weight))

    def _challenge(self, seat: Seat, number: int) -> BallastState:
        target, hand, entry = self.placed[number], self.hands[seat], Challenged(seat, number)
        turned = target._replace(status="removed" if target.false else "up")
        challenged = (True, self.challenged[1]) if seat == 0 else (self.challenged[0], True)
        after = replace(self, placed=(*self.placed[:number], turned, *self.placed[number + 1 :]), challenged=challenged)
        if target.false:
            return after._turn_over(seat, entry)
        if len(hand) > 1:
            return replace(after, discarding=True, log=(*self.log, entry), decisions=self.decisions + 1)
        # There is nothing to choose: the last weight goes by itself.
        return replace(after, hands=self._without(seat, hand[0]))._turn_over(seat, entry, Discarded(seat, hand[0]))

    def _without(self, seat: Seat, weight: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        kept = tuple([held for held in self.hands[seat] if held != weight])
        return (kept, self.hands[1]) if seat == 0 else (self.hands[0], kept)

    def _turn_over(self, seat: Seat, *entries: Entry) -> BallastState:
        """The other seat moves if it holds a weight; else this one if it does; else the game is over."""
        mover = next((each for each in (1 - seat, seat) if self.hands[each]), None)
        return replace(self, mover=mover, log=(*self.log, *entries), decisions=self.decisions + 1)

    def stop(self) -> BallastState:
        if self.mover is None:
            raise ValueError("the episode is over")
        return replace(self, mover=None, stopped=True)

    @property
    def turns(self) -> int:
        """Turns begun: every placement and every challenge is one."""
        return sum(not isinstance(entry, Discarded) for entry in self.log)

    @property
    def events(self) -> tuple[Event, ...]:
        """`start`, then `place`, `challenge` and `discard` as they came; `end` once the game is over.

        While it is on, a discard tells only whose it was; its value is filled in when the game is over.
        """
        return tuple(self._events())

    def _events(self) -> Iterator[Event]:
        over = self.mover is None
        yield Event("start", {"weights": self.config.weights, "scales": self.config.scales, "first": 0})
        for entry in self.log:
            match entry:
                case Placed(number):
                    owner, scale, announced = self.placed[number][:3]
                    yield Event("place", {"number": number, "owner": owner, "scale": scale, "announced": announced})
                case Challenged(seat, number):
                    weight = self.placed[number]
                    outcome = "removed" if weight.false else "stands"
                    yield Event("challenge", {"seat": seat, "number": number, "true": weight.true, "outcome": outcome})
                case Discarded(seat, value):
                    yield Event("discard", {"owner": seat, "value": value} if over else {"owner": seat})
        if over:
            won = [verdict.winner for verdict in self.verdicts()]
            yield Event(
                "end",
                {
                    "ending": self.ending,
                    "scales_won": [won.count(0), won.count(1)],
                    "true_values": [weight.true for weight in self.placed],
                },
            )

    @property
    def ending(self) -> Ending:
        """How the game ended; meaningless while it is on."""
        return "wall-clock" if self.stopped else "hands-empty"

    def verdicts(self) -> list[Verdict]:
        """How each scale stands now."""
        return [judge(self.placed, scale) for scale in range(self.config.scales)]

    @property
    def outcome(self) -> Outcome | None:
        return settle(self) if self.mover is None else None

    def observe(self, seat: Seat, names: Sequence[str]) -> Observation:
        return observe(_seen_by(seat, self), seat, names, self.legal(seat))


def _seen_by(seat: Seat, state: BallastState) -> View:
    """What `seat` may know: everything but what the other seat holds, hides and gave up."""
    placed = [
        Seen(
            number,
            weight.owner == seat,
            weight.scale,
            weight.announced,
            weight.status,
            weight.true if weight.owner == seat or weight.status != "down" else None,
        )
        for number, weight in enumerate(state.placed)
    ]
    log = [
        Discarded(entry.seat, None) if isinstance(entry, Discarded) and entry.seat != seat else entry
        for entry in state.log
    ]
    return View(
        weights=state.config.weights,
        scales=state.config.scales,
        turn=state.turns + (not state.discarding),
        discarding=state.discarding,
        hand=state.hands[seat],
        rival_holds=len(state.hands[1 - seat]),
        challenged=state.challenged[seat],
        rival_challenged=state.challenged[1 - seat],
        placed=tuple(placed),
        log=tuple(log),
    )


def settle(state: BallastState) -> Outcome:
    """The result of a game that ended in `state`: more scales win, by the true values of what was placed so far."""
    verdicts = state.verdicts()
    winners = [verdict.winner for verdict in verdicts]
    won = [winners.count(0), winners.count(1)]
    lead = (won[0] > won[1]) - (won[0] < won[1])
    measures: dict[str, Json] = {
        "scales": [verdict.to_json() for verdict in verdicts],
        "scales_won": list(won),
        "turns": state.turns,
        "decisions": state.decisions,
        "placed": list(listed(state.placed)),
    }
    reason: Reason = "deadline" if state.stopped else "complete"
    return Outcome((Fraction(lead), Fraction(-lead)), reason, state.ending, measures)


class Ballast:
    """The rules as a value. Implements `games.game.Game`."""

    name = "ballast"
    title = "Ballast: weights placed face down, claims that may be false, one challenge each"
    seats = range(2, 3)
    config_type = BallastConfig
    fallback = "steady"

    def seat_count(self, config: BallastConfig) -> int:
        return 2

    def rulebook(self, config: BallastConfig) -> str:
        return rulebook_text(
            self.name,
            weights=config.weights,
            weight_list=_and(range(1, config.weights + 1)),
            scales=config.scales,
            scale_list=_and(range(config.scales)),
        )

    def deal(self, config: BallastConfig, rng: Random) -> Deal:
        return {}

    def start(self, config: BallastConfig, deal: Deal) -> BallastState:
        if not isinstance(deal, Mapping):
            raise DealInvalid(f"the deal is {quote(deal)}: it must be an empty object")
        if deal:
            raise DealInvalid(f"the deal has the unknown key {quote(next(iter(deal)))}: ballast deals nothing")
        hand = tuple(range(1, config.weights + 1))
        return BallastState(config, 0, (hand, hand))

    def longest(self, config: BallastConfig) -> int:
        """Each weight leaves a hand by one decision, and each of the two challenges adds one at most."""
        return 2 * config.weights + 2

    def lowest(self, config: BallastConfig) -> Fraction:
        """That of a game lost, by however few scales."""
        return Fraction(-1)


def _and(numbers: Sequence[int]) -> str:
    """`1, 2 and 3`."""
    return f"{', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


BALLAST = Ballast()
