"""The contract between a game's rules and everything that plays it.

Owns: the words every game speaks in (seat, move, deal, event, outcome), the errors a game may raise and who they
concern, and the two protocols `Game` and `State`. Knows nothing of policies, prompts, models, clocks or storage.

A game is a pure value. Chance happens once, in `Game.deal`, from the generator handed in; afterwards the deal is pinned
and everything else follows from `State.play`. States are immutable: `play` returns the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A JSON value. Values held by games are never mutated."""

Seat: TypeAlias = int
"""A place at the table, 0..n-1."""

Move: TypeAlias = Json
"""A move in the canonical JSON form that records keep, e.g. `7` or `["place", 3, 1, 5]`."""

Deal: TypeAlias = Mapping[str, Json]
"""What chance decided before play, in JSON, e.g. `{"prize_order": [...]}`; `{}` for a game without chance."""

Reason: TypeAlias = Literal["complete", "deadline"]


class GameError(ValueError):
    """What a caller handed to a game is wrong. The message is one line a person can act on.

    GameError
    ├── ConfigInvalid     a config out of bounds or with an unknown key: names the field, the value and the bound
    ├── DealInvalid       a deal that these rules could not have drawn: names the field and what is wrong with it
    └── MoveRefused       a move that cannot be played
        ├── MoveUnreadable    not a move of this game at all (wrong shape): "7.5 is not a whole number"
        └── MoveIllegal       a move of this game, not allowed here and now: "you no longer hold 7"
    """


class ConfigInvalid(GameError):
    """A config is out of bounds or holds an unknown key."""


class DealInvalid(GameError):
    """A deal is not one that the rules could have drawn under this config."""


class MoveRefused(GameError):
    """A value is not a move that the seat may play now."""


class MoveUnreadable(MoveRefused):
    """A value has not the shape of a move of this game."""


class MoveIllegal(MoveRefused):
    """A value has the shape of a move, and the rules do not allow it here and now."""


@dataclass(frozen=True, slots=True)
class Event:
    """One public thing that happened, in the order in which it happened."""

    kind: str
    """The field's word for it: `prize`, `reveal`, `overbid`, `push` ..."""
    data: Mapping[str, Json]
    """Its particulars; values are exact integers, or floats made from exact fractions."""

    @classmethod
    def of(cls, kind: str, **data: Json) -> Event:
        """The event of that kind with these particulars, in this order."""
        return cls(kind, data)

    def to_json(self) -> dict[str, Json]:
        """The event as records and `weigh resolve` show it: `{"type": kind, **data}`."""
        return {"type": self.kind, **self.data}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an episode ended, settled once by the rules."""

    scores: tuple[Fraction, ...]
    """One per seat, exact, in [-1, 1], higher is better, summing to 0."""
    reason: Reason
    ending: str
    """The finer word, e.g. `prizes-exhausted`, `pushout`, `wall-clock`."""
    measures: Mapping[str, Json]
    """What else the rules page asks to be reported, per seat in seat order where it concerns seats."""


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """How a model is to write a move: the shape half of legality, for prompts, readers and structured output."""

    keys: tuple[str, ...]
    """An object is an answer when it has any of these keys at its top level. One key: its value is the move.
    Several: the object itself, cut down to these keys, is handed to `Legal.read`."""
    schema: Mapping[str, Json]
    """JSON Schema of the answer's properties by key: `{"bid": {"type": "integer", "enum": [1, 2]}}`. A key that is
    read, and that only an illegal move could need now, may be left out of it."""
    required: tuple[str, ...]
    """Which of the keys a schema-bound answer must have."""
    form: str
    """The shape of an answer as a prompt shows it, words in capitals in the place of values: `{"bid": N}`. A copy of
    it is no move: a model that is shown a legal answer plays that one."""
    example: str
    """One well-formed answer as JSON text, with a legal move that is no hint at a good one. For people and for tests
    of a line, never for a prompt."""
    bare: bool = False
    """Whether the value of the one key is an answer without the object around it too. Only for moves that are lists
    which begin with a word: these cannot be mistaken for anything else that a reply may hold."""


class Legal(Protocol):
    """The moves one seat may make now: the one source of legality for rules, prompts, readers and retry hints.

    It knows no more than the seat may know, so it may be handed to a player.

    Null (None) may be legal without being offered, where the rules say what becomes of a seat that did not move: then
    `None in legal` and `read(None)` is None, and it is not iterated, counted, described, sampled or in the answer.
    """

    @property
    def answer(self) -> AnswerForm:
        """How a model writes one of these moves."""

    def __contains__(self, move: object) -> bool:
        """Whether this canonical move is legal."""

    def __iter__(self) -> Iterator[Move]:
        """Every move that is offered, once, in a fixed order: all legal ones but null."""

    def __len__(self) -> int:
        """How many are offered; at least 1."""

    def describe(self) -> str:
        """The legal set in one line for a prompt or a retry hint, e.g. `1, 2, 5, 9`."""

    def sample(self, rng: Random) -> Move:
        """One of the moves that are offered, uniformly."""

    def read(self, value: Json) -> Move:
        """The canonical move that `value` stands for. Shape first, then legality.

        Idempotent on canonical moves. Raises MoveUnreadable or MoveIllegal, saying why and quoting the value.
        """


@dataclass(frozen=True, slots=True)
class Observation:
    """All that one seat may know at one decision. Equal for states that differ only in what the seat may not know."""

    seat: Seat
    facts: Mapping[str, Json]
    """The same knowledge as the texts below, for scripted players and for tests."""
    history: tuple[str, ...]
    """Lines of what has happened, from this seat's side. Append-only: each observation extends the last one's."""
    situation: str
    """The position now, as text for a prompt. It contains no line of `history`, and not the seat's own name alone."""
    legal: Legal

    @property
    def name(self) -> str | None:
        """What the seat is called; None in a game whose facts hold no `names`."""
        names = self.facts.get("names")
        return str(names[self.seat]) if isinstance(names, Sequence) else None


