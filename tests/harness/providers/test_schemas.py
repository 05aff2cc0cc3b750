"""A schema that says what stands where in a list, for endpoints that take it and for those that do not."""

from __future__ import annotations

from typing import Any

import pytest

from weigh.games.ballast.moves import Actions
from weigh.games.game import Json
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.errors.reading import ProviderError
from weigh.harness.providers.wire.anthropic_messages import AnthropicMessages
from weigh.harness.providers.wire.body import without_tuples
from weigh.harness.providers.wire.capabilities import Capabilities, declared, learn
from weigh.harness.providers.wire.openai_chat import OpenAIChat
from weigh.harness.providers.wire.openai_responses import OpenAIResponses
from weigh.policies.contract import Message, Request, Sampling
from weigh.policies.layout import answer_schema

WORD: Json = {"type": "string", "enum": ["go"]}
DIGIT: Json = {"type": "integer", "enum": [1, 2]}
LEGAL = Actions(hand=(1, 3), scales=2, weights=3, targets=(4,))
REQUEST = Request("openai:gpt-5", (Message("user", "Your move?"),), Sampling(), answer_schema(LEGAL))


def test_places_become_items_of_any_of_their_kinds() -> None:
    schema: dict[str, Json] = {"type": "array", "prefixItems": [WORD, DIGIT, DIGIT], "minItems": 3, "maxItems": 3}
    assert without_tuples(schema) == {
        "type": "array",
        "items": {"anyOf": [WORD, DIGIT]},
        "minItems": 3,
        "maxItems": 3,
    }
    assert without_tuples({"prefixItems": [DIGIT, DIGIT]}) == {"items": DIGIT}


def test_everything_else_stays_wherever_it_stands() -> None:
    schema: dict[str, Json] = {"type": "object", "properties": {"bid": DIGIT}, "required": ["bid"]}
    assert without_tuples(schema) == schema
    nested: dict[str, Json] = {"anyOf": [{"prefixItems": [WORD]}, {"type": "null"}]}
    assert without_tuples(nested) == {"anyOf": [{"items": WORD}, {"type": "null"}]}


def schema_sent(model: str) -> Any:
    endpoint = endpoint_for(model, {"ours": {"base_url": "http://127.0.0.1:1/v1"}})
    body = OpenAIChat().body(REQUEST, endpoint, declared(endpoint))
    return body["response_format"]["json_schema"]["schema"]


@pytest.mark.parametrize("model", ["openai:gpt-5", "openai:gpt-4o", "openrouter:openai/gpt-5"])
def test_openai_gets_no_tuples(model: str) -> None:
    assert "prefixItems" not in repr(schema_sent(model))
    assert schema_sent(model)["properties"]["move"]["anyOf"][1]["items"] == {
        "anyOf": [{"type": "string", "enum": ["challenge"]}, {"type": "integer", "enum": [4]}]
    }


@pytest.mark.parametrize("model", ["vllm:qwen", "llamacpp:any", "local:smollm2", "ours:model"])
def test_servers_with_a_grammar_get_the_schema_as_it_is(model: str) -> None:
    endpoint = endpoint_for(model, {"ours": {"base_url": "http://127.0.0.1:1/v1"}})
    assert declared(endpoint).tuples
    assert OpenAIChat().body(REQUEST, endpoint, Capabilities())["response_format"]["json_schema"]["schema"] == (
        REQUEST.schema
    )


def test_the_other_wires_get_none_either() -> None:
    for wire, model in ((OpenAIResponses(), "openai:gpt-5"), (AnthropicMessages(), "anthropic:claude-sonnet-4-6")):
        endpoint = endpoint_for(model)
        body = wire.body(REQUEST, endpoint, declared(endpoint))
        assert "anyOf" in repr(body)
        assert "prefixItems" not in repr(body)


@pytest.mark.parametrize(
    "message",
    [
        "Invalid schema for response_format 'answer': In context=('move',), 'prefixItems' is not permitted.",
        "Invalid schema for response_format 'answer': array schema missing items.",
    ],
)
def test_an_endpoint_that_refuses_them_is_asked_without(message: str) -> None:
    found = learn(ProviderError(400, message), Capabilities())
    assert found is not None
    assert found.applied(Capabilities()) == Capabilities(tuples=False)
    assert learn(ProviderError(400, message), Capabilities(tuples=False)) is None
