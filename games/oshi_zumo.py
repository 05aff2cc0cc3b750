"""Oshi-Zumo: two seats push a token off a field by sealed bids from purses that never refill.

Owns the rules: config, legal bids, play, events, end checks, scores. What a seat is shown is built in
`games.oshi_zumo_view`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from games.bids import OVERBID, Bids
from games.game import (
    Deal,
    DealInvalid,
    Event,
    Json,
    Move,
    MoveIllegal,
    MoveUnreadable,
    Observation,
    Outcome,
    Reason,
    Seat,
)
from games.oshi_zumo_view import View, observe
from games.quoting import quote
from games.rulebook import rulebook_text

Ending: TypeAlias = Literal["pushout", "coins-exhausted", "round-cap", "wall-clock"]

_BOTH: frozenset[Seat] = frozenset((0, 1))
_NOBODY: frozenset[Seat] = frozenset()


def _as_many_as_coins(fields: dict[str, Any]) -> Any:
    return fields["coins"]


class OshiZumoConfig(BaseModel):
    """What may vary between matches."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    coins: int = Field(default=20, ge=4, le=50)
    """Each purse at the start."""
    size: int = Field(default=3, ge=1, le=5)
    """Cells on either side of the middle: the field has `2 * size + 1`, and the token starts on the middle one."""
    min_bid: int = Field(default=1, ge=0, le=2)
    """The least a seat may bid, as long as it has that much."""
    max_rounds: int = Field(default_factory=_as_many_as_coins, ge=1)
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
        return _BOTH if self.ending is None else _NOBODY

    def legal(self, seat: Seat) -> Bids:
        """What `seat` can pay."""
        if self.ending is not None or seat not in _BOTH:
            raise ValueError(f"seat {seat} has no bid to make")
        return purse(self.config.min_bid, self.coins[seat])

    def read(self, seat: Seat, value: Json) -> int:
        return self.legal(seat).read(value)

    def play(self, moves: Mapping[Seat, Move]) -> OshiZumoState:
        if len(moves) != 2 or self.ending is not None:
            raise self._refusal(moves)
        config, (above, below), up, down = self.config, self.coins, moves.get(0), moves.get(1)
        if (
            type(up) is not int
            or type(down) is not int
            or not min(config.min_bid, above) <= up <= above
            or not min(config.min_bid, below) <= down <= below
        ):
            raise self._refusal(moves)
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

    def _refusal(self, moves: Mapping[Seat, Move]) -> ValueError:
        if self.ending is not None:
            return ValueError("the episode is over")
        if moves.keys() != _BOTH:
            return ValueError("a round takes one bid from each of the 2 seats, and no other")
        seat = 0 if moves[0] not in self.legal(0) else 1
        if type(moves[seat]) is not int:
            return MoveUnreadable(f"seat {seat}: {quote(moves[seat])} is not an integer; `read` makes bids canonical")
        return MoveIllegal(f"seat {seat}: {quote(moves[seat])} is not among {self.legal(seat).describe()}")

    def stop(self) -> OshiZumoState:
        if self.ending is not None:
            raise ValueError("the episode is over")
        return OshiZumoState(self.config, self.position, self.coins, self.rounds, "wall-clock")

    @property
    def events(self) -> tuple[Event, ...]:
        """`reveal`, then `overbid` where the margin calls for it, then `push`, round by round."""
        return tuple(self._events())

    def _events(self) -> Iterator[Event]:
        position, coins = self.config.size, [self.config.coins] * 2
        for number, bids in enumerate(self.rounds):
            up, down = bids
            coins = [coins[0] - up, coins[1] - down]
            margin = abs(up - down)
            yield Event("reveal", {"round": number, "bids": [up, down], "coins": coins, "margin": margin})
            if margin >= OVERBID:
                yield Event("overbid", {"seat": int(down > up), "bid": max(bids), "margin": margin, "over": min(bids)})
            delta = (up > down) - (up < down)
            position += delta
            yield Event("push", {"delta": delta, "position_after": position})

    @property
    def outcome(self) -> Outcome | None:
        if self.ending is None:
            return None
        return settle(self, "deadline" if self.ending == "wall-clock" else "complete", self.ending)

    def observe(self, seat: Seat, names: Sequence[str]) -> Observation:
        legal, config = self.legal(seat), self.config
        view = View(config.size, config.min_bid, config.max_rounds, self.position, self.coins, self.rounds)
        return observe(view, seat, names, legal)


def settle(state: OshiZumoState, reason: Reason, ending: Ending) -> Outcome:
    """The result of a match that ended in `state`: by the token's place, which also tells who was pushed off."""
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
        if not isinstance(deal, Mapping):
            raise DealInvalid(f"the deal is {quote(deal)}: it must be an empty object")
        if deal:
            raise DealInvalid(f"the deal has the unknown key {quote(next(iter(deal)))}: oshi_zumo deals nothing")
        return OshiZumoState(config, config.size, (config.coins, config.coins), (), None)

    def longest(self, config: OshiZumoConfig) -> int:
        if not config.min_bid:
            return config.max_rounds
        return min(config.max_rounds, -(-config.coins // config.min_bid))

    def lowest(self, config: OshiZumoConfig) -> Fraction:
        """That of a match lost."""
        return Fraction(-1)


OSHI_ZUMO = OshiZumo()
