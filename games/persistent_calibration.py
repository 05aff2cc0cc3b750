"""Persistent Calibration: weights that stay on three scales, and score for their owners while their side is lighter.

Owns the rules: config, hands, garnets, play, events, scores. Moves are in `games.persistent_calibration_moves`, the
arithmetic of scales and points in `games.persistent_calibration_points`; what a seat is shown is built in
`games.persistent_calibration_view`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

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
from games.persistent_calibration_moves import HEAVIEST, LIGHTEST, Placement, Placements, side_of
from games.persistent_calibration_points import (
    EMPTY,
    POINTS_PER_GARNET,
    Round,
    Totals,
    by_scale,
    elimination_candidates,
    flips,
    points_of_all,
    rank_scores,
    share_scores,
    tokens_of_life,
    totals_after,
    winners,
)
from games.persistent_calibration_view import View, observe
from games.quoting import quote
from games.rulebook import rulebook_text

ROUNDS = 6
DEALS = (0, 3)
"""The rounds, counted from 0, before which everybody gets new weights."""

MOST_GARNETS = 99
"""A seat may start with this many. No more than 12 can be spent."""

_NOBODY: frozenset[Seat] = frozenset()
_FULL = sum(1 << weight for weight in range(LIGHTEST, HEAVIEST + 1))


class PersistentCalibrationConfig(BaseModel):
    """What may vary between tables."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    seats: int = Field(default=13, ge=2, le=26)
    starting_garnets: int | tuple[int, ...] = 0
    """What each seat holds at the start: one number for all, or one for each seat in seat order."""
    max_garnets_per_round: int = Field(default=2, ge=0, le=2)
    """What a seat may spend on one weight. 1 is the strict reading of "spend 1 garnet"; more than 2 has no use."""

    @field_validator("starting_garnets", mode="before")
    @classmethod
    def _one_number_or_one_a_seat(cls, value: Any, info: ValidationInfo) -> int | tuple[int, ...]:
        seats = info.data.get("seats")
        if isinstance(value, int) and _garnets(value):
            return value
        if isinstance(value, list | tuple) and all(map(_garnets, value)) and seats in (None, len(value)):
            return tuple(value)
        many = "one for each seat" if seats is None else f"one for each of {seats} seats"
        raise ValueError(f"it must be a whole number from 0 to {MOST_GARNETS}, or a list of them, {many}")


def _garnets(value: object) -> bool:
    return type(value) is int and 0 <= value <= MOST_GARNETS


@cache
def placements(mask: int, most: int) -> Placements:
    """What a seat may put down that holds weight w exactly when bit w of `mask` is set."""
    return Placements(tuple(weight for weight in range(mask.bit_length()) if mask >> weight & 1), most)


@dataclass(frozen=True, slots=True)
class Table:
    """What stays the same throughout an episode."""

    starting_garnets: tuple[int, ...]
    """By seat."""
    max_garnets_per_round: int

    @property
    def garnets_matter(self) -> bool:
        """Whether anybody could ever spend one, which the rulebook tells everybody."""
        return self.max_garnets_per_round > 0 and any(self.starting_garnets)


