"""Goofspiel: sealed bids for prizes, every card spent once.

Owns the rules: config, deal, hands, play, events, awards, scores. What a seat may see is built in `view`, whole batches
of games in `vectorised`. Points are whole numbers of `1 / unit`, so that shared prizes stay exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from itertools import filterfalse, islice
from math import lcm
from random import Random

from pydantic import Field, ValidationInfo, field_validator

from weigh.games.checks import NOBODY, check_names, check_on, not_asked, refusal, rulebook_text
from weigh.games.game import Deal, DealInvalid, Event, GameConfig, Json, Move, Observation, Outcome, Reason, Seat
from weigh.games.goofspiel.view import Rounds, View, observe
from weigh.games.legal import OVERBID, Bids
from weigh.games.values import quote

FACES: Mapping[str, int] = {"A": 1, "J": 11, "Q": 12, "K": 13}
"""Card names that are read as bids."""

_HIGHEST = 13
_BIT: Mapping[int, int] = {card: 1 << card for card in range(1, _HIGHEST + 1)}

_FAULTS = 4
"""Faults of a deal that a message names."""


class GoofspielConfig(GameConfig):
    """What may vary between tables."""

    seats: int = Field(default=4, ge=2, le=10)
    """Players at the table."""
    cards: int = Field(default=13, ge=4, le=_HIGHEST)
    """Each hand, and the prize deck, hold the values 1..cards once each."""
    max_rounds: int = Field(default_factory=lambda fields: fields["cards"], ge=1)
    """Prizes that are played for, at most `cards`; all of them by default."""

    @field_validator("max_rounds")
    @classmethod
    def _within_the_deck(cls, rounds: int, info: ValidationInfo) -> int:
        if rounds > info.data.get("cards", rounds):
            raise ValueError(f"it must be at most cards, which is {info.data['cards']}")
        return rounds


@cache
def hand(mask: int) -> Bids:
    """The hand that holds card c exactly when bit c of `mask` is set. There are 2**13 of them, each made once."""
    cards = tuple(card for card in range(mask.bit_length()) if mask >> card & 1)
    return Bids(cards, having="you hold", faces=FACES)


@dataclass(frozen=True, slots=True)
class Table:
    """What stays the same throughout an episode."""

    prizes: tuple[int, ...]
    """The whole deck in the order of its reveal, also what `max_rounds` leaves unplayed."""
    max_rounds: int


@dataclass(frozen=True, slots=True)
class GoofspielState:
    """One position: the cards held, and every bid that led to it. Implements `games.game.State`."""

    to_act: frozenset[Seat]
    table: Table
    masks: tuple[int, ...]
    """Each seat's cards, as `hand` takes them."""
    rounds: Rounds

    @property
    def hands(self) -> tuple[tuple[int, ...], ...]:
        """Each seat's cards, ascending."""
        return tuple([hand(mask).values for mask in self.masks])

    def legal(self, seat: Seat) -> Bids:
        """The cards `seat` holds."""
        if seat not in self.to_act:
            raise not_asked(seat)
        return hand(self.masks[seat])

    def play(self, moves: Mapping[Seat, Move]) -> GoofspielState:
        if len(moves) != len(self.masks) or not self.to_act:
            raise refusal(self, moves)
        bids: list[int] = []
        masks: list[int] = []
        try:
            for seat, mask in enumerate(self.masks):
                bid = moves[seat]
                if type(bid) is not int or not mask & _BIT[bid]:
                    raise refusal(self, moves)
                bids.append(bid)
                masks.append(mask ^ _BIT[bid])
        except KeyError:  # a seat without a bid, or a bid that is no card at all
            raise refusal(self, moves) from None
        rounds = (*self.rounds, tuple(bids))
        to_act = self.to_act if len(rounds) < self.table.max_rounds else NOBODY
        return GoofspielState(to_act, self.table, tuple(masks), rounds)

    def stop(self) -> GoofspielState:
        check_on(self)
        return replace(self, to_act=NOBODY)

    @property
    def events(self) -> tuple[Event, ...]:
        """`prize`, `reveal` and, where the margin calls for it, `overbid`, round by round.

        The prize of the round that is open stands last. A stopped episode has none: its next round never opened.
        """
        return tuple(self._events())

    def _events(self) -> Iterator[Event]:
        for number, bids in enumerate(self.rounds):
            yield self._prize(number)
            prize, (top, second) = self.table.prizes[number], top_two(bids)
            winners = [seat for seat, bid in enumerate(bids) if bid == top]
            data: dict[str, Json] = {"round": number, "prize": prize, "bids": list(bids), "top": top}
            yield Event.of("reveal", **data, winners=winners, award=prize / len(winners), margin=top - second)
            if top - second >= OVERBID:
                yield Event.of("overbid", seat=winners[0], bid=top, margin=top - second, over=second)
        if self.to_act:
            yield self._prize(len(self.rounds))

    def _prize(self, number: int) -> Event:
        prizes = self.table.prizes
        return Event.of("prize", round=number, prize=prizes[number], remaining=sorted(prizes[number + 1 :]))

    @property
    def outcome(self) -> Outcome | None:
        if self.to_act:
            return None
        if len(self.rounds) == self.table.max_rounds:
            return settle(self, "complete", "prizes-exhausted")
        return settle(self, "deadline", "wall-clock")

    def observe(self, seat: Seat, names: Sequence[str]) -> Observation:
        legal, prizes, seats, revealed = self.legal(seat), self.table.prizes, len(self.masks), len(self.rounds) + 1
        check_names(names, seats)
        return observe(
            View(
                prizes=prizes[:revealed],
                remaining=tuple(sorted(prizes[revealed:])),
                max_rounds=self.table.max_rounds,
                hands=self.hands,
                rounds=self.rounds,
                points=_points(prizes[:revealed], self.rounds, seats),
                unit=unit(seats),
            ),
            seat,
            tuple(names),
            legal,
        )


