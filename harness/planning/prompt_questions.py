"""What a prompt makes of a game: the messages that a seat would really get, question by question.

Owns the rendering of two prompts on one and the same pilot episode, and what of a prompt's file never reaches a model.
The episode is played offline: a scripted policy moves for the model, so both prompts meet the same positions. Asks no
model, writes nothing, compares nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weigh.games.game import Json
from weigh.harness.planning.estimates import CHARACTERS_PER_TOKEN
from weigh.harness.planning.stand_in import StandIn, StoodIn
from weigh.harness.providers.endpoints.endpoints import Endpoint
from weigh.harness.run.offline import PURPOSE, played
from weigh.harness.run.runner import Division
from weigh.policies.contract import Completion, Request, canonical
from weigh.policies.prompted import PromptedPolicy
from weigh.policies.scripted.registry import fallback_of, scripted, yardsticks

SEAT = 0
"""Where the prompt is seated."""

SEED = 0
"""Of the pilot's deal, aliases and scripted chance."""


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
        said = [[message.role, message.text] for message in self.request.messages]
        return hashlib.sha256(canonical([said, self.request.schema]).encode()).hexdigest()


async def questions(policy: PromptedPolicy) -> tuple[Question, ...]:
    """Every question of one pilot episode with `policy` at SEAT and scripted policies everywhere else.

    Which episode it is depends on the game and its config alone. No second attempts, and no notes.
    """
    game, config = policy.game, policy.config
    movers = yardsticks(game.name)
    table = [scripted(game.name, movers[seat % len(movers)]) for seat in range(game.seat_count(config))]
    line = _Listening()
    division = Division(game, config, {}, fallback_of(game.name))
    seated = [StoodIn(policy, mover) if seat == SEAT else mover for seat, mover in enumerate(table)]
    await played(division, seated, f"{PURPOSE}/prompts/{game.name}", 0, SEED, {SEAT: line})
    return tuple(line.heard)


@dataclass(slots=True)
class _Listening(StandIn):
    """A stand-in that keeps what it is asked."""

    heard: list[Question] = field(default_factory=list)

    async def complete(self, request: Request) -> Completion:
        self.heard.append(Question(self.step, request))
        return await StandIn.complete(self, request)


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


def tokens(characters: int) -> int:
    """About how many tokens they are, at four characters each."""
    return round(characters / CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class FileForm:
    """What of a prompt file's form is taken away before a model sees it."""

    byte_order_mark: bool
    line_ends: str
    """`LF`, `CRLF`, `CR`, `none`, or several of them joined by `and`."""
    blanks_around: bool
    """Whether blanks or empty lines stand at its beginning or end, one line end aside."""

    def to_json(self) -> dict[str, Json]:
        return {
            "byte_order_mark": self.byte_order_mark,
            "line_ends": self.line_ends,
            "blanks_around": self.blanks_around,
        }


def form_of(content: bytes) -> FileForm:
    """The form of a prompt file that was read without an error."""
    text = content.decode("utf-8")
    bare = text.removeprefix("\ufeff")
    ends = {"LF": r"(?<!\r)\n", "CRLF": "\r\n", "CR": r"\r(?!\n)"}
    found = [name for name, end in ends.items() if re.search(end, bare)]
    plain = bare.replace("\r\n", "\n").replace("\r", "\n")
    return FileForm(bare != text, " and ".join(found) or "none", plain.removesuffix("\n") != plain.strip())


def form_lines(first: FileForm, second: FileForm) -> Sequence[str]:
    """How two files differ in what is never sent, a line each."""
    lines = []
    if first.byte_order_mark != second.byte_order_mark:
        lines.append(f"only {'A' if first.byte_order_mark else 'B'} begins with a byte order mark")
    if first.line_ends != second.line_ends:
        lines.append(f"line ends: A {first.line_ends}, B {second.line_ends}")
    if first.blanks_around != second.blanks_around:
        lines.append(f"only {'A' if first.blanks_around else 'B'} has blanks or empty lines at its beginning or end")
    return lines
