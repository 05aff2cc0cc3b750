"""Half-Hearted Step: two seats share one piece, each moves it along one axis, and a lead is auctioned beforehand.

Owns the rules as a value: config, deal, first position, rulebook. The phases are in `states`, their arithmetic in
`auction` and `play`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from random import Random
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from games.game import Deal, DealInvalid, Json, Seat
from games.half_hearted_step.auction import Auction
from games.half_hearted_step.board import draw_board, read_board
from games.half_hearted_step.contest import Contest
from games.half_hearted_step.play import opening
from games.half_hearted_step.states import AuctionState, PlayState, Table
from games.quoting import nearest, quote
from games.rulebook import rulebook_text

_DEAL = ("board", "priority", "start")
_START = ("horizontal", "active", "threshold", "holder")


class HalfHeartedStepConfig(BaseModel):
    """What may vary between matches."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    size: int = Field(default=7, ge=3, le=11)
    """Rows and columns of the board; odd, so that there is a middle square for the piece to start on."""
    lives: int = Field(default=3, ge=1, le=9)
    """Each seat's at the start of play."""
    bid_limit: int = Field(default=999, ge=1, le=9999)
    """Bids lie between minus this and this. No lead on a board of 7 is beyond 214 either way."""
    auction_rounds: int = Field(default=20, ge=2, le=100)
    """Rounds after which the auction is over whatever happens."""

    @field_validator("size")
    @classmethod
    def _with_a_middle(cls, size: int) -> int:
        if size % 2 == 0:
            raise ValueError("it must be odd, so that the board has a middle square")
        return size


class HalfHeartedStep:
    """The rules as a value. Implements `games.game.Game`."""

    name = "half_hearted_step"
    title = "Half-Hearted Step: an auction of a lead, then each seat moves one piece along its own axis"
    seats = range(2, 3)
    config_type = HalfHeartedStepConfig
    fallback = "stand"

    def seat_count(self, config: HalfHeartedStepConfig) -> int:
        return 2

    def rulebook(self, config: HalfHeartedStepConfig) -> str:
        return rulebook_text(
            self.name,
            size=config.size,
            lives="1 life" if config.lives == 1 else f"{config.lives} lives",
            limit=config.bid_limit,
            rounds=config.auction_rounds,
        )

    def deal(self, config: HalfHeartedStepConfig, rng: Random) -> Deal:
        """The board and the seat with priority in the first round of the auction."""
        return {"board": draw_board(config.size, rng), "priority": rng.randrange(2)}

    def start(self, config: HalfHeartedStepConfig, deal: Deal) -> AuctionState | PlayState:
        """The first round of the auction; or the first turn, when the deal has a `start`.

        `start` says what auction and choice would have settled: the seats `horizontal`, `active` and `holder`, and the
        `threshold`. Beside it `priority` may be left out.
        """
        if not isinstance(deal, Mapping):
            raise DealInvalid(f"the deal is {quote(deal)}: it must be an object with the keys board and priority")
        _check_keys("the deal", deal, _DEAL, optional=("start", "priority") if "start" in deal else ("start",))
        priority = _seat("priority", deal["priority"]) if "priority" in deal else 0
        board = read_board(deal["board"], config.size)
        table = Table(board, priority, config.lives, config.bid_limit, config.auction_rounds)
        if "start" not in deal:
            return AuctionState(table, Auction(priority, config.auction_rounds))
        given = deal["start"]
        if not isinstance(given, Mapping):
            raise DealInvalid(f"start is {quote(given)}: it must be an object with the keys {', '.join(_START)}")
        _check_keys("start", given, _START)
        contest = Contest(_seat("start.holder", given["holder"]), _threshold(given["threshold"], config.bid_limit))
        horizontal, active = (_seat(f"start.{key}", given[key]) for key in ("horizontal", "active"))
        first = opening(board, horizontal, active, config.lives)
        return PlayState(table, None, contest, first, first, ())

    def longest(self, config: HalfHeartedStepConfig) -> int:
        """Auction, choice, a turn for each square of the board but the first, and one for each life."""
        return config.auction_rounds + 1 + config.size**2 - 1 + 2 * config.lives

    def lowest(self, config: HalfHeartedStepConfig) -> Fraction:
        """That of the loser: once play has begun there is one, whenever it ends."""
        return Fraction(-1)


def _check_keys(what: str, given: Mapping[Any, Json], known: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
    for key in given:
        if key not in known:
            hint = nearest(key, known) if isinstance(key, str) else ""
            raise DealInvalid(f"{what} has the unknown key {quote(key)}{hint} (keys: {', '.join(known)})")
    for key in known:
        if key not in given and key not in optional:
            raise DealInvalid(f"{what} lacks {key} (keys: {', '.join(known)})")


def _seat(where: str, value: Json) -> Seat:
    if type(value) is not int or value not in (0, 1):
        raise DealInvalid(f"{where} is {quote(value)}: it must be seat 0 or 1")
    return value


def _threshold(value: Json, limit: int) -> int:
    if type(value) is not int or abs(value) > limit:
        raise DealInvalid(f"start.threshold is {quote(value)}: it must be a whole number from {-limit} to {limit}")
    return value


HALF_HEARTED_STEP = HalfHeartedStep()