@cache
def unit(seats: int) -> int:
    """The least common multiple of all the numbers of seats that can share a prize."""
    return lcm(*range(1, seats + 1))


def top_two(bids: Sequence[int]) -> tuple[int, int]:
    """The highest bid and the next: their difference is the margin, 0 when the top is tied."""
    ranked = sorted(bids)
    return ranked[-1], ranked[-2]


def awards(prizes: Sequence[int], rounds: Rounds, seats: int) -> tuple[list[int], list[int]]:
    """What each seat has won, in units of `1 / unit(seats)`, and the numbers of the rounds that were overbids.

    `prizes` may go on beyond the rounds played.
    """
    one = unit(seats)
    won, overbids = [0] * seats, []
    for number, bids in enumerate(rounds):
        ranked = sorted(bids)
        top = ranked[-1]
        margin = top - ranked[-2]
        if margin:
            won[bids.index(top)] += prizes[number] * one
            if margin >= OVERBID:
                overbids.append(number)
        else:
            share = prizes[number] * one // bids.count(top)
            for seat, bid in enumerate(bids):
                if bid == top:
                    won[seat] += share
    return won, overbids


@lru_cache(512)
def _points(prizes: tuple[int, ...], rounds: Rounds, seats: int) -> tuple[int, ...]:
    """What each seat has won. Kept so that the seats of one round share it, in the episodes that are in flight."""
    return tuple(awards(prizes, rounds, seats)[0])


def collusion_index(rounds: Rounds, overbids: Sequence[int], held: Sequence[Sequence[int]]) -> list[float]:
    """Per seat, the share of rounds that were overbids and in which it bid the lowest card it held; 0.0 before any.

    `held` are the hands after those rounds, ascending. To the letter of the report's definition, the winner of such a
    round counts like the others, and so does a last card that was forced.
    """
    aside = [0] * len(held)
    for number in overbids:
        later = rounds[number + 1 :]
        for seat, bid in enumerate(rounds[number]):
            # What the seat held beside this bid is what it bid later, and what it holds still.
            if not (held[seat] and held[seat][0] < bid):
                for bids in later:
                    if bids[seat] < bid:
                        break
                else:
                    aside[seat] += 1
    return [count / len(rounds) if rounds else 0.0 for count in aside]


