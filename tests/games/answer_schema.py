"""Whether a value fits a JSON Schema, for the few keywords that games use. An unknown keyword is an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TYPES = {
    "integer": lambda value: type(value) is int,
    "string": lambda value: isinstance(value, str),
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, Mapping),
}


def fits(schema: Mapping[str, Any], value: Any) -> bool:
    return all(_fits_keyword(keyword, demand, schema, value) for keyword, demand in schema.items())


def _fits_keyword(keyword: str, demand: Any, schema: Mapping[str, Any], value: Any) -> bool:
    match keyword:
        case "type":
            return any(TYPES[kind](value) for kind in ([demand] if isinstance(demand, str) else demand))
        case "enum":
            return any(type(value) is type(one) and value == one for one in demand)
        case "anyOf":
            return any(fits(one, value) for one in demand)
        case "minimum":
            return type(value) is not int or value >= demand
        case "maximum":
            return type(value) is not int or value <= demand
        case "items":
            return not isinstance(value, list) or all(fits(demand, item) for item in value)
        case "prefixItems":
            return not isinstance(value, list) or all(map(fits, demand, value))
        case "minItems":
            return not isinstance(value, list) or len(value) >= demand
        case "maxItems":
            return not isinstance(value, list) or len(value) <= demand
        case "description":
            return True
    raise AssertionError(f"the check knows no keyword {keyword!r}: teach it in {__file__}")


def fits_answer(schema: Mapping[str, Mapping[str, Any]], required: tuple[str, ...], answer: Mapping[str, Any]) -> bool:
    """Whether an answer object has what is required, nothing beside the schema's keys, and values that fit."""
    return set(required) <= set(answer) <= set(schema) and all(fits(schema[key], answer[key]) for key in answer)
