"""What a seat's requests share from round to round, and what caches by the vendors' rules make of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from weigh.games.game import AnyGame, State
from weigh.games.registry import GAMES
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.mock_server.caches import LEAST, LOOKBACK, Caches, CacheUse
from weigh.harness.providers.mock_server.exchange import Block, Call, Turn
from weigh.harness.providers.mock_server.wire import APIS
from weigh.harness.providers.wire.anthropic_messages import AnthropicMessages
from weigh.harness.providers.wire.capabilities import declared
from weigh.harness.providers.wire.openai_chat import OpenAIChat
from weigh.harness.providers.wire.openai_responses import OpenAIResponses
from weigh.policies.contract import Completion, Message, Request, Retry, Sampling
from weigh.policies.operator_prompt import parse_prompt
from weigh.policies.prompted import PromptedPolicy

WIRES: Mapping[str, tuple[Any, int]] = {
    "openai-chat": (OpenAIChat(), 0),
    "openai-responses": (OpenAIResponses(), 1),
    "anthropic": (AnthropicMessages(), 2),
}
NAMES = tuple(f"Name{number}" for number in range(26))
TEMPO = parse_prompt((files("weigh.prompts") / "goofspiel" / "tempo.md").read_text(), "tempo.md")
LONG = "x" * 4 * LEAST
MOST_SEATS = {name: game.seats[-1] for name, game in GAMES.items()}


class Listening:
    """Keeps the requests of one seat, and answers each with the middle of what is legal."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.reply = ""

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        return Completion(self.reply, "end")


def requests_of(game: AnyGame, seats: int, seat: int = 0) -> list[Request]:
    """All requests of one prompted seat in an episode whose other seats draw their moves."""
    config = game.config_type(**({"seats": seats} if "seats" in game.config_type.model_fields else {}))
    policy = PromptedPolicy("p", TEMPO, "m:m", Sampling(), "json-only", game, config)
    client = Listening()
    player = policy.sit(seat, Random(0), client)
    rng = Random(7)
    state: State = game.start(config, game.deal(config, Random(5)))
    while state.outcome is None:
        moves = {acting: state.legal(acting).sample(rng) for acting in sorted(state.to_act)}
        if seat in moves:
            observation = state.observe(seat, NAMES[: game.seat_count(config)])
            client.reply = observation.legal.answer.example
            asyncio.run(player.decide(observation, None))
        state = state.play(moves)
    return client.requests


def bodies(requests: list[Request], model: str, wire: str) -> list[dict[str, Any]]:
    endpoint = endpoint_for(model, {model: {"wire": wire}})
    shape, _ = WIRES[wire]
    return [shape.body(request, endpoint, declared(endpoint)) for request in requests]


def calls(requests: list[Request], model: str, wire: str) -> list[Call]:
    api = APIS[WIRES[wire][1]]
    return [api.read(json.dumps(body).encode()) for body in bodies(requests, model, wire)]


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_every_marked_prefix_is_a_block_prefix_of_the_next_request_with_the_most_seats(game: AnyGame) -> None:
    requests = requests_of(game, MOST_SEATS[game.name])
    assert len(requests) > 2
    blocks = [call.blocks for call in calls(requests, "anthropic:claude-opus-5-5", "anthropic")]
    for earlier, later in pairwise(blocks):
        last = max(index for index, block in enumerate(earlier) if block.marked)
        assert [block.text for block in later[: last + 1]] == [block.text for block in earlier[: last + 1]]
        assert later[last].marked, "the newest entry of the last request is looked up by a mark of its own"
        assert sum(block.marked for block in later) <= 4
        assert not later[-1].marked


@pytest.mark.parametrize("wire", WIRES)
def test_the_text_that_is_sent_is_the_prompt_whether_or_not_it_is_cut(wire: str) -> None:
    requests = requests_of(GAMES["goofspiel"], 4)
    model = "anthropic:claude-opus-5-5" if wire == "anthropic" else "openai:gpt-6-sol"
    for request, body in zip(requests, bodies(requests, model, wire), strict=True):
        content = (body.get("messages") or body["input"])[-1]["content"]
        text = content if isinstance(content, str) else "".join(part["text"] for part in content)
        assert text == request.messages[-1].text
        assert "".join(request.messages[-1].parts) == text


def test_a_second_attempt_repeats_the_marked_parts_of_the_first() -> None:
    game = GAMES["goofspiel"]
    config = game.config_type()
    policy = PromptedPolicy("p", TEMPO, "m:m", Sampling(), "json-only", game, config)
    client = Listening()
    player = policy.sit(0, Random(0), client)
    state = game.start(config, game.deal(config, Random(5)))
    state = state.play({seat: min(state.legal(seat)) for seat in sorted(state.to_act)})
    observation = state.observe(0, NAMES[: game.seat_count(config)])
    asyncio.run(player.decide(observation, None))
    asyncio.run(player.decide(observation, Retry("empty", "nothing was said", "Say a bid.")))
    first, second = client.requests
    assert second.messages[:2] == first.messages
    assert [message.cuts for message in second.messages[:2]] == [message.cuts for message in first.messages]