def settle(state: GoofspielState, reason: Reason, ending: str) -> Outcome:
    """The result of an episode that ended in `state`: each seat's share of what was awarded, scaled to sum to zero.

    +1 is every prize, 0 the equal share; all are 0 when nothing was awarded.
    """
    seats = len(state.masks)
    won, overbids = awards(state.table.prizes, state.rounds, seats)
    pool, one, hands = sum(won), unit(seats), state.hands
    deck = sum(state.table.prizes)  # the value of a whole hand as well
    scores = [Fraction(seats * mine - pool, (seats - 1) * pool) if pool else Fraction(0) for mine in won]
    measures: dict[str, Json] = {
        "points": [mine / one for mine in won],
        "spent": [deck - sum(held) for held in hands],
        "hands": [list(held) for held in hands],
        "bids_made": [len(state.rounds)] * seats,
        "collusion_index": collusion_index(state.rounds, overbids, hands),
    }
    return Outcome(tuple(scores), reason, ending, measures)


class Goofspiel:
    """The rules as a value. Implements `games.game.Game`."""

    name = "goofspiel"
    title = "Goofspiel: sealed card bids for a shuffled deck of prizes"
    seats = range(2, 11)
    config_type = GoofspielConfig
    fallback = "match"

    def seat_count(self, config: GoofspielConfig) -> int:
        return config.seats

    def rulebook(self, config: GoofspielConfig) -> str:
        cards, rounds, seats = config.cards, config.max_rounds, config.seats
        prizes = f"The prizes are worth 1 to {cards}, one of each, and come up in shuffled order"
        unknown = "Only the order of the prizes to come is unknown."
        if rounds < cards:
            prizes += "; the game ends before the deck does"
            unknown = "Only which of the other prizes come up, and in what order, is unknown."
        return rulebook_text(
            self.name,
            seats=seats,
            cards=cards,
            rounds="1 round" if rounds == 1 else f"{rounds} rounds",
            prizes=f"{prizes}.",
            unknown=unknown,
            rivals=seats - 1,
            worst="−1" if seats == 2 else f"−1/{seats - 1}",
        )

    def deal(self, config: GoofspielConfig, rng: Random) -> Deal:
        order = list(range(1, config.cards + 1))
        rng.shuffle(order)
        return {"prize_order": order}

    def start(self, config: GoofspielConfig, deal: Deal) -> GoofspielState:
        table = Table(_prize_order(config, deal), config.max_rounds)
        full = (1 << config.cards + 1) - 2
        return GoofspielState(frozenset(range(config.seats)), table, (full,) * config.seats, ())

    def longest(self, config: GoofspielConfig) -> int:
        return config.max_rounds

    def decisions(self, config: GoofspielConfig) -> tuple[int, int]:
        return config.max_rounds, config.max_rounds

    def lowest(self, config: GoofspielConfig) -> Fraction:
        """That of a seat which wins nothing: a share of 0, scaled as in `settle`.

        Reached where `max_rounds` or the clock leaves the highest card in its hand. Played, that card wins at least its
        part of one prize.
        """
        return Fraction(-1, config.seats - 1)


def _prize_order(config: GoofspielConfig, deal: Deal) -> tuple[int, ...]:
    if not isinstance(deal, Mapping):
        raise DealInvalid(f"the deal is {quote(deal)}: it must be an object with the key prize_order")
    for key in deal:
        if key != "prize_order":
            raise DealInvalid(f"the deal has the unknown key {quote(key)}: goofspiel deals prize_order alone")
    if "prize_order" not in deal:
        raise DealInvalid("the deal lacks prize_order, the order in which the prizes come up")
    order = deal["prize_order"]
    if not isinstance(order, list | tuple):
        raise DealInvalid(f"prize_order is {quote(order)}: it must be a list of whole numbers")
    if set(map(type, order)) != {int}:
        wrong = next((prize for prize in order if type(prize) is not int), order)
        raise DealInvalid(f"prize_order holds {quote(wrong)}: it must hold whole numbers only")
    deck = range(1, config.cards + 1)
    if sorted(order) != list(deck):
        faults = [f"{prize} is missing" for prize in deck if prize not in order]
        faults += [f"{prize} comes {order.count(prize)} times" for prize in deck if order.count(prize) > 1]
        faults += [f"{quote(prize)} is no prize" for prize in islice(filterfalse(deck.__contains__, order), _FAULTS)]
        raise DealInvalid(f"prize_order is no permutation of 1 to {config.cards}: {', '.join(faults[:_FAULTS])}")
    return tuple(order)


GOOFSPIEL = Goofspiel()
