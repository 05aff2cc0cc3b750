"""Two prompts side by side: what a model would be sent by each, and in what they differ.

Both are rendered at the same positions of one pilot episode, played offline: a scripted policy moves for the model.
Owns the comparison as a value, what of a prompt's file never reaches a model, and the JSON form, whose keys are a
contract. Renders nothing, asks no model and writes nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from weigh.games.game import Json
from weigh.harness.config.prompt_files import PromptFile
from weigh.harness.planning.estimates import CHARACTERS_PER_TOKEN
from weigh.harness.planning.pilots import Rehearsal
from weigh.harness.planning.prompt_diff import TextDiff, by_lines
from weigh.harness.providers.endpoints.endpoints import Endpoint
from weigh.harness.run.offline import PURPOSE, played
from weigh.harness.run.runner import Division
from weigh.policies.contract import Request, Sampling, Style, canonical
from weigh.policies.prompted import PromptedPolicy
from weigh.policies.scripted.registry import fallback_of, scripted, yardsticks

SEAT = 0
"""Where the prompt is seated."""

SEED = 0
"""Of the pilot's deal, aliases and scripted chance."""

Differs: TypeAlias = Literal["messages", "schema", "model", "sampling"]
"""A part of what is sent."""

Differ: TypeAlias = Callable[[str, str], TextDiff]


def tokens(characters: int) -> int:
    """About how many tokens they are, at four characters each."""
    return round(characters / CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Question:
    """One question that a seat's model would have been asked."""

    step: int
    """Of the episode, from 0."""
    request: Request

    @property
    def system(self) -> str:
        return self.request.messages[0].text

    @property
    def user(self) -> str:
        return self.request.messages[1].text

    @property
    def characters(self) -> int:
        """Of both messages."""
        return len(self.system) + len(self.user)

    @property
    def digest(self) -> str:
        """SHA-256, hex, over the canonical JSON of the messages and the schema: not over model and sampling."""
        texts = [[message.role, message.text] for message in self.request.messages]
        return hashlib.sha256(canonical([texts, self.request.schema]).encode()).hexdigest()

    def to_json(self) -> dict[str, Json]:
        return {"digest": self.digest, "characters": self.characters, "tokens": tokens(self.characters)}


async def questions(policy: PromptedPolicy) -> tuple[Question, ...]:
    """Every question of one pilot episode with `policy` at SEAT and scripted policies everywhere else.

    Which episode it is depends on the game and its config alone. No second attempts, and no notes.
    """
    game, config = policy.game, policy.config
    movers = yardsticks(game.name)
    table = [scripted(game.name, movers[seat % len(movers)]) for seat in range(game.seat_count(config))]
    seat = Rehearsal([policy], table[SEAT])
    division = Division(game, config, {}, fallback_of(game.name))
    seated = [seat if n == SEAT else mover for n, mover in enumerate(table)]
    record = await played(division, seated, f"{PURPOSE}/prompts/{game.name}", 0, SEED)
    steps = [decision.step for decision in record.decisions if decision.seat == SEAT]
    return tuple(Question(step, request) for step, request in zip(steps, seat.requests, strict=True))


@dataclass(frozen=True, slots=True)
class Sent:
    """One question as it leaves for an endpoint."""

    body: Mapping[str, Any]
    """Of the HTTP request, as far as it is known before the first answer."""
    tokens: int
    """Of the prompt, at about four characters each."""
    cached: int
    """How many of them come from the endpoint's cache, by its documented rules, after the questions before it."""


def sent(asked: Sequence[Question], endpoint: Endpoint) -> tuple[Sent, ...]:
    """The questions of one episode, in their order, as they leave for `endpoint`; its cache is empty before them."""
    from weigh.harness.providers.client import wire_of
    from weigh.harness.providers.mock_server.caches import Caches
    from weigh.harness.providers.mock_server.wire import APIS
    from weigh.harness.providers.wire.capabilities import declared

    wire, takes, caches = wire_of(endpoint), declared(endpoint), Caches()
    (api,) = (api for api in APIS if api.path.endswith(wire.path))
    found = []
    for question in asked:
        body = wire.body(question.request, endpoint, takes)
        call = api.read(json.dumps(body).encode())
        found.append(Sent(body, call.input_tokens, caches.use(call).read))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class FileForm:
    """What of a prompt file's form is taken away before a model sees it."""

    byte_order_mark: bool
    line_ends: str
    """`LF`, `CRLF`, `CR`, `none`, or several of them joined by `and`."""
    blanks_around: bool
    """Whether blanks or empty lines stand at its beginning or end, one line end aside."""


def form_of(content: bytes) -> FileForm:
    """The form of a prompt file that was read without an error."""
    text = content.decode("utf-8")
    bare = text.removeprefix("\ufeff")
    ends = {"LF": r"(?<!\r)\n", "CRLF": "\r\n", "CR": r"\r(?!\n)"}
    found = [name for name, end in ends.items() if re.search(end, bare)]
    plain = bare.replace("\r\n", "\n").replace("\r", "\n")
    return FileForm(bare != text, " and ".join(found) or "none", plain.removesuffix("\n") != plain.strip())


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
            "file_form": asdict(self.form),
            "episode_characters": self.characters,
            "episode_tokens": tokens(self.characters),
        }

    def settings(self) -> dict[str, tuple[str, bool]]:
        """How the prompt is fielded, by key, and whether a model notices it."""
        prompt = self.file.prompt
        found = {
            "name": (prompt.name, False),
            "game": (", ".join(prompt.games) or "any", False),
            "style": (self.style, True),
            "description": (prompt.description or "(none)", False),
        }
        if self.model is not None and self.sampling is not None:
            found["model"] = self.model, True
            found |= {key: (str(value), True) for key, value in self.sampling.to_json().items()}
        return found