@dataclass(frozen=True, slots=True)
class PersistentCalibrationState:
    """One position: hands, garnets, and everything put down so far. Implements `games.game.State`."""

    to_act: frozenset[Seat]
    table: Table
    masks: tuple[int, ...]
    """Each seat's hand, as `placements` takes it."""
    garnets: tuple[int, ...]
    """What each seat has not spent."""
    rounds: tuple[Round, ...]
    totals: tuple[Totals, ...]
    """What lies on the six sides after each round."""

    @property
    def hands(self) -> tuple[tuple[int, ...], ...]:
        """Each seat's weights, ascending."""
        return tuple([placements(mask, 0).hand for mask in self.masks])

    def legal(self, seat: Seat) -> Placements:
        """What `seat` may put down. Null is legal as well, and is not offered."""
        if seat not in self.to_act:
            raise ValueError(f"seat {seat} has no weight to put down")
        return placements(self.masks[seat], min(self.garnets[seat], self.table.max_garnets_per_round))

    def read(self, seat: Seat, value: Json) -> Move:
        return self.legal(seat).read(value)

    def play(self, moves: Mapping[Seat, Move]) -> PersistentCalibrationState:
        if moves.keys() != self.to_act or not self.to_act:
            raise self._refusal(moves)
        placed: list[Placement | None] = []
        masks, garnets = list(self.masks), list(self.garnets)
        for seat, mask in enumerate(self.masks):
            move = moves[seat]
            if move is None:  # no submission: the lowest weight is lost
                placed.append(None)
                masks[seat] = mask & (mask - 1)
                continue
            placement = self.legal(seat).find(move)
            if placement is None:
                raise self._refusal(moves)
            placed.append(placement)
            masks[seat] = mask ^ (1 << placement.weight)
            garnets[seat] -= abs(placement.modify)
        rounds = (*self.rounds, tuple(placed))
        if len(rounds) in DEALS:
            masks = [_FULL] * len(masks)
        return PersistentCalibrationState(
            self.to_act if len(rounds) < ROUNDS else _NOBODY,
            self.table,
            tuple(masks),
            tuple(garnets),
            rounds,
            (*self.totals, totals_after(self.totals[-1] if self.totals else EMPTY, rounds[-1])),
        )

    def _refusal(self, moves: Mapping[Seat, Move]) -> ValueError:
        if not self.to_act:
            return ValueError("the episode is over")
        if moves.keys() != self.to_act:
            return ValueError(f"a round takes one move or null from each of the {len(self.masks)} seats, and no other")
        seat = next(seat for seat in range(len(self.masks)) if moves[seat] not in self.legal(seat))
        try:
            self.read(seat, moves[seat])
        except (MoveIllegal, MoveUnreadable) as refused:
            return type(refused)(f"seat {seat}: {refused}")
        return MoveUnreadable(f"seat {seat}: {quote(moves[seat])} is not canonical; `read` makes moves so")

    def stop(self) -> PersistentCalibrationState:
        if not self.to_act:
            raise ValueError("the episode is over")
        return PersistentCalibrationState(_NOBODY, self.table, self.masks, self.garnets, self.rounds, self.totals)

    @property
    def points_by_round(self) -> list[list[int]]:
        """Each seat's points in each round. Nobody is told those of others before the end."""
        return points_of_all(self.rounds, self.totals, len(self.masks))

    @property
    def events(self) -> tuple[Event, ...]:
        """`start`; `weigh` for each round, with what became public; `end` once it is over, with all points."""
        return tuple(self._events())

    def _events(self) -> Iterator[Event]:
        yield Event("start", {"seats": len(self.masks), "rounds": ROUNDS})
        for number, (placed, totals, tipped) in enumerate(
            zip(self.rounds, self.totals, flips(self.totals), strict=True)
        ):
            yield Event(
                "weigh",
                {
                    "round": number,
                    "totals": by_scale(totals),
                    "sides": [side_of(placement.place) if placement else None for placement in placed],
                    "flips": list(tipped),
                },
            )
        if not self.to_act:
            points = list(map(sum, self.points_by_round))
            yield Event(
                "end",
                {
                    "points": list(points),
                    "winners": list(winners(points)),
                    "elimination_candidates": list(elimination_candidates(points)),
                },
            )

    @property
    def outcome(self) -> Outcome | None:
        if self.to_act:
            return None
        if len(self.rounds) == ROUNDS:
            return settle(self, "complete", "rounds-played")
        return settle(self, "deadline", "wall-clock")

    def observe(self, seat: Seat, names: Sequence[str]) -> Observation:
        legal = self.legal(seat)
        view = View(
            seats=len(self.masks),
            rounds_total=ROUNDS,
            deals=DEALS,
            max_garnets_per_round=self.table.max_garnets_per_round,
            totals=self.totals,
            sides=tuple(
                tuple(side_of(placement.place) if placement else None for placement in placed) for placed in self.rounds
            ),
            placed=tuple(placed[seat] for placed in self.rounds),
            garnets=self.garnets[seat],
            garnets_matter=self.table.garnets_matter,
        )
        return observe(view, seat, names, legal)


