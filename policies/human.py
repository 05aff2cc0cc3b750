"""A person at a seat: a policy that asks a user, and how a person's line becomes a move.

Owns the asking again after a line that is no legal move, the choices a person is offered, and the reading of what was
typed. Does no I/O: who shows the question and brings the answer is handed in. A person is never charged a fault, has no
time limit, and is asked until the line is a legal move.

How a line is read
1. The number of an offered choice, where choices are offered by number.
2. JSON: the move itself, or an object with the answer's keys, as a model would write it.
3. Plain words: `place 3 1 5` for `["place", 3, 1, 5]`, `A left 3` for an object with several keys in their order.
4. The beginning of one choice and of no other: `stay` for `stay 0`.
Then the rules judge it (`Legal.read`), in their own words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from itertools import islice, product
from random import Random
from typing import Final, TypeAlias

from weigh.games.game import Json, Legal, Move, MoveIllegal, MoveRefused, MoveUnreadable, Observation, Seat
from weigh.policies.contract import ModelClient, Reply, Retry, canonical

NAME: Final = "human"
"""The word for a person on a command line, and the entrant's name in records."""

MENU: Final = 40
"""Most choices that are offered by number."""

_LONGEST = 2_000
"""Characters of a line that are read."""

_COMBINATIONS = 2_000
"""Most combinations of an answer's values that are tried for words."""

Ask: TypeAlias = Callable[[Observation, str | None], Awaitable[str]]
"""Shows a person what their seat may know and brings the line they answer with. With a text, the last line was refused
for that reason."""

Moved: TypeAlias = Callable[[Seat, Move], None]
"""Told of every move that was read from a line."""


def _nobody(seat: Seat, move: Move) -> None:
    return


@dataclass(frozen=True, slots=True)
class HumanPolicy:
    """Whoever sits in front of the screen. Implements `policies.contract.Policy`."""

    game: str
    ask: Ask
    moved: Moved = _nobody
    name: str = NAME

    @property
    def digest(self) -> str:
        """SHA-256, hex: the same for every person, since nothing is known of how one plays."""
        return hashlib.sha256(canonical({"human": True, "game": self.game}).encode()).hexdigest()

    @property
    def model(self) -> None:
        """None: no model is asked."""
        return

    def sit(self, seat: Seat, rng: Random, client: ModelClient | None = None) -> HumanPlayer:
        """A player for one episode. Neither `rng` nor `client` is used."""
        return HumanPlayer(self.ask, self.moved)


@dataclass(frozen=True, slots=True)
class HumanPlayer:
    """A person sat down. Implements `policies.contract.Player`."""

    ask: Ask
    moved: Moved

    async def decide(self, observation: Observation, retry: Retry | None = None) -> Reply:
        """A legal move, after as many lines as it takes. Raises what `ask` raises."""
        refused: str | None = None
        while True:
            line = await self.ask(observation, refused)
            try:
                move = read_line(line, observation.legal)
            except MoveRefused as error:
                refused = str(error)
                continue
            self.moved(observation.seat, move)
            return Reply(move=move)


@dataclass(frozen=True, slots=True)
class Choice:
    """One legal move as a person reads it."""

    words: str
    """What may be typed for it, e.g. `7`, `place 3 1 5`, `left 1`."""
    move: Move
    answer: Json
    """The move as a model would write it."""

    @property
    def line(self) -> str:
        """JSON text that `read_line` reads as this move."""
        return canonical(self.answer)


def choices(legal: Legal, most: int) -> tuple[Choice, ...]:
    """Every legal move in words, in the order of `legal`; empty when there are more than `most`."""
    if len(legal) > most:
        return ()
    spelled = _spelled(legal)
    found = []
    for move in legal:
        answer = spelled.get(canonical(move), move)
        found.append(Choice(_words(answer), move, answer))
    return tuple(found)


