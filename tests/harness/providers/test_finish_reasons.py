"""What each provider's word for why it stopped becomes, on every wire, and what becomes of a word nobody knows."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import BaseModel

from tests.harness.providers.raw_server import KEY, asking, chat, failure, http, message, request, responses
from weigh.harness.providers.client import MOST_SURPRISES, Wire
from weigh.harness.providers.wire.anthropic_messages import AnthropicMessages
from weigh.harness.providers.wire.body import NoAnswer
from weigh.harness.providers.wire.finish_reasons import MEANINGS, meaning_of, stop_of, surprise_in
from weigh.harness.providers.wire.openai_chat import OpenAIChat
from weigh.harness.providers.wire.openai_responses import OpenAIResponses
from weigh.policies.contract import STOPS, Completion

ANSWER = '{"bid": 7}'
WIRES: Mapping[str, Wire] = {
    "openai-chat": OpenAIChat(),
    "openai-responses": OpenAIResponses(),
    "anthropic": AnthropicMessages(),
}
each_wire = pytest.mark.parametrize("wire", WIRES)


def body(wire: str, word: str | None, text: str = ANSWER) -> dict[str, Any]:
    """An answer that stops with `word`, where the wire shape says such a thing."""
    if wire == "openai-chat":
        return chat(text, word)
    if wire == "anthropic":
        return message([{"type": "text", "text": text}] if text else [], word)
    return responses(text, status=word)


# -- the words that are known ------------------------------------------------------------------------------------------


def test_every_word_stands_in_the_table_as_it_is_looked_up_and_means_something() -> None:
    assert set(MEANINGS.values()) == {*STOPS, "outage"} - {"unknown"}
    for word, meaning in MEANINGS.items():
        assert meaning_of(word) == meaning


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("STOP", "end"),
        ("MAX_TOKENS", "length"),
        ("content-filter", "refusal"),
        ("Tool-Calls", "tool_calls"),
        ("content_filter: RECITATION", "refusal"),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", "malformed"),
        ("", None),
        ("OTHER", None),
        ("FINISH_REASON_UNSPECIFIED", None),
        ("null", None),
        ("stopped", None),
        (": stop", None),
    ],
)
def test_a_word_is_known_however_it_is_written(word: str, meaning: str | None) -> None:
    assert meaning_of(word) == meaning


@each_wire
@pytest.mark.parametrize("word", MEANINGS)
def test_a_known_word_means_the_same_on_every_wire(wire: str, word: str) -> None:
    if MEANINGS[word] == "outage":
        with pytest.raises(NoAnswer, match=word):
            WIRES[wire].read(body(wire, word))
        return
    completion = WIRES[wire].read(body(wire, word))
    assert (completion.text, completion.stop, completion.stop_detail) == (ANSWER, MEANINGS[word], word)
    assert surprise_in(completion) is None


@pytest.mark.parametrize("word", MEANINGS)
def test_an_incomplete_response_is_never_a_whole_answer(word: str) -> None:
    said = responses(status="incomplete", incomplete_details={"reason": word})
    if MEANINGS[word] == "outage":
        with pytest.raises(NoAnswer, match=word):
            WIRES["openai-responses"].read(said)
        return
    meant = "length" if MEANINGS[word] == "end" else MEANINGS[word]
    assert WIRES["openai-responses"].read(said).stop == meant


# -- the installed SDKs' own words -------------------------------------------------------------------------------------


def modules(package: ModuleType) -> Iterator[ModuleType]:
    yield package
    for found in pkgutil.walk_packages(getattr(package, "__path__", []), f"{package.__name__}."):
        yield importlib.import_module(found.name)


def literals(kind: object) -> Iterator[str]:
    """Every text of the Literals in a type."""
    if get_origin(kind) is Literal:
        yield from (word for word in get_args(kind) if isinstance(word, str))
    else:
        for part in get_args(kind):
            yield from literals(part)


def words_of(package: ModuleType, field: str, owners: tuple[str, ...] = ()) -> set[str]:
    """What a field of this name may say, in all answers of a package, or in those of the classes named."""
    return {
        word
        for module in modules(package)
        for name, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, BaseModel) and (not owners or name in owners)
        if field in kind.model_fields
        for word in literals(kind.model_fields[field].annotation)
    }


@pytest.mark.parametrize(
    ("package", "field", "owners", "among_them"),
    [
        ("anthropic.types", "stop_reason", (), {"end_turn", "compaction"}),
        ("openai.types.chat", "finish_reason", (), {"stop", "function_call"}),
        ("openai.types.completion_choice", "finish_reason", (), {"content_filter"}),
        ("openai.types.responses", "status", ("Response",), {"completed", "queued"}),
        ("openai.types.responses.response", "reason", ("IncompleteDetails",), {"max_output_tokens", "steered"}),
        ("openai.types.beta.beta_response", "status", ("BetaResponse",), {"completed", "failed"}),
        ("openai.types.beta.beta_response", "reason", ("IncompleteDetails",), {"max_output_tokens"}),
    ],
)
def test_every_word_of_the_installed_sdks_is_known(
    package: str, field: str, owners: tuple[str, ...], among_them: set[str]
) -> None:
    found = words_of(importlib.import_module(package), field, owners)
    assert found >= among_them, "the walk found less than there is"
    assert {word for word in found if meaning_of(word) is None} == set()


# -- words that nobody knows -------------------------------------------------------------------------------------------


@each_wire
@pytest.mark.parametrize("word", ["halted", "OTHER", None])
def test_a_word_that_is_not_known_is_said_so_with_the_word(wire: str, word: str | None) -> None:
    completion = WIRES[wire].read(body(wire, word))
    assert (completion.text, completion.stop, completion.stop_detail) == (ANSWER, "unknown", word)
    assert (word or "no finish reason") in (surprise_in(completion) or "")


@each_wire
@pytest.mark.parametrize("word", ["halted", None])
@pytest.mark.parametrize("text", ["", " \n"])
def test_without_text_it_is_no_answer(wire: str, word: str | None, text: str) -> None:
    failed = failure(http(body(wire, word, text)), wire=wire)
    assert (failed.decision, failed.billing, failed.status) == ("wait", "known", 200)  # it tells what it used
    assert (word or "no finish reason") in failed.cause


@each_wire
def test_a_server_that_broke_off_is_asked_again(wire: str) -> None:
    failed = failure(http(body(wire, "abort")), wire=wire)
    assert (failed.decision, failed.billing, failed.wait) == ("wait", "known", None)
    assert "abort" in failed.cause


def test_an_incomplete_response_of_an_unknown_reason_is_cut_and_said_so() -> None:
    completion = WIRES["openai-responses"].read(responses(status="incomplete", incomplete_details={"reason": "news"}))
    assert (completion.stop, completion.stop_detail) == ("length", "news")
    assert "news" in (surprise_in(completion) or "")


def test_gemini_leaves_out_the_message_where_a_filter_took_it() -> None:
    said = chat(None, "content_filter: PROHIBITED_CONTENT")
    del said["choices"][0]["message"]
    completion = WIRES["openai-chat"].read(said)
    assert (completion.text, completion.stop) == ("", "refusal")
    said["choices"][0]["finish_reason"] = "abort"
    with pytest.raises(NoAnswer, match="abort"):
        WIRES["openai-chat"].read(said)


def learned(*said: dict[str, Any]) -> tuple[str, ...]:
    """What a client notes of its model after these answers."""

    async def ask() -> tuple[str, ...]:
        async with asking(*map(http, said)) as (client, _):
            for _ in said:
                await client.complete(request())
            return client.adaptations

    return asyncio.run(ask())


def test_each_word_is_noted_once_on_a_line_that_is_safe_to_print() -> None:
    nasty = f"\x1b[31m{KEY}\u202e\n" + "x" * 100_000
    first, second, third = learned(*(chat(ANSWER, word) for word in ("halted", nasty, "halted", "stop", None)))
    assert '"halted"' in first
    assert len(second) < 200
    assert second.isprintable()
    assert KEY not in second
    assert "no finish reason" in third


def test_a_server_with_ever_new_words_is_noted_so_often_and_not_more() -> None:
    assert len(learned(*(chat(ANSWER, f"halted {n}") for n in range(MOST_SURPRISES + 5)))) == MOST_SURPRISES


@pytest.mark.parametrize("stop", [stop for stop in STOPS if stop != "unknown"])
def test_what_the_provider_says_of_a_refusal_is_no_unknown_word(stop: Any) -> None:
    assert surprise_in(Completion("", stop, stop_detail="refusal: I would rather not; it is: gambling")) is None


def test_stop_of_asks_for_text_only_where_the_word_is_not_known() -> None:
    assert [stop_of(word, "") for word in ("stop", "length", "safety", "tool_use", "malformed_tool_use")] == [
        "end",
        "length",
        "refusal",
        "tool_calls",
        "malformed",
    ]
