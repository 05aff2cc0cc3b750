"""What the mock model says: a legal move in one of the house's answer styles, or a reply with a fault in it.

It plays from the request alone: by the JSON Schema where there is one, else by the line of legal moves and the form
or the example of an answer in the prompt. Every reply is a pure function of the options, the server's
seed among them, and the call. Knows no endpoint's shape, no HTTP and no fault plan.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any, Literal, TypeAlias

from weigh.games import legal_line
from weigh.harness.providers.mock_server.exchange import Answer, Call, Draws, RequestRefused
from weigh.harness.providers.mock_server.options import Options
from weigh.harness.providers.mock_server.rules import ReplyKind

Pick: TypeAlias = Literal["any", "first", "last"]
"""Which of several values is taken: a drawn one, or always the first (lowest) or the last (highest)."""

_PROSE = (
    "The last rounds were close, so I look for a move that keeps my options open.",
    "Two of the 3 others spent a lot early; a measured answer should do here.",
    "I compared what I could win now with what it would cost me later on.",
    "Holding back has worked so far, and nothing in round 1 or 2 speaks against it.",
    "This prize is worth some risk, yet not everything I have left.",
    "The others will likely expect the obvious move, so I avoid it.",
)
_NOTES = ("others bid high early", "save strength for the end", "watch who holds back", "nothing unusual so far")
_REASONING = "Weighing the moves."
_FAR_OFF = 1_000_003
"""Added to a number, it leaves every legal set there is."""

_SAID: Mapping[ReplyKind, Answer] = {
    "empty": Answer(""),
    "null": Answer(None),
    "refused": Answer(None, "refusal", refusal="I can't help with that."),
    "filtered": Answer("", "filter"),
    "pause": Answer("Let me check the earlier rounds first.", "pause"),
    "tool-calls": Answer(None, "tool_calls"),
}
"""The replies that say the same whatever was asked."""


def compose(call: Call, options: Options, kind: ReplyKind, text: str | None = None) -> Answer:
    """The reply of this kind, with `text` instead of the generated text where given, within the request's cap.

    Raises SchemaUnsupported when the request's schema is beyond the generator.
    """
    draws = Draws(options.seed, call.digest)
    if kind == "reasoning-only":  # hidden reasoning took the whole cap, and the answer never came
        answer = Answer("", "length", _REASONING, call.cap or 200)
    else:
        answer = _SAID.get(kind) or _saying(call, options, draws, kind)
        if call.reasoning:
            tokens = call.reasoning // 2 + draws.integer("reasoning", call.reasoning // 2 + 1)
            shown = "" if call.wire == "chat" else _REASONING  # that API keeps its reasoning to itself
            answer = replace(answer, reasoning=shown, reasoning_tokens=tokens)
    return (answer if text is None else replace(answer, text=text)).capped(call.cap)


def _saying(call: Call, options: Options, draws: Draws, kind: ReplyKind) -> Answer:
    """A reply with text that depends on the call."""
    value = _value(call, options, draws)
    prose = _PROSE[draws.integer("prose", len(_PROSE))]
    if kind == "unreadable":
        return Answer(f"{prose} I will decide when I have seen more.")
    if kind == "ambiguous":
        # Two different answers and neither ends the reply: a reader cannot tell which is meant.
        return Answer(f"Either {json.dumps(value)} or {json.dumps(spoiled(value))}, I cannot decide.")
    text = json.dumps(spoiled(value) if kind == "illegal" else value)
    if call.schema is None and not call.bare_json and options.answer_style == "reason-then-json":
        text = f"{prose}\n\n{text}"
    if kind == "truncated":  # within the JSON, after the first digit of a number: what is left must not be read
        end = text.rfind(":")
        return Answer(text[: end + 3] if end >= 0 else text[: len(text) // 2], "length")
    return Answer(text, reasoning=_REASONING, parts=True) if kind == "parts" else Answer(text)


def _value(call: Call, options: Options, draws: Draws) -> Any:
    """The answer as JSON. Models whose names end in `-first` or `-last` play the first or last legal move, all others
    a drawn one, so that a rehearsal has entrants that differ in strength."""
    pick: Pick = "first" if call.model.endswith("-first") else "last" if call.model.endswith("-last") else "any"
    rng = draws.rng("move")
    if call.schema is not None:
        return generate(call.schema, rng, pick)
    value = answer_to([turn.text for turn in call.turns if turn.role == "user"], rng, pick)
    if value is None:
        return options.constant
    if "notes" not in value and draws.fraction("notes") < options.notes_share:
        value = {**value, "notes": _NOTES[draws.integer("note", len(_NOTES))]}
    return value


def spoiled(value: Any) -> Any:
    """A copy of an answer in which the last number, or else the last text, is one that no rules allow."""
    for kind in (int, str):
        changed = _spoil(value, kind)
        if changed is not None:
            return changed
    return value


def _spoil(value: Any, kind: type) -> Any:
    """The changed copy; None when there is nothing of this kind in it."""
    if isinstance(value, dict | list):
        places = [*value] if isinstance(value, dict) else [*range(len(value))]
        for place in reversed(places):
            changed = None if place == "notes" else _spoil(value[place], kind)
            if changed is not None:
                copy = value.copy()
                copy[place] = changed
                return copy
    elif isinstance(value, kind) and not isinstance(value, bool):
        return value + _FAR_OFF if isinstance(value, int) else "no-such-move"
    return None


# By the prompt: the line of legal moves, and the form or an example of an answer.

_LEGAL = re.compile(r'[^"]*\b[Ll]egal\b[^:]{0,60}:[ \t]*(\S.*)')
"""`Your legal bids: 1, 2`, `Legal: 1 to 20`. What stands behind a quotation mark on its line is somebody's words."""
_FORM = re.compile(r'\{"\w+": [^{}\n]*\}')
_KEY = re.compile(r'"(\w+)":')
_DECODER = json.JSONDecoder()


