"""Oshi-Zumo: two seats push a token off a field by sealed bids from purses that never refill.

Owns the whole game: config, legal bids, play, events, end checks, scores, and what a seat observes, from its own side.
Nothing is hidden but the bids of the open round, so a seat's view needs no barrier. Whole batches of games are in
`vectorised`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from random import Random
from typing import Literal, TypeAlias

from pydantic import Field, ValidationInfo, field_validator

from weigh.games.checks import BOTH, NOBODY, check_names, check_no_deal, check_on, not_asked, refusal, rulebook_text
from weigh.games.game import Deal, Event, GameConfig, Json, Move, Observation, Outcome, Reason, Seat
from weigh.games.legal import OVERBID, Bids

Ending: TypeAlias = Literal["pushout", "coins-exhausted", "round-cap", "wall-clock"]


class OshiZumoConfig(GameConfig):
    """What may vary between matches."""

    coins: int = Field(default=20, ge=4, le=50)
    """Each purse at the start."""
    size: int = Field(default=3, ge=1, le=5)
    """Cells on either side of the middle: the field has `2 * size + 1`, and the token starts on the middle one."""
    min_bid: int = Field(default=1, ge=0, le=2)
    """The least a seat may bid, as long as it has that much."""
    max_rounds: int = Field(default_factory=lambda fields: fields["coins"], ge=1)
    """Rounds after which the token's place decides: `coins` by default, at most `2 * coins`.

    With a least bid of 1 or 2 the purses are empty after `coins` rounds anyway. With 0 both seats may bid nothing for
    ever, so only the cap ends the match. Every push costs its winner a coin or more: a cap beyond `2 * coins` could
    add no push, only empty rounds.
    """

    @field_validator("max_rounds")
    @classmethod
    def _while_pushes_last(cls, rounds: int, info: ValidationInfo) -> int:
        coins = info.data.get("coins", rounds)
        if rounds > 2 * coins:
            raise ValueError(f"it must be at most twice the coins, which is {2 * coins}")
        return rounds


@cache
def purse(min_bid: int, coins: int) -> Bids:
    """The bids open to a seat with `coins`: from the least bid, or all it has if that is less, to all it has."""
    return Bids(tuple(range(min(min_bid, coins), coins + 1)))


@dataclass(frozen=True, slots=True)
class OshiZumoState:
    """One position: the token, the purses, and every bid that led to it. Implements `games.game.State`."""

    config: OshiZumoConfig
    position: int
    """The token's cell, 0..2*size; -1 or 2*size + 1 once it is off the field."""
    coins: tuple[int, int]
    """What is left in each purse."""
    rounds: tuple[tuple[int, int], ...]
    """The bids of each finished round."""
    ending: Ending | None
    """How the match ended; None while it is on."""

    @property
    def to_act(self) -> frozenset[Seat]:
        return BOTH if self.ending is None else NOBODY

    def legal(self, seat: Seat) -> Bids:
        """What `seat` can pay."""
        if self.ending is not None or seat not in BOTH:
            raise not_asked(seat)
        return purse(self.config.min_bid, self.coins[seat])

    def play(self, moves: Mapping[Seat, Move]) -> OshiZumoState:
        if len(moves) != 2 or self.ending is not None:
            raise refusal(self, moves)
        config, (above, below), up, down = self.config, self.coins, moves.get(0), moves.get(1)
        if (
            type(up) is not int
            or type(down) is not int
            or not min(config.min_bid, above) <= up <= above
            or not min(config.min_bid, below) <= down <= below
        ):
            raise refusal(self, moves)
        position = self.position + (up > down) - (up < down)
        coins = (above - up, below - down)
        rounds = (*self.rounds, (up, down))
        ending: Ending | None = None
        if not 0 <= position <= 2 * config.size:
            ending = "pushout"
        elif coins == (0, 0):
            ending = "coins-exhausted"
        elif len(rounds) == config.max_rounds:
            ending = "round-cap"
        return OshiZumoState(config, position, coins, rounds, ending)

    def stop(self) -> OshiZumoState:
        check_on(self)
        return replace(self, ending="wall-clock")

    @property
    def events(self) -> tuple[Event, ...]:
        """`reveal`, then `overbid` where the margin calls for it, then `push`, round by round."""
        return tuple(self._events())

    def _events(self) -> Iterator[Event]:
        coins = [self.config.coins] * 2
        for number, ((up, down), position) in enumerate(zip(self.rounds, self._positions(), strict=True)):
            coins = [coins[0] - up, coins[1] - down]
            margin = abs(up - down)
            yield Event.of("reveal", round=number, bids=[up, down], coins=coins, margin=margin)
            if margin >= OVERBID:
                yield Event.of("overbid", seat=int(down > up), bid=max(up, down), margin=margin, over=min(up, down))
            yield Event.of("push", delta=(up > down) - (up < down), position_after=position)

    def _positions(self) -> Iterator[int]:
        """The token's cell after each finished round."""
        position = self.config.size
        for up, down in self.rounds:
            position += (up > down) - (up < down)
            yield position

    @property
    def outcome(self) -> Outcome | None:
        if self.ending is None:
            return None
        return settle(self, "deadline" if self.ending == "wall-clock" else "complete", self.ending)

    def observe(self, seat: Seat, names: Sequence[str]) -> Observation:
        legal, config, position = self.legal(seat), self.config, self.position
        check_names(names, 2)
        needed = [2 * config.size + 1 - position, position + 1]
        rounds = list(zip(self.rounds, self._positions(), strict=True))
        return Observation(
            seat=seat,
            facts={
                "seat": seat,
                "names": list(names),
                "round": len(rounds),
                "max_rounds": config.max_rounds,
                "size": config.size,
                "min_bid": config.min_bid,
                "position": position,
                "coins": list(self.coins),
                "pushes_needed": needed,
                "history": [{"bids": list(bids), "position": after} for bids, after in rounds],
            },
            history=tuple(
                _line(number, seat, bids, after, names[1 - seat])
                for number, (bids, after) in enumerate(rounds, start=1)
            ),
            situation=_situation(self, seat, names, needed, legal),
            legal=legal,
        )


