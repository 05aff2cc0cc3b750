"""What every wire shape shares: values read from answers, turns of a conversation, and schemas, as they are sent.

Reading is careful: compatible servers differ from the providers' own schemas in every field there is, so values are
read one by one, and what is not needed is not looked at: no unknown tier, role or reason can spoil a good answer. Turns
go out as clean text in strict alternation. A schema may be written in a weaker way for an endpoint that enforces only a
part of JSON Schema; it then admits more than the rules do, and what comes back is put to the rules either way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from weigh.games.game import Json
from weigh.harness.providers.endpoints.endpoints import Endpoint
from weigh.harness.providers.wire.capabilities import Capabilities
from weigh.policies.contract import Message


class NoAnswer(Exception):
    """An answer with status 200 that holds none. The message says what is missing."""


def table(value: object, *path: str) -> Mapping[str, Any]:
    """The object at `path` below `value`, empty where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> Iterator[Mapping[str, Any]]:
    """The objects of a list; whatever is not an object is passed over."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, Mapping))


def words(value: object) -> str:
    """Text, empty where there is none. Lone surrogates are replaced: they could neither be stored nor sent again."""
    return sendable(value) if isinstance(value, str) else ""


def parts(content: object, kinds: tuple[str, ...] = ("text", "output_text")) -> str:
    """Visible text of a content field: a string, or a list of parts of which those of `kinds` are joined."""
    if isinstance(content, list):
        return "".join(
            words(part) if isinstance(part, str) else words(part.get("text"))
            for part in content
            if isinstance(part, str) or (isinstance(part, Mapping) and part.get("type", "text") in kinds)
        )
    return words(content)


def count(value: object) -> int | None:
    """A number of tokens, or None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    return int(value) if 0 <= value < 2**53 and value == int(value) else None


def first_count(*values: object) -> int | None:
    """The first of several fields that is a number of tokens."""
    return next((found for value in values if (found := count(value)) is not None), None)


def cost(counted: Mapping[str, Any]) -> float | None:
    """US dollars, where a usage states them. OpenRouter's are its own share alone where the key to the provider behind
    it is the user's: the provider's share stands beside it then."""
    stated = _dollars(counted.get("cost"))
    if stated is None or counted.get("is_byok") is not True:
        return stated
    behind = _dollars(table(counted, "cost_details").get("upstream_inference_cost"))
    return None if behind is None else stated + behind


def _dollars(value: object) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0.0 <= value < 1e6 else None  # type: ignore[operator,arg-type]


@dataclass(slots=True)
class Turn:
    """One message as it is sent."""

    role: str
    pieces: list[str]
    """The text, in the parts that a cache may be told of."""
    stable: int = 0
    """How many of the pieces, from the first, later requests will repeat."""

    @property
    def content(self) -> str:
        """The whole text."""
        return "".join(self.pieces)

    def sent(self, mark: Mapping[str, Any], kind: str = "text") -> dict[str, Any]:
        """The message with its text in one string; with a `mark`, as text blocks of one `kind`, one a piece, of which
        the newest two stable ones bear it: the one before, where the last request's cache entry ends, and the newest,
        where this one's shall."""
        if not mark or not self.stable:
            return {"role": self.role, "content": self.content}
        blocks: list[dict[str, Any]] = [{"type": kind, "text": piece} for piece in self.pieces]
        for block in blocks[max(0, self.stable - 2) : self.stable]:
            block |= mark
        return {"role": self.role, "content": blocks}


def mark_of(endpoint: Endpoint, takes: Capabilities) -> dict[str, Any]:
    """What a block bears that ends a part to be cached; empty where none does."""
    if takes.marks == "openai":
        return {"prompt_cache_breakpoint": {"mode": "explicit"}}
    if takes.marks == "anthropic":
        return {"cache_control": {"type": "ephemeral"} | ({"ttl": "1h"} if endpoint.cache_ttl == "1h" else {})}
    return {}


def turns(messages: Iterable[Message], *, system: bool) -> tuple[str, list[Turn]]:
    """The system text (empty when there is none), and the user and assistant turns in strict alternation, user first.

    Neighbours of one role are merged, and blank turns left out: chat templates and providers refuse both. With `system`
    false, the system text stands at the head of the first user turn and the first part returned is empty.
    """
    instructions = ""
    dialogue: list[Turn] = []
    for message in messages:
        pieces = _solid(map(sendable, message.parts))
        if not pieces:
            continue
        if message.role == "system":
            text = "".join(pieces)
            instructions = f"{instructions}\n\n{text}" if instructions else text
        elif dialogue and dialogue[-1].role == message.role:
            dialogue[-1].pieces[-1] += f"\n\n{pieces[0]}"
            dialogue[-1].pieces += pieces[1:]
        else:
            dialogue.append(Turn(message.role, pieces, min(len(message.cuts), len(pieces))))
    if instructions and not system:
        if dialogue and dialogue[0].role == "user":
            dialogue[0].pieces.insert(0, f"{instructions}\n\n")
            dialogue[0].stable += 1
        else:
            dialogue.insert(0, Turn("user", [instructions], 1))
        instructions = ""
    return instructions, dialogue


def _solid(pieces: Iterable[str]) -> list[str]:
    """The pieces, those of white space alone joined to their neighbours, since providers refuse a blank block."""
    solid: list[str] = []
    for piece in pieces:
        if solid and not (piece.strip() and solid[-1].strip()):
            solid[-1] += piece
        else:
            solid.append(piece)
    return solid if "".join(solid).strip() else []


def sendable(text: str) -> str:
    """`text` without lone surrogates, which have no UTF-8 form: a pair becomes its character, one alone U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def without_tuples(schema: Mapping[str, Json]) -> dict[str, Json]:
    """`schema` with every `prefixItems` written as `items`: each place of such a list takes what any of them takes.

    Bounds on the length stay, so a list keeps its number of items and loses their order.
    """
    weaker = {key: _weakened(value) for key, value in schema.items() if key != "prefixItems"}
    places = schema.get("prefixItems")
    if isinstance(places, list | tuple):
        options: list[Json] = []
        for place in map(_weakened, places):
            if place not in options:
                options.append(place)
        weaker["items"] = options[0] if len(options) == 1 else {"anyOf": options}
    return weaker


def _weakened(value: Json) -> Json:
    if isinstance(value, Mapping):
        return without_tuples(value)
    if isinstance(value, list | tuple):
        return [_weakened(item) for item in value]
    return value
