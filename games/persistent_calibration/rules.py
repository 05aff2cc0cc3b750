"""Persistent Calibration: weights that stay on three scales, and score for their owners while their side is lighter.

Owns the rules: config, hands, garnets, play, events, ranks and scores. Moves and what the scales come to are in
`moves`, what a seat may know in `view`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

from pydantic import Field, ValidationInfo, field_validator

from weigh.games.checks import NOBODY, check_names, check_no_deal, check_on, not_asked, refusal, rulebook_text
from weigh.games.game import Deal, Event, GameConfig, Json, Move, Observation, Outcome, Reason, Seat
from weigh.games.persistent_calibration.moves import (
    EMPTY,
    HEAVIEST,
    LIGHTEST,
    Placement,
    Placements,
    Round,
    Totals,
    by_scale,
    flips,
    own_points,
    side_of,
    totals_after,
)
from weigh.games.persistent_calibration.view import View, observe

ROUNDS = 6
DEALS = (0, 3)
"""The rounds, counted from 0, before which every seat gets new weights."""

MOST_GARNETS = 99
"""A seat may start with this many. No more than 12 can be spent."""

POINTS_PER_GARNET = 6

TOKENS = {1: 4, 2: 2}
"""Tokens of Life for each winner, by how many win; 1 for more."""

_FULL = sum(1 << weight for weight in range(LIGHTEST, HEAVIEST + 1))


class PersistentCalibrationConfig(GameConfig):
    """What may vary between tables."""

    seats: int = Field(default=13, ge=2, le=26)
    """Players at the table."""
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
        """Whether any seat could ever spend one, which the rulebook says."""
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
            raise not_asked(seat)
        return placements(self.masks[seat], min(self.garnets[seat], self.table.max_garnets_per_round))

    def play(self, moves: Mapping[Seat, Move]) -> PersistentCalibrationState:
        if moves.keys() != self.to_act or not self.to_act:
            raise refusal(self, moves)
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
                raise refusal(self, moves)
            placed.append(placement)
            masks[seat] = mask ^ (1 << placement.weight)
            garnets[seat] -= abs(placement.modify)
        rounds = (*self.rounds, tuple(placed))
        if len(rounds) in DEALS:
            masks = [_FULL] * len(masks)
        return PersistentCalibrationState(
            self.to_act if len(rounds) < ROUNDS else NOBODY,
            self.table,
            tuple(masks),
            tuple(garnets),
            rounds,
            (*self.totals, totals_after(self.totals[-1] if self.totals else EMPTY, rounds[-1])),
        )

    def stop(self) -> PersistentCalibrationState:
        check_on(self)
        return replace(self, to_act=NOBODY)

    @property
    def points_by_round(self) -> list[list[int]]:
        """Each seat's points in each round. No seat knows those of others before the end."""
        return [own_points([placed[seat] for placed in self.rounds], self.totals) for seat in range(len(self.masks))]

    @property
    def sides_by_round(self) -> list[tuple[str | None, ...]]:
        """Which side each seat used in each round, on whichever scale; None for a seat that put down nothing."""
        return [
            tuple([side_of(placement.place) if placement else None for placement in placed]) for placed in self.rounds
        ]

    @property
    def events(self) -> tuple[Event, ...]:
        """`start`; `weigh` for each round, with what became public; `end` once it is over, with all points."""
        return tuple(self._events())

    def _events(self) -> Iterator[Event]:
        yield Event.of("start", seats=len(self.masks), rounds=ROUNDS)
        for number, (sides, totals, tipped) in enumerate(
            zip(self.sides_by_round, self.totals, flips(self.totals), strict=True)
        ):
            yield Event.of("weigh", round=number, totals=by_scale(totals), sides=list(sides), flips=list(tipped))
        if not self.to_act:
            points = list(map(sum, self.points_by_round))
            first, last = winners(points), elimination_candidates(points)
            yield Event.of("end", points=list(points), winners=list(first), elimination_candidates=list(last))

    @property
    def outcome(self) -> Outcome | None:
        if self.to_act:
            return None
        if len(self.rounds) == ROUNDS:
            return settle(self, "complete", "rounds-played")
        return settle(self, "deadline", "wall-clock")

    def observe(self, seat: Seat, names: Sequence[str]) -> Observation:
        legal = self.legal(seat)
        check_names(names, len(self.masks))
        placed = tuple([each[seat] for each in self.rounds])
        view = View(
            seats=len(self.masks),
            rounds_total=ROUNDS,
            deals=DEALS,
            max_garnets_per_round=self.table.max_garnets_per_round,
            totals=self.totals,
            sides=tuple(self.sides_by_round),
            placed=placed,
            points=tuple(own_points(placed, self.totals)),
            garnets=self.garnets[seat],
            garnets_matter=self.table.garnets_matter,
        )
        return observe(view, seat, names, legal)


def rank_scores(points: Sequence[int]) -> tuple[Fraction, ...]:
    """For each seat, the seats with fewer points less those with more, over all others: exact, and 0 in sum."""
    ranked, rivals = sorted(points), len(points) - 1
    return tuple(
        Fraction(bisect_left(ranked, own) - (len(ranked) - bisect_right(ranked, own)), rivals) for own in points
    )


def share_scores(points: Sequence[int]) -> tuple[Fraction, ...]:
    """For each seat, its share of all points, scaled so that all of them are 1 and an even share is 0."""
    pool, seats = sum(points), len(points)
    return tuple(Fraction(seats * own - pool, (seats - 1) * pool) if pool else Fraction(0) for own in points)


def winners(points: Sequence[int]) -> list[Seat]:
    """The seats with the most points."""
    return [seat for seat, own in enumerate(points) if own == max(points)]


def elimination_candidates(points: Sequence[int]) -> list[Seat]:
    """The seats with the fewest points: all of them when they are tied."""
    return [seat for seat, own in enumerate(points) if own == min(points)]


def tokens_of_life(points: Sequence[int]) -> list[int]:
    """For each seat, the tokens it wins."""
    first = winners(points)
    each = TOKENS.get(len(first), 1)
    return [each if seat in first else 0 for seat in range(len(points))]


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
        check_no_deal(deal, self.name)
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

    def decisions(self, config: PersistentCalibrationConfig) -> tuple[int, int]:
        return ROUNDS, ROUNDS

    def lowest(self, config: PersistentCalibrationConfig) -> Fraction:
        """That of a seat alone at the bottom, with every other seat above it."""
        return Fraction(-1)


def _table(config: PersistentCalibrationConfig) -> Table:
    given = config.starting_garnets
    return Table((given,) * config.seats if isinstance(given, int) else given, config.max_garnets_per_round)


def _garnet_rules(config: PersistentCalibrationConfig) -> str:
    """What the rulebook says of garnets: nothing where no seat can spend one."""
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
