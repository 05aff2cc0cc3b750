"""Values that satisfy a schema."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from weigh.harness.providers.mock_server.schema_values import SchemaUnsupported, generate

BID = {
    "type": "object",
    "properties": {"bid": {"type": "integer", "enum": [1, 2, 5, 9]}},
    "required": ["bid"],
    "additionalProperties": False,
}


@given(st.integers())
def test_an_enum_is_picked_from(seed: int) -> None:
    assert generate(BID, Random(seed))["bid"] in (1, 2, 5, 9)


def test_every_value_of_an_enum_comes_up_about_as_often() -> None:
    rng = Random(1)
    drawn = [generate(BID, rng)["bid"] for _ in range(4000)]
    assert all(850 < drawn.count(bid) < 1150 for bid in (1, 2, 5, 9))


def test_first_and_last_are_the_ends_of_what_is_allowed() -> None:
    assert generate(BID, Random(3), "first") == {"bid": 1}
    assert generate(BID, Random(3), "last") == {"bid": 9}
    assert generate({"type": "integer", "minimum": -3, "maximum": 4}, Random(3), "first") == -3
    assert generate({"type": "integer", "minimum": -3, "maximum": 4}, Random(3), "last") == 4


class Leaf(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: str = Field(min_length=3, max_length=12)
    flag: bool
    score: float = Field(ge=-1, le=1)


class Tree(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    count: int = Field(ge=2, le=5)
    above: int = Field(gt=10, lt=12)
    leaf: Leaf
    leaves: list[Leaf] = Field(min_length=1, max_length=3)
    maybe: int | None
    left_out: str = "x"
    below: Tree | None = None


@given(st.integers())
def test_nested_models_validate_as_their_own_schema_says(seed: int) -> None:
    value = generate(Tree.model_json_schema(), Random(seed))
    found = TypeAdapter(Tree).validate_python(value)
    assert found.above == 11


@given(st.integers())
def test_tuples_and_unique_items_hold(seed: int) -> None:
    schema = {
        "type": "object",
        "properties": {
            "move": {
                "type": "array",
                "prefixItems": [{"const": "place"}, {"type": "integer"}],
                "items": {"type": "null"},
            },
            "hand": {"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 3, "maxItems": 3, "uniqueItems": True},
        },
        "required": ["move", "hand"],
    }
    value = generate(schema, Random(seed))
    assert value["move"][0] == "place" and len(value["move"]) == 2
    assert sorted(value["hand"]) == [1, 2, 3]


def test_the_same_stream_gives_the_same_value() -> None:
    schema = Tree.model_json_schema()
    assert generate(schema, Random(5)) == generate(schema, Random(5))


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"type": "string", "pattern": "a+"}, r"\$: keyword 'pattern'"),
        ({"type": "object", "properties": {"a": {"type": "thing"}}, "required": ["a"]}, r"\$\.a: type 'thing'"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, "no whole number"),
        ({"type": "object", "required": ["b"]}, "required 'b' is not among the properties"),
        ({"enum": []}, "a list of at least one value"),
        ({"$ref": "#/$defs/No"}, "leads nowhere"),
        ({"$ref": "other.json"}, "leads out of the schema"),
        ({"$ref": "#"}, "never ends"),
        ({"type": "array", "minItems": 10**9}, "too many"),
        ({"type": "array", "items": {"const": 1}, "minItems": 2, "uniqueItems": True}, "not to be had"),
        ({"type": "object", "properties": []}, "not well-formed"),
        ({"type": "string", "minLength": 5, "maxLength": 2}, "no text has a length"),
        ({"anyOf": [3]}, "must be an object"),
        ({}, "type None"),
    ],
)
def test_what_cannot_be_satisfied_is_named(schema: dict[str, Any], says: str) -> None:
    with pytest.raises(SchemaUnsupported, match=says) as caught:
        generate(schema, Random(0))
    assert "\n" not in str(caught.value)