def answer_to(user_turns: Sequence[str], rng: Random, pick: Pick) -> dict[str, Any] | None:
    """An answer in the form that the newest turn has, or as its example, with a legal move of the newest line of them.

    The example itself where no line is understood that fits it; None for a form, and when no turn (oldest first) has
    either.
    """
    example = next(filter(None, map(_example, reversed(user_turns))), None)
    line = next(filter(None, map(_legal_line, reversed(user_turns))), None)
    moves = legal_line.read(line, example) if example and line else None
    whole = None if example is None or None in example.values() else example
    if example is None or moves is None:
        return whole
    if isinstance(moves, dict):
        answer = dict(example)
        for name, values in moves.items():
            value = _one(values, rng, pick)
            answer.update(value if isinstance(value, dict) else {name: value})
        return answer
    keys = [key for key in example if key != "notes"]
    first = moves[0]
    if isinstance(first, dict):  # whole answers
        return _one(moves, rng, pick) if first.keys() & example.keys() else whole
    if len(keys) == 1 and (whole is None or isinstance(first, int) == isinstance(whole[keys[0]], int)):
        return {keys[0]: _one(moves, rng, pick)}
    return whole


def _one(moves: legal_line.Moves, rng: Random, pick: Pick) -> Any:
    return moves[rng.randrange(len(moves)) if pick == "any" else 0 if pick == "first" else len(moves) - 1]


def _legal_line(turn: str) -> str | None:
    """What the last line of a turn that states the legal moves says they are."""
    found = (_LEGAL.match(line) for line in reversed(turn.split("\n")))
    return next((match[1] for match in found if match), None)


def _example(turn: str) -> dict[str, Any] | None:
    """The last JSON object or form of a turn that stands in no other one and has more than notes in it."""
    examples = [found for found in _objects(turn) if found.keys() - {"notes"}]
    return examples[-1] if examples else None


def _objects(turn: str) -> Iterator[dict[str, Any]]:
    """JSON objects, and forms such as `{"bid": N}` with null for each value."""
    start = turn.find("{")
    while start >= 0:
        try:
            value, end = _DECODER.raw_decode(turn, start)
            yield value
        except (ValueError, RecursionError):
            end = start + 1
            if form := _FORM.match(turn, start):
                end = form.end()
                yield dict.fromkeys(_KEY.findall(form[0]))
        start = turn.find("{", end)


# By a JSON Schema.

_DEEPEST = 40
_LONGEST = 100_000
"""The most characters or items a schema may insist on."""
_WIDE = 100
"""How far an unbounded number ranges, and a list or an unbounded text extends beyond its least length."""
_WORDS = ("steady", "patient", "bold", "level", "quiet", "keen")
_UNSUPPORTED = ("allOf", "not", "if", "pattern", "patternProperties", "dependentSchemas", "multipleOf", "contains")


class SchemaUnsupported(RequestRefused):
    """A schema this generator does not know how to satisfy. The message names the keyword and where it stands."""

    def __init__(self, message: str) -> None:
        super().__init__(f"Invalid schema: {message}")


def generate(schema: Mapping[str, Any], rng: Random, pick: Pick = "any") -> Any:
    """One JSON value that satisfies `schema`. Equal arguments give equal values.

    Understands what structured output is used with here: enum, const, the types, bounds of numbers, strings and arrays,
    nested objects, `anyOf`/`oneOf`, and `$ref` within the schema. Properties that are not required are left out about
    half the time. Raises SchemaUnsupported.
    """
    try:
        return _Generator(schema, rng, pick).value(schema, "$", 0)
    except (TypeError, AttributeError) as error:  # e.g. "minItems": "two", "properties": []
        raise SchemaUnsupported(f"the schema is not well-formed: {error}") from error


