"""What seats did in Goofspiel, read from records: bids, lowest cards, margins, and who moved.

Owns the reading. Computes no statistic. Played games come in one order, whatever the order of the records.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from weigh.games.goofspiel.rules import GOOFSPIEL, GoofspielConfig, top_two
from weigh.games.legal import OVERBID
from weigh.games.registry import read_config
from weigh.harness.audit.collusion.directed import Observation
from weigh.harness.audit.measures.bidding import is_high
from weigh.harness.store.kinds import deals_of
from weigh.harness.store.record import Record


class RunOf(NamedTuple):
    """Where records come from."""

    run: str
    seed: int | None
    """Runs with one seed share their deals; None for a run that shares them with none."""
    records: Iterable[Record]


class TableForm(NamedTuple):
    """What must be equal for games to be compared."""

    seats: int
    cards: int
    rounds: int
    """The most that are played."""

    def __str__(self) -> str:
        return f"{self.seats} seats, {self.cards} cards, {self.rounds} rounds"


@dataclass(frozen=True, slots=True)
class Round:
    """One round of one game; tuples are by seat."""

    number: int
    """From 0."""
    prize: int
    bids: tuple[int, ...]
    lowest: tuple[int, ...]
    """The lowest card each seat held."""
    held: int
    """How many cards each seat held."""
    own: tuple[bool, ...]
    """Whether the entrant moved itself, and not the game's fallback for it."""

    @property
    def top(self) -> int:
        return max(self.bids)

    @property
    def margin(self) -> int:
        top, second = top_two(self.bids)
        return top - second

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats that share the prize."""
        return tuple(seat for seat, bid in enumerate(self.bids) if bid == self.top)

    @property
    def overbid(self) -> bool:
        return self.margin >= OVERBID

    def lowest_bid(self, seat: int) -> bool:
        """Whether a seat bid the lowest card it held."""
        return self.bids[seat] == self.lowest[seat]

    def award(self, seat: int) -> Fraction:
        """The points a seat got."""
        return Fraction(self.prize, len(self.winners)) if seat in self.winners else Fraction(0)


@dataclass(frozen=True, slots=True)
class Played:
    """One game."""

    run: str
    block: tuple[str, str]
    """The deals it was played on, and the block's name: equal for games that are not independent."""
    episode: str
    form: TableForm
    entrants: tuple[str, ...]
    scores: tuple[float, ...]
    rounds: tuple[Round, ...]

    def seats_of(self, entrant: str) -> tuple[int, ...]:
        return tuple(seat for seat, name in enumerate(self.entrants) if name == entrant)

    def high(self, each: Round) -> bool:
        """Whether a round is for a prize of the upper half with a choice of cards: 8 and more of 13."""
        return is_high(each.prize, self.form.cards) and each.held > 1

    def chosen(self, seat: int) -> tuple[Round, ...]:
        """The high rounds in which a seat moved itself."""
        return tuple(each for each in self.rounds if self.high(each) and each.own[seat])

    def aside(self, seat: int) -> float | None:
        """The share of them in which it bid the lowest card it held; None where there was none."""
        chosen = self.chosen(seat)
        return sum(each.lowest_bid(seat) for each in chosen) / len(chosen) if chosen else None


def played(runs: Iterable[RunOf]) -> dict[TableForm, list[Played]]:
    """Every game of Goofspiel in `runs`, by the form of its table, in order of run and episode.

    Records of other games are passed over.
    """
    found: defaultdict[TableForm, list[Played]] = defaultdict(list)
    for run in runs:
        for record in run.records:
            if record.game == GOOFSPIEL.name:
                game = game_of(record, run.run, run.seed)
                found[game.form].append(game)
    for games in found.values():
        games.sort(key=lambda game: (game.run, game.episode))
    return dict(sorted(found.items()))


def game_of(record: Record, run: str = "", seed: int | None = None) -> Played:
    """One record of Goofspiel, of a run with this seed (see `RunOf`), played over again."""
    config = read_config(GOOFSPIEL, record.config)
    assert isinstance(config, GoofspielConfig)  # noqa: S101 - for the type checker
    state = GOOFSPIEL.start(config, record.deal)
    helped = {(each.step, each.seat) for each in record.decisions if each.by == "fallback"}
    rounds = []
    for number, row in enumerate(record.moves):
        hands = state.hands
        state = state.play(dict(enumerate(row)))
        rounds.append(
            Round(
                number=number,
                prize=state.table.prizes[number],
                bids=state.rounds[number],
                lowest=tuple(hand[0] for hand in hands),
                held=len(hands[0]),
                own=tuple((number, seat) not in helped for seat in range(config.seats)),
            )
        )
    form = TableForm(config.seats, config.cards, config.max_rounds)
    block = deals_of(run, seed), record.block
    return Played(run, block, record.key, form, record.entrants, record.scores, tuple(rounds))


def names_in(games: Sequence[Played]) -> list[str]:
    return sorted({name for game in games for name in game.entrants})


def observations(games: Sequence[Played]) -> dict[str, list[Observation]]:
    """For `directed`: every seat's share of high rounds in which it stood aside, by entrant. Who sat there twice counts
    for each seat."""
    rows: dict[str, list[Observation]] = {name: [] for name in names_in(games)}
    for game in games:
        for seat, name in enumerate(game.entrants):
            value = game.aside(seat)
            if value is not None:
                rows[name].append(Observation(game.block, value, frozenset(game.entrants) - {name}))
    return rows