@dataclass(frozen=True, slots=True)
class HeaderChange:
    """One thing about how a prompt is fielded."""

    key: str
    first: str
    second: str
    sent: bool
    """Whether a model notices."""


@dataclass(frozen=True, slots=True)
class Compared:
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
    def pairs(self) -> list[tuple[Question, Question]]:
        """The questions of both, step by step."""
        return list(zip(self.first.questions, self.second.questions, strict=True))

    @property
    def differs(self) -> tuple[Differs, ...]:
        """In what the requests differ, in any question of the episode; empty when no model could tell the two."""
        one, two = self.first, self.second
        both = one.model is not None and two.model is not None
        found: dict[Differs, bool] = {
            "messages": any(mine.request.messages != other.request.messages for mine, other in self.pairs),
            "schema": any(mine.request.schema != other.request.schema for mine, other in self.pairs),
            "model": both and one.model != two.model,
            "sampling": both and one.sampling != two.sampling,
        }
        return tuple(part for part, holds in found.items() if holds)

    @property
    def header(self) -> tuple[HeaderChange, ...]:
        """What differs in how the two are fielded; of models, where both have one."""
        one, two = self.first.settings(), self.second.settings()
        both = [key for key in one if key in two and one[key] != two[key]]
        return tuple(HeaderChange(key, one[key][0], two[key][0], one[key][1]) for key in both)

    @property
    def unsent(self) -> Sequence[str]:
        """In what the files differ that no model sees, a line each."""
        one, two = self.first, self.second
        if one.file.sha256 == two.file.sha256:
            return ()
        lines = []
        if one.form.byte_order_mark != two.form.byte_order_mark:
            lines.append(f"only {'A' if one.form.byte_order_mark else 'B'} begins with a byte order mark")
        if one.form.line_ends != two.form.line_ends:
            lines.append(f"line ends: A {one.form.line_ends}, B {two.form.line_ends}")
        if one.form.blanks_around != two.form.blanks_around:
            lines.append(
                f"only {'A' if one.form.blanks_around else 'B'} has blanks or empty lines at its beginning or end"
            )
        return lines or (() if self.differs or self.header else ("blanks in or around the header",))

    def messages(self, steps: Sequence[int], differ: Differ = by_lines) -> tuple[Compared, ...]:
        """The system message once, which is the same at every step, then the user message of each of `steps`."""
        asked = [(mine, other) for mine, other in self.pairs if mine.step in steps]
        texts: list[tuple[Literal["system", "user"], int, str, str]] = [
            ("system", mine.step, mine.system, other.system) for mine, other in asked[:1]
        ]
        texts += [("user", mine.step, mine.user, other.user) for mine, other in asked]
        return tuple(Compared(*text, differ(*text[2:])) for text in texts)

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
                    "a": mine.to_json(),
                    "b": other.to_json(),
                    "difference": {
                        "characters": other.characters - mine.characters,
                        "tokens": tokens(other.characters) - tokens(mine.characters),
                    },
                }
                for mine, other in self.pairs
            ],
            "messages": [message.to_json() for message in self.messages(steps)],
        }
