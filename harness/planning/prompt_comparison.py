"""Two prompts side by side: what a model would be sent by each, and in what they differ.

Owns the comparison as a value, what counts as a difference, and the JSON form, whose keys are a contract. Renders
nothing itself, and knows no terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weigh.games.game import Json
from weigh.harness.config.prompt_files import PromptFile
from weigh.harness.planning.prompt_diff import TextDiff, by_lines
from weigh.harness.planning.prompt_questions import FileForm, Question, form_lines, tokens
from weigh.policies.contract import Sampling, Style

Differs: TypeAlias = Literal["messages", "schema", "model", "sampling"]
"""A part of what is sent."""

Differ: TypeAlias = Callable[[str, str], TextDiff]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two."""

    word: str
    """As it was named on the command line."""
    file: PromptFile
    form: FileForm
    style: Style
    """In force: of the header, or of whatever stands above it."""
    model: str | None
    """`provider:model`; None for a prompt file alone, which could be played by any."""
    sampling: Sampling | None
    """None without a model."""
    policy: str | None
    """The policy's digest, None without a model."""
    questions: tuple[Question, ...]
    """Of the pilot episode."""

    @property
    def characters(self) -> int:
        """Of all messages of the episode."""
        return sum(question.characters for question in self.questions)

    def to_json(self) -> dict[str, Json]:
        prompt = self.file.prompt
        return {
            "word": self.word,
            "file": self.file.to_json()["file"],
            "file_sha256": self.file.sha256,
            "name": prompt.name,
            "games": list(prompt.games),
            "style": self.style,
            "description": prompt.description,
            "model": self.model,
            "sampling": None if self.sampling is None else self.sampling.to_json(),
            "policy_digest": self.policy,
            "file_form": self.form.to_json(),
            "episode_characters": self.characters,
            "episode_tokens": tokens(self.characters),
        }


@dataclass(frozen=True, slots=True)
class HeaderChange:
    """One thing about how a prompt is fielded."""

    key: str
    first: str
    second: str
    sent: bool
    """Whether a model notices."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One message of a question, in both."""

    role: Literal["system", "user"]
    step: int
    first: str
    second: str
    diff: TextDiff

    @property
    def same(self) -> bool:
        return self.first == self.second

    def to_json(self) -> dict[str, Json]:
        return {
            "role": self.role,
            "step": self.step,
            "same": self.same,
            "only_blanks_differ": self.diff.respaced,
            "a": self.first,
            "b": self.second,
            "diff": ["".join(piece.text for piece in line) for line in by_lines(self.first, self.second).lines],
            "hidden": [
                {"character": f"U+{ord(one.character):04X}", "name": one.named, "a": one.first, "b": one.second}
                for one in self.diff.hidden
            ],
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two prompts in one game, under one config."""

    game: str
    config: dict[str, Json]
    seats: int
    seat: int
    first: Side
    second: Side

    @property
    def differs(self) -> tuple[Differs, ...]:
        """In what the requests differ, in any question of the episode; empty when no model could tell the two."""
        one, two = self.first, self.second
        pairs = list(zip(one.questions, two.questions, strict=True))
        found: list[Differs] = []
        if any(mine.request.messages != other.request.messages for mine, other in pairs):
            found.append("messages")
        if any(mine.request.schema != other.request.schema for mine, other in pairs):
            found.append("schema")
        if one.model is not None and two.model is not None:
            if one.model != two.model:
                found.append("model")
            if one.sampling != two.sampling:
                found.append("sampling")
        return tuple(found)

    @property
    def header(self) -> tuple[HeaderChange, ...]:
        """What differs in how the two are fielded."""
        one, two = self.first, self.second
        mine, other = one.file.prompt, two.file.prompt
        told = [
            ("name", mine.name, other.name, False),
            ("game", ", ".join(mine.games) or "any", ", ".join(other.games) or "any", False),
            ("style", one.style, two.style, True),
            ("description", mine.description or "(none)", other.description or "(none)", False),
        ]
        if one.model is not None and two.model is not None:
            told.append(("model", one.model, two.model, True))
            keys = Sampling().to_json()
            for key in keys if one.sampling and two.sampling else ():
                values = [str(side.sampling.to_json()[key]) for side in (one, two) if side.sampling]
                told.append((key, values[0], values[1], True))
        return tuple(HeaderChange(*change) for change in told if change[1] != change[2])

    @property
    def unsent(self) -> Sequence[str]:
        """In what the files differ that no model sees, a line each."""
        if self.first.file.sha256 == self.second.file.sha256:
            return ()
        lines = form_lines(self.first.form, self.second.form)
        return lines or (() if self.differs or self.header else ("blanks in or around the header",))

    def messages(self, steps: Sequence[int], differ: Differ = by_lines) -> tuple[Shown, ...]:
        """The system message once, which is the same at every step, then the user message of each of `steps`."""
        told: list[Shown] = []
        for mine, other in zip(self.first.questions, self.second.questions, strict=True):
            if mine.step not in steps:
                continue
            if not told:
                told.append(_shown("system", mine.step, mine.system, other.system, differ))
            told.append(_shown("user", mine.step, mine.user, other.user, differ))
        return tuple(told)

    def to_json(self, steps: Sequence[int]) -> dict[str, Json]:
        """The whole comparison; of the messages, those of `steps`."""
        return {
            "schema_version": 1,
            "game": self.game,
            "config": self.config,
            "seats": self.seats,
            "seat": self.seat,
            "same": not self.differs,
            "differs": list(self.differs),
            "a": self.first.to_json(),
            "b": self.second.to_json(),
            "header": [{"key": each.key, "a": each.first, "b": each.second, "sent": each.sent} for each in self.header],
            "not_sent": list(self.unsent),
            "questions": [
                {
                    "step": mine.step,
                    "same": mine.digest == other.digest,
                    "a": _size(mine),
                    "b": _size(other),
                    "difference": {
                        "characters": other.characters - mine.characters,
                        "tokens": tokens(other.characters) - tokens(mine.characters),
                    },
                }
                for mine, other in zip(self.first.questions, self.second.questions, strict=True)
            ],
            "messages": [message.to_json() for message in self.messages(steps)],
        }


def _shown(role: Literal["system", "user"], step: int, first: str, second: str, differ: Differ) -> Shown:
    return Shown(role, step, first, second, differ(first, second))


def _size(question: Question) -> dict[str, Json]:
    return {
        "digest": question.digest,
        "characters": question.characters,
        "tokens": tokens(question.characters),
    }