class State(Protocol):
    """One immutable position of one episode."""

    @property
    def to_act(self) -> frozenset[Seat]:
        """The seats that move next, all at once; empty when the episode is over."""

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything public so far. May be derived on demand.

        Append-only while the episode is on. Its end may fill in particulars that play had to hide, such as the value of
        a card that was laid aside unseen; the number and the order of the earlier events stay as they were.
        """

    @property
    def outcome(self) -> Outcome | None:
        """The settled result, or None while the episode is on."""

    def legal(self, seat: Seat) -> Legal:
        """What `seat` may play now. `seat` must be in `to_act`."""

    def play(self, moves: Mapping[Seat, Move]) -> State:
        """The next position, after exactly the seats in `to_act` moved at once.

        Judged as one set, never in seat order. `self` stays as it was, also when this raises MoveRefused for a move
        that is not legal, or ValueError when the seats are not those of `to_act`.
        """

    def observe(self, seat: Seat, names: Sequence[str]) -> Observation:
        """What `seat` (in `to_act`) may know, with the seats called by `names` (one per seat) in its texts."""

    def stop(self) -> State:
        """The same position, ended by the wall clock and scored as it stands. Only between steps; not when over."""


class GameConfig(BaseModel):
    """What may vary between episodes of one game: frozen, strict, and without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Config = TypeVar("Config", bound=BaseModel)


class Game(Protocol[Config]):
    """The rules of one game: a stateless value."""

    @property
    def name(self) -> str:
        """The identifier used on command lines, in files and in records."""

    @property
    def title(self) -> str:
        """The name as people write it, with one phrase on what the game is."""

    @property
    def seats(self) -> range:
        """The seat counts the rules allow."""

    @property
    def config_type(self) -> type[Config]:
        """A frozen pydantic model that forbids unknown keys and bounds every field."""

    @property
    def fallback(self) -> str:
        """The scripted policy that moves for a seat whose two attempts both failed."""

    def seat_count(self, config: Config) -> int:
        """How many seats this config plays with."""

    def rulebook(self, config: Config) -> str:
        """The rules as a player reads them in a prompt, with this config's numbers. The same for every seat."""

    def deal(self, config: Config, rng: Random) -> Deal:
        """Draw everything that chance decides. The only use of randomness in a game."""

    def start(self, config: Config, deal: Deal) -> State:
        """The first position. Raises DealInvalid for a deal that the rules could not have drawn."""

    def longest(self, config: Config) -> int:
        """An upper bound on the number of steps of an episode."""

    def decisions(self, config: Config) -> tuple[int, int]:
        """The fewest and the most decisions that one seat makes in an episode that no clock ends.

        Both are reached by some play: a plan takes them for the bounds of what a run can ask.
        """

    def lowest(self, config: Config) -> Fraction:
        """The lowest score that an episode can give a seat, however badly it plays: at least -1, below 0.

        A bound that is too low makes gates slow; one that is too high makes them wrong.
        """


AnyGame: TypeAlias = Game[Any]
"""A game whose config type is not known here, as in a registry."""