def _line(number: int, seat: Seat, bids: tuple[int, int], after: int, rival: str) -> str:
    mine, theirs = bids[seat], bids[1 - seat]
    if mine == theirs:
        move = f"token stays at cell {after}"
    else:
        move = f"token moves {'your way' if mine > theirs else 'against you'} to cell {after}"
    return f"Round {number}: you {mine}, {rival} {theirs}; {move}."


def _situation(state: OshiZumoState, seat: Seat, names: Sequence[str], needed: Sequence[int], legal: Bids) -> str:
    rival = names[1 - seat]
    edges = (f"up, past cell {2 * state.config.size}", "down, past cell 0")
    return "\n".join(
        [
            f"Round {len(state.rounds) + 1} of at most {state.config.max_rounds}. "
            f"Field: cells 0 to {2 * state.config.size}. Token at cell {state.position}.",
            f"You push {edges[seat]}: {_pushes(needed[seat])} needed.",
            f"{rival} pushes {edges[1 - seat]}: {_pushes(needed[1 - seat])} needed.",
            f"Coins: you {state.coins[seat]}, {rival} {state.coins[1 - seat]}.",
            f"Your legal bids: {legal.describe()}.",
        ]
    )


def _pushes(number: int) -> str:
    return "1 push" if number == 1 else f"{number} pushes"


def settle(state: OshiZumoState, reason: Reason, ending: Ending) -> Outcome:
    """The result of a match that ended in `state`: by the token's place, also when it was pushed off."""
    lead = (state.position > state.config.size) - (state.position < state.config.size)
    measures: dict[str, Json] = {
        "points": [(1 + lead) / 2, (1 - lead) / 2],
        "spent": [sum(bids[seat] for bids in state.rounds) for seat in (0, 1)],
        "coins": list(state.coins),
        "position": state.position,
        "collusion_index": None,
    }
    return Outcome((Fraction(lead), Fraction(-lead)), reason, ending, measures)


class OshiZumo:
    """The rules as a value. Implements `games.game.Game`."""

    name = "oshi_zumo"
    title = "Oshi-Zumo: sealed bids of coins push a token along a field"
    seats = range(2, 3)
    config_type = OshiZumoConfig
    fallback = "match"

    def seat_count(self, config: OshiZumoConfig) -> int:
        return 2

    def rulebook(self, config: OshiZumoConfig) -> str:
        least = {
            0: "or 0",
            1: "and at least 1; a player without coins bids 0",
            2: "and at least 2, or all they have if that is less",
        }
        return rulebook_text(
            self.name,
            coins=config.coins,
            last=2 * config.size,
            middle=config.size,
            least=least[config.min_bid],
            cap="1 round has" if config.max_rounds == 1 else f"{config.max_rounds} rounds have",
        )

    def deal(self, config: OshiZumoConfig, rng: Random) -> Deal:
        return {}

    def start(self, config: OshiZumoConfig, deal: Deal) -> OshiZumoState:
        check_no_deal(deal, self.name)
        return OshiZumoState(config, config.size, (config.coins, config.coins), (), None)

    def longest(self, config: OshiZumoConfig) -> int:
        if not config.min_bid:
            return config.max_rounds
        return min(config.max_rounds, -(-config.coins // config.min_bid))

    def decisions(self, config: OshiZumoConfig) -> tuple[int, int]:
        """Two who bid all they have end the match in its first round."""
        return 1, self.longest(config)

    def lowest(self, config: OshiZumoConfig) -> Fraction:
        """That of a match lost."""
        return Fraction(-1)


OSHI_ZUMO = OshiZumo()