class _Generator:
    """One walk over one schema."""

    def __init__(self, root: Mapping[str, Any], rng: Random, pick: Pick) -> None:
        self._root = root
        self._rng = rng
        self._pick = pick

    def value(self, schema: Any, path: str, depth: int) -> Any:
        if schema is True:
            return None
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            raise SchemaUnsupported(f"{path}: a schema must be an object, at most {_DEEPEST} deep")
        for keyword in _UNSUPPORTED:
            if keyword in schema:
                raise SchemaUnsupported(f"{path}: keyword {keyword!r} is not supported by this server")
        if "$ref" in schema:
            return self.value(self._referred(schema["$ref"], path), path, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._one(schema["enum"], path)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                return self.value(self._one(schema[keyword], path), path, depth + 1)
        kind = schema.get("type", "object" if "properties" in schema else None)
        match self._one(kind, path) if isinstance(kind, list) else kind:
            case "object":
                return self._object(schema, path, depth)
            case "array":
                return self._array(schema, path, depth)
            case "integer":
                return self._integer(schema, path)
            case "number":
                return float(self._integer(schema, path))
            case "string":
                return self._string(schema, path)
            case "boolean":
                return self._one([False, True], path)
            case "null":
                return None
            case other:
                raise SchemaUnsupported(f"{path}: type {other!r} is not supported by this server")

    def _object(self, schema: Mapping[str, Any], path: str, depth: int) -> dict[str, Any]:
        required = set(schema.get("required", ()))
        made = {}
        for name, inner in schema.get("properties", {}).items():
            if name in required or (depth < _DEEPEST // 2 and self._rng.random() < 0.5):
                made[name] = self.value(inner, f"{path}.{name}", depth + 1)
        if missing := required - made.keys():
            raise SchemaUnsupported(f"{path}: required {min(missing)!r} is not among the properties")
        return made

    def _array(self, schema: Mapping[str, Any], path: str, depth: int) -> list[Any]:
        prefix = schema.get("prefixItems", [])
        least = max(int(schema.get("minItems", 0)), len(prefix))
        most = min(int(schema.get("maxItems", max(least, 1))), least + _WIDE)
        if least > _LONGEST:
            raise SchemaUnsupported(f"{path}: {least} items are too many")
        size = self._between(least, max(least, most), path)
        items = [self.value(inner, f"{path}[{index}]", depth + 1) for index, inner in enumerate(prefix)]
        tries = 0
        while len(items) < size:
            item = self.value(schema.get("items", True), f"{path}[{len(items)}]", depth + 1)
            tries += 1
            if not (schema.get("uniqueItems") and item in items):
                items.append(item)
            elif self._pick != "any" or tries > 100 * size:
                raise SchemaUnsupported(f"{path}: {size} different items are not to be had")
        return items

    def _integer(self, schema: Mapping[str, Any], path: str) -> int:
        low, high = schema.get("minimum"), schema.get("maximum")
        if "exclusiveMinimum" in schema:
            low = math.floor(schema["exclusiveMinimum"]) + 1
        if "exclusiveMaximum" in schema:
            high = math.ceil(schema["exclusiveMaximum"]) - 1
        if low is None:
            low = 0 if high is None or high >= 0 else high - _WIDE
        least = math.ceil(low)
        most = math.floor(least + _WIDE if high is None else high)
        return self._between(least, most, path)

    def _string(self, schema: Mapping[str, Any], path: str) -> str:
        least = int(schema.get("minLength", 0))
        most = int(schema.get("maxLength", least + _WIDE))
        if most < least or least > _LONGEST:
            raise SchemaUnsupported(f"{path}: no text has a length within the bounds")
        text: str = self._one(_WORDS, path)
        while len(text) < least:
            text += " " + self._one(_WORDS, path)
        return text[:most]

    def _between(self, least: int, most: int, path: str) -> int:
        if most < least:
            raise SchemaUnsupported(f"{path}: no value lies within the bounds")
        return self._rng.randint(least, most) if self._pick == "any" else least if self._pick == "first" else most

    def _one(self, options: Any, path: str) -> Any:
        if not isinstance(options, list | tuple):
            raise SchemaUnsupported(f"{path}: a list is needed")
        return options[self._between(0, len(options) - 1, path)]

    def _referred(self, ref: object, path: str) -> object:
        if not isinstance(ref, str) or not ref.startswith("#"):
            raise SchemaUnsupported(f"{path}: $ref {ref!r} leads out of the schema")
        found: object = self._root
        for step in ref[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or name not in found:
                raise SchemaUnsupported(f"{path}: $ref {ref!r} leads nowhere")
            found = found[name]
        return found