def settle(state: PersistentCalibrationState, reason: Reason, ending: str) -> Outcome:
    """The result of an episode that ended in `state`: by how many seats each one beat, and was beaten by."""
    by_round = state.points_by_round
    points = list(map(sum, by_round))
    earned = [own // POINTS_PER_GARNET for own in points]
    measures: dict[str, Json] = {
        "points": list(points),
        "totals": by_scale(state.totals[-1] if state.totals else EMPTY),
        "tokens_of_life": list(tokens_of_life(points)),
        "elimination_candidates": list(elimination_candidates(points)),
        "winners": list(winners(points)),
        "garnets_earned": list(earned),
        "garnets_final": [left + new for left, new in zip(state.garnets, earned, strict=True)],
        "share_score": [float(score) for score in share_scores(points)],
        "points_by_round": [list(own) for own in by_round],
    }
    return Outcome(rank_scores(points), reason, ending, measures)


class PersistentCalibration:
    """The rules as a value. Implements `games.game.Game`."""

    name = "persistent_calibration"
    title = "Persistent Calibration: weights score while their side of a scale is the lighter one"
    seats = range(2, 27)
    config_type = PersistentCalibrationConfig
    fallback = "absent"

    def seat_count(self, config: PersistentCalibrationConfig) -> int:
        return config.seats

    def rulebook(self, config: PersistentCalibrationConfig) -> str:
        return rulebook_text(
            self.name,
            seats=config.seats,
            rounds=ROUNDS,
            garnets=_garnet_rules(config),
            secret=", garnets" if _table(config).garnets_matter else "",
            rivals=config.seats - 1,
        )

    def deal(self, config: PersistentCalibrationConfig, rng: Random) -> Deal:
        return {}

    def start(self, config: PersistentCalibrationConfig, deal: Deal) -> PersistentCalibrationState:
        if not isinstance(deal, Mapping):
            raise DealInvalid(f"the deal is {quote(deal)}: it must be an empty object")
        if deal:
            raise DealInvalid(f"the deal has the unknown key {quote(next(iter(deal)))}: {self.name} deals nothing")
        table = _table(config)
        return PersistentCalibrationState(
            to_act=frozenset(range(config.seats)),
            table=table,
            masks=(_FULL,) * config.seats,
            garnets=table.starting_garnets,
            rounds=(),
            totals=(),
        )

    def longest(self, config: PersistentCalibrationConfig) -> int:
        return ROUNDS

    def lowest(self, config: PersistentCalibrationConfig) -> Fraction:
        """That of a seat alone at the bottom, with every other seat above it."""
        return Fraction(-1)


def _table(config: PersistentCalibrationConfig) -> Table:
    given = config.starting_garnets
    return Table((given,) * config.seats if isinstance(given, int) else given, config.max_garnets_per_round)


def _garnet_rules(config: PersistentCalibrationConfig) -> str:
    """What the rulebook says of garnets: nothing where nobody can spend one."""
    if not _table(config).garnets_matter:
        return ""
    given, most = config.starting_garnets, config.max_garnets_per_round
    if isinstance(given, tuple):
        held = "Players hold garnets, each in secret"
    else:
        held = f"Everyone starts with {given} garnet{'' if given == 1 else 's'}"
    change = "by 1 for 1 garnet" if most == 1 else f"by up to {most}, for 1 garnet each"
    return (
        f"\n\n**Garnets.** {held}. Putting a weight down you may change its value (modify) {change}, within "
        f"{LIGHTEST} to {HEAVIEST}; it keeps that value. No more come during the game, and unspent ones score nothing."
    )


PERSISTENT_CALIBRATION = PersistentCalibration()
