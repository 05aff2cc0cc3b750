"""A value that satisfies a JSON Schema, drawn from a stream of randomness.

Owns the subset that structured output is used with here: enum, const, the types, bounds of numbers, strings and arrays,
nested objects, `anyOf`/`oneOf`, and `$ref` within the schema. Knows nothing of requests or games.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Literal, TypeAlias

Pick: TypeAlias = Literal["any", "first", "last"]
"""Which of several values is taken: a drawn one, or always the first (lowest) or the last (highest)."""

_DEEPEST = 40
_LONGEST = 100_000
"""The most characters or items a schema may insist on."""
_WIDE = 100
"""How far an unbounded number ranges, and an unbounded list or text extends beyond its least length."""
_WORDS = ("steady", "patient", "bold", "level", "quiet", "keen")
_UNSUPPORTED = ("allOf", "not", "if", "pattern", "patternProperties", "dependentSchemas", "multipleOf", "contains")


class SchemaUnsupported(ValueError):
    """A schema this generator does not know how to satisfy. The message names the keyword and where it stands."""


def generate(schema: Mapping[str, Any], rng: Random, pick: Pick = "any") -> Any:
    """One JSON value that satisfies `schema`. Equal arguments give equal values.

    Properties that are not required are left out about half the time. Raises SchemaUnsupported.
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

    def value(self, schema: object, path: str, depth: int) -> Any:
        if schema is True:
            schema = {"type": "null"}
        if not isinstance(schema, Mapping):
            raise SchemaUnsupported(f"{path}: a schema must be an object")
        if depth > _DEEPEST:
            raise SchemaUnsupported(f"{path}: the schema never ends")
        for keyword in _UNSUPPORTED:
            if keyword in schema:
                raise SchemaUnsupported(f"{path}: keyword {keyword!r} is not supported by this server")
        if "$ref" in schema:
            return self.value(self._referred(schema["$ref"], path), path, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._one(_list(schema["enum"], path))
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                return self.value(self._one(_list(schema[keyword], path)), path, depth + 1)
        kind = schema.get("type", "object" if "properties" in schema else None)
        if isinstance(kind, list):
            kind = self._one(_list(kind, path))
        return self._typed(kind, schema, path, depth)

    def _typed(self, kind: object, schema: Mapping[str, Any], path: str, depth: int) -> Any:
        if kind == "object":
            return self._object(schema, path, depth)
        if kind == "array":
            return self._array(schema, path, depth)
        if kind == "integer":
            return self._integer(schema, path)
        if kind == "number":
            return float(self._integer(schema, path))
        if kind == "string":
            return self._string(schema, path)
        if kind == "boolean":
            return self._one((False, True))
        if kind == "null":
            return None
        raise SchemaUnsupported(f"{path}: type {kind!r} is not supported by this server")

    def _object(self, schema: Mapping[str, Any], path: str, depth: int) -> dict[str, Any]:
        required = set(schema.get("required", ()))
        made = {}
        for name, inner in schema.get("properties", {}).items():
            if name in required or (depth < _DEEPEST // 2 and self._rng.random() < 0.5):
                made[name] = self.value(inner, f"{path}.{name}", depth + 1)
        missing = required - made.keys()
        if missing:
            raise SchemaUnsupported(f"{path}: required {min(missing)!r} is not among the properties")
        return made

    def _array(self, schema: Mapping[str, Any], path: str, depth: int) -> list[Any]:
        prefix = schema.get("prefixItems", [])
        least = max(int(schema.get("minItems", 0)), len(prefix))
        most = int(schema.get("maxItems", max(least, 1)))
        if least > _LONGEST:
            raise SchemaUnsupported(f"{path}: {least} items are too many")
        size = self._between(least, max(least, most))
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
        if most < least:
            raise SchemaUnsupported(f"{path}: no whole number lies within the bounds")
        return self._between(least, most)

    def _string(self, schema: Mapping[str, Any], path: str) -> str:
        least = int(schema.get("minLength", 0))
        most = int(schema.get("maxLength", least + _WIDE))
        if most < least or least > _LONGEST:
            raise SchemaUnsupported(f"{path}: no text has a length within the bounds")
        text: str = self._one(_WORDS)
        while len(text) < least:
            text += " " + self._one(_WORDS)
        return text[:most]

    def _between(self, least: int, most: int) -> int:
        if self._pick == "any":
            return self._rng.randint(least, most)
        return least if self._pick == "first" else most

    def _one(self, options: Sequence[Any]) -> Any:
        return options[self._between(0, len(options) - 1)]

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


def _list(value: object, path: str) -> Sequence[Any]:
    if not isinstance(value, list) or not value:
        raise SchemaUnsupported(f"{path}: a list of at least one value is needed")
    return value