def menu(legal: Legal) -> tuple[Choice, ...]:
    """The choices that may be answered by number, from 1. None where a move is itself a number, or there are many."""
    found = choices(legal, MENU)
    return () if any(choice.words.lstrip("-").isdigit() for choice in found) else found


def line_for(move: Move, legal: Legal) -> str:
    """A line that `read_line` reads as this legal move."""
    return canonical(_spelled(legal).get(canonical(move), move))


def example(legal: Legal) -> str:
    """The game's own example of an answer, in words; no hint at a good move."""
    move = read_line(legal.answer.example, legal)
    return _words(_spelled(legal).get(canonical(move), move))


def read_line(line: str, legal: Legal) -> Move:
    """The legal move that a person's line stands for. Raises MoveRefused with a line that says why there is none."""
    text = line.strip()
    if not text:
        raise MoveUnreadable("write a move")
    if len(text) > _LONGEST:
        raise MoveUnreadable(f"{len(text):,} characters are too many for a move")
    offered = menu(legal)
    if offered and text.isascii() and text.isdigit():
        place = int(text) if len(text) < 9 else 0
        if not 1 <= place <= len(offered):
            raise MoveIllegal(f"the choices are 1 to {len(offered)}, and {text[:9]} is none of them")
        return offered[place - 1].move
    try:
        move = legal.read(_value(text, legal))
    except MoveRefused:
        begun = [choice for choice in choices(legal, MENU) if _folded(choice.words).startswith(_folded(text))]
        if len(begun) != 1:
            raise
        return begun[0].move
    if move is None:  # what becomes of a seat that did not move is the rules' word, and never offered
        raise MoveUnreadable("null is no move; write one of those that are offered")
    return move


def _value(text: str, legal: Legal) -> Json:
    """What the line says, as a game reads it."""
    form = legal.answer
    value = _json(text)
    if isinstance(value, dict):
        present = {key: value[key] for key in form.keys if key in value}
        if not present:
            return value
        return next(iter(present.values())) if len(form.keys) == 1 else present
    if isinstance(value, list) and len(form.required) > 1 and len(form.required) <= len(value) <= len(form.keys):
        return dict(zip(form.keys, value, strict=False))
    if len(form.keys) > 1 and len(form.required) == 1 and not isinstance(value, list):
        return {form.required[0]: value}
    return value


def _json(text: str) -> Json:
    """Strict JSON; else one word as a text, and several as a list in which whole numbers are numbers."""
    try:
        value: Json = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        words = text.replace(",", " ").split()
        return words[0] if len(words) == 1 else [_word(word) for word in words]
    return value


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _word(word: str) -> Json:
    digits = word.removeprefix("-")
    return int(word) if digits.isascii() and digits.isdigit() and len(digits) < 19 else word


def _words(move: Move) -> str:
    """A move as words that `_json` turns back into it."""
    if isinstance(move, str):
        return move
    if isinstance(move, list | tuple):
        return " ".join(map(str, move))
    if isinstance(move, dict):
        return " ".join(str(value) for value in move.values())
    return canonical(move)


def _spelled(legal: Legal) -> dict[str, Json]:
    """The answer by move, where an answer has several parts of which each has a few values. Of several answers for one
    move, the one that the game's own line shows, or else the first."""
    form = legal.answer
    if len(form.required) < 2:
        return {}
    values: list[list[Json]] = []
    for key in form.required:
        part = form.schema.get(key)
        listed = part.get("enum") if isinstance(part, Mapping) else None
        if not isinstance(listed, list | tuple):
            return {}
        values.append(list(listed))
    described = legal.describe()
    found: dict[str, Json] = {}
    for combination in islice(product(*values), _COMBINATIONS):
        answer = dict(zip(form.required, combination, strict=True))
        try:
            move = canonical(legal.read(answer))
        except MoveRefused:
            continue
        if move not in found or json.dumps(answer) in described:
            found[move] = answer
    return found


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace(",", " ").split())
