"""Ballast: weights placed face down under claims that may be false, and one challenge each.

Owns the rules: config, turns, challenges and what they cost, events, the end and its score. Moves and the scales they
leave are in `moves`, what a seat may know in `view`.

A challenge that fails is followed by a decision of the same seat, which weight to give up. So a turn is one or two
steps, and always one seat acts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Literal, TypeAlias

from pydantic import Field

from weigh.games.ballast.moves import (
    Action,
    Actions,
    Challenge,
    Challenged,
    Discard,
    Discarded,
    Entry,
    Place,
    Placed,
    Verdict,
    Weight,
    judge,
)
from weigh.games.ballast.view import ObservedWeight, View, observe
from weigh.games.checks import ALONE, NOBODY, check_names, check_no_deal, check_on, not_asked, refusal, rulebook_text
from weigh.games.game import Deal, Event, GameConfig, Json, Move, Observation, Outcome, Reason, Seat
from weigh.games.values import commas

Ending: TypeAlias = Literal["hands-empty", "wall-clock"]


class BallastConfig(GameConfig):
    """What may vary between games. The author's game has the defaults."""

    weights: int = Field(default=5, ge=2, le=7)
    """Each player holds the weights 1..weights, one of each; a claim is one of these values."""
    scales: int = Field(default=3, ge=2, le=5)
    """Scales; who wins more of them wins."""


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
        return NOBODY if self.mover is None else ALONE[self.mover]

    def legal(self, seat: Seat) -> Actions:
        """What `seat` may do. It holds no more than the seat may know."""
        if seat != self.mover:
            raise not_asked(seat)
        config = self.config
        targets: tuple[int, ...] = ()
        if not self.challenged[seat]:
            targets = tuple(
                [n for n, weight in enumerate(self.placed) if weight.owner != seat and weight.status == "down"]
            )
        return Actions(self.hands[seat], config.scales, config.weights, targets, self.challenged[seat], self.discarding)

    def play(self, moves: Mapping[Seat, Move]) -> BallastState:
        seat = self.mover
        action = self.legal(seat).find(moves[seat]) if seat is not None and moves.keys() == ALONE[seat] else None
        if seat is None or action is None:
            raise refusal(self, moves)
        return self._after(seat, action)

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
        check_on(self)
        return replace(self, mover=None, stopped=True)

    @property
    def turns(self) -> int:
        """Turns begun: every placement and every challenge is one."""
        return sum(not isinstance(entry, Discarded) for entry in self.log)

    @property
    def events(self) -> tuple[Event, ...]:
        """`start`, then `place`, `challenge` and `discard` as they came; `end` once the game is over.

        While it is on, a discard has only its owner; its value is filled in when the game is over.
        """
        return tuple(self._events())

    def _events(self) -> Iterator[Event]:
        over = self.mover is None
        yield Event.of("start", weights=self.config.weights, scales=self.config.scales, first=0)
        for entry in self.log:
            match entry:
                case Placed(number):
                    owner, scale, announced = self.placed[number][:3]
                    yield Event.of("place", number=number, owner=owner, scale=scale, announced=announced)
                case Challenged(seat, number):
                    weight = self.placed[number]
                    outcome = "removed" if weight.false else "stands"
                    yield Event.of("challenge", seat=seat, number=number, true=weight.true, outcome=outcome)
                case Discarded(seat, value):
                    yield Event("discard", {"owner": seat, "value": value} if over else {"owner": seat})
        if over:
            true = [weight.true for weight in self.placed]
            yield Event.of("end", ending=self.ending, scales_won=list(_scales_won(self.verdicts())), true_values=true)

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
        legal = self.legal(seat)
        check_names(names, 2)
        return observe(_view_of(seat, self), seat, names, legal)


def _view_of(seat: Seat, state: BallastState) -> View:
    """What `seat` may know: everything but what the other seat holds, hides and gave up."""
    placed = [
        ObservedWeight(number, mine, scale, announced, status, true if mine or status != "down" else None)
        for number, (owner, scale, announced, true, status) in enumerate(state.placed)
        for mine in (owner == seat,)
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


def _scales_won(verdicts: Sequence[Verdict]) -> tuple[int, int]:
    """By seat, how many scales it wins."""
    winners = [verdict.winner for verdict in verdicts]
    return winners.count(0), winners.count(1)


def settle(state: BallastState) -> Outcome:
    """The result of a game that ended in `state`: more scales win, by the true values of what was placed so far."""
    verdicts = state.verdicts()
    won = _scales_won(verdicts)
    lead = (won[0] > won[1]) - (won[0] < won[1])
    measures: dict[str, Json] = {
        "scales": [verdict.to_json() for verdict in verdicts],
        "scales_won": list(won),
        "turns": state.turns,
        "decisions": state.decisions,
        "placed": [{"number": number, **weight._asdict()} for number, weight in enumerate(state.placed)],
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
            weight_list=commas(range(1, config.weights + 1), "and"),
            scales=config.scales,
            scale_list=commas(range(config.scales), "and"),
        )

    def deal(self, config: BallastConfig, rng: Random) -> Deal:
        return {}

    def start(self, config: BallastConfig, deal: Deal) -> BallastState:
        check_no_deal(deal, self.name)
        hand = tuple(range(1, config.weights + 1))
        return BallastState(config, 0, (hand, hand))

    def longest(self, config: BallastConfig) -> int:
        """Each weight leaves a hand by one decision, and each of the two challenges adds one at most."""
        return 2 * config.weights + 2

    def decisions(self, config: BallastConfig) -> tuple[int, int]:
        """One for each weight, for a last weight that goes by itself does so by a challenge; one more with another."""
        return config.weights, config.weights + 1

    def lowest(self, config: BallastConfig) -> Fraction:
        """That of a game lost, by however few scales."""
        return Fraction(-1)


BALLAST = Ballast()