def cached_share(calls_made: list[Call]) -> tuple[float, int]:
    """The share of the input that was read from the cache, and the tokens that were written to it."""
    caches = Caches()
    used = [caches.use(call) for call in calls_made]
    whole = sum(call.input_tokens for call in calls_made)
    return sum(use.read for use in used) / whole, sum(use.written for use in used)


def test_thirteen_rounds_of_goofspiel_read_two_thirds_of_their_input_from_claudes_cache() -> None:
    seats = [
        calls(requests_of(GAMES["goofspiel"], 4, seat), "anthropic:claude-opus-5-5", "anthropic") for seat in range(4)
    ]
    in_order = [call for together in zip(*seats, strict=True) for call in together]
    assert len(in_order) == 4 * 13
    share, written = cached_share(in_order)
    assert share >= 0.65
    # Who the player is stands before the history: each seat writes its own, and no token of it twice.
    assert written == sum(cached_share(own)[1] for own in seats)
    for own in seats:
        assert cached_share(own)[1] <= own[-1].input_tokens
        assert cached_share(own)[1] < 0.1 * sum(call.input_tokens for call in own)


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses"])
def test_openais_own_caching_charges_nothing_for_writing(wire: str) -> None:
    requests = requests_of(GAMES["goofspiel"], 4)
    long = [replace(request, messages=(Message("system", LONG), *request.messages[1:])) for request in requests]
    share, written = cached_share(calls(long, "openai:gpt-5-mini", wire))
    assert share > 0.65
    assert written == 0


@pytest.mark.parametrize("model", ["openai:gpt-5.6-luna", "openrouter:anthropic/claude-opus-5.5"])
def test_marks_go_to_every_provider_that_takes_them(model: str) -> None:
    sent = bodies(requests_of(GAMES["goofspiel"], 4), model, "openai-chat")[-1]
    mark = "cache_control" if "claude" in model else "prompt_cache_breakpoint"
    marked = [
        part
        for turn in sent["messages"]
        if isinstance(turn["content"], list)
        for part in turn["content"]
        if mark in part
    ]
    assert len(marked) == 3
    assert ("prompt_cache_options" in sent) == (mark == "prompt_cache_breakpoint")


@pytest.mark.parametrize("model", ["openai:gpt-5-mini", "vllm:claude-like", "openrouter:openai/gpt-6-sol"])
def test_other_models_get_their_text_in_one_string(model: str) -> None:
    sent = bodies(requests_of(GAMES["goofspiel"], 4), model, "openai-chat")[-1]
    assert all(isinstance(turn["content"], str) for turn in sent["messages"])


def test_no_part_is_marked_where_the_settings_say_so() -> None:
    request = requests_of(GAMES["goofspiel"], 4)[-1]
    endpoint = endpoint_for("anthropic:claude-opus-5-5", {"anthropic": {"prompt_cache": False}})
    assert "cache_control" not in str(AnthropicMessages().body(request, endpoint, declared(endpoint)))
    hour = replace(endpoint_for("anthropic:claude-opus-5-5"), cache_ttl="1h")
    assert "'ttl': '1h'" in str(AnthropicMessages().body(request, hour, declared(hour)))


def block_call(*texts: str, marks: tuple[int, ...], wire: Any = "messages") -> Call:
    turns = tuple(Turn("user", text, (Block(text, index in marks),)) for index, text in enumerate(texts))
    return Call(wire, "m", {}, "d", turns, explicit=True)


def test_a_mark_reads_the_longest_entry_within_its_lookback_and_writes_the_rest() -> None:
    caches = Caches()
    first = caches.use(block_call(LONG, "a", marks=(0,)))
    assert (first.read, first.written > LEAST) == (0, True)
    again = caches.use(block_call(LONG, "b" * 400, marks=(0, 1)))
    assert (again.read, again.written) == (first.written, 101)
    assert caches.use(block_call(LONG + "y", "b", marks=(0,))).read == 0
    near = [LONG, *"abcdefghijklmnopqrstuv"]
    fresh = Caches()
    fresh.use(block_call(LONG, "z", marks=(0,)))
    assert fresh.use(block_call(*near, marks=(LOOKBACK - 1,))).read > 0
    fresh = Caches()
    fresh.use(block_call(LONG, "z", marks=(0,)))
    assert fresh.use(block_call(*near, marks=(LOOKBACK,))).read == 0


def test_what_is_shorter_than_the_least_entry_is_neither_read_nor_written() -> None:
    caches = Caches()
    short = block_call("x" * 400, marks=(0,))
    assert [caches.use(short), caches.use(short)] == [CacheUse(), CacheUse()]


def test_five_marks_are_refused_as_the_api_refuses_them() -> None:
    content = [{"type": "text", "text": str(n), "cache_control": {"type": "ephemeral"}} for n in range(5)]
    body = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": content}]}
    with pytest.raises(Exception, match="maximum of 4 blocks"):
        APIS[2].read(json.dumps(body).encode())
