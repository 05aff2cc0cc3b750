"""What providers have done to public harnesses, and what becomes of it here."""

from __future__ import annotations

import asyncio
import errno
from dataclasses import replace
from random import Random

import pytest

from weigh.games.game import Observation
from weigh.games.registry import GAMES
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.errors.failures import decide, verdict
from weigh.harness.providers.errors.reading import ProviderError
from weigh.harness.providers.wire.openai_chat import usage
from weigh.harness.store.usage import characters_of, was_cut
from weigh.policies.contract import CONTEXT_FULL, Completion, Message, Reply, Request, Retry, Sampling, Usage
from weigh.policies.layout import hint, with_less_history
from weigh.policies.operator_prompt import OperatorPrompt
from weigh.policies.prompted import PromptedPolicy

GAME = GAMES["goofspiel"]
CONFIG = GAME.config_type()
POLICY = PromptedPolicy("long", OperatorPrompt("long", "Wait."), "fake:x", Sampling(), "reason-then-json", GAME, CONFIG)
TOO_LONG = Completion("", "length", usage=Usage(0, 0, 0, 0, 0), stop_detail=CONTEXT_FULL)
ENDPOINT = endpoint_for("vllm:some-model")


def seen(rounds: int) -> Observation:
    state = GAME.start(CONFIG, GAME.deal(CONFIG, Random(5)))
    for _ in range(rounds):
        state = state.play({seat: next(iter(state.legal(seat))) for seat in state.to_act})
    return state.observe(0, ("Quartz", "Onyx", "Jasper", "Beryl"))


class Asked:
    def __init__(self, *says: Completion) -> None:
        self.says = list(says)
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        return self.says.pop(0)


def attempts(observation: Observation, *says: Completion) -> tuple[list[Reply], list[str]]:
    """Both attempts at one decision: what came of them, and the last turn of what was asked."""
    model = Asked(*says)
    player = POLICY.sit(0, Random(0), model)

    async def decided() -> list[Reply]:
        first = await player.decide(observation, None)
        if first.fault is None:
            return [first]
        retry = Retry(first.fault, first.detail, hint(first.fault, first.detail, observation.legal))
        return [first, await player.decide(observation, retry)]

    replies = asyncio.run(decided())
    assert all(len(request.messages) in (2, 4) for request in model.requests)
    return replies, [request.messages[-1].text for request in model.requests]


def test_P31_a_prompt_that_does_not_fit_is_asked_once_more_with_half_the_history() -> None:
    observation = seen(6)
    bid = next(iter(observation.legal))
    replies, asked = attempts(observation, TOO_LONG, Completion(f'{{"bid": {bid}}}', "end"))
    assert [reply.fault for reply in replies] == ["truncated", None]
    assert "longer than the model's context" in replies[0].detail
    assert replies[1].move == bid
    assert asked[0].splitlines()[3:9] == list(observation.history)
    assert asked[1].splitlines()[3] == "(the earliest lines are left out, since they do not all fit: 3 of 6)"
    assert asked[1].splitlines()[4:7] == list(observation.history[3:])
    assert asked[1].partition("# Now")[2] == asked[0].partition("# Now")[2]
    assert len(asked[1]) < len(asked[0])


def test_P31_what_never_fits_is_the_fallbacks_to_play_with_the_reason() -> None:
    replies, _ = attempts(seen(6), TOO_LONG, TOO_LONG)
    assert [reply.fault for reply in replies] == ["truncated", "truncated"]
    assert all("give it a larger one" in reply.detail for reply in replies)


def test_P31_an_answer_cut_at_its_own_cap_is_still_told_to_be_brief() -> None:
    replies, asked = attempts(seen(6), Completion("Let me", "length"), Completion("", "end"))
    assert "cap on its tokens" in replies[0].detail
    assert asked[1].startswith("Your reply was cut off")


@pytest.mark.parametrize(("lines", "left"), [(0, 0), (1, 0), (2, 1), (5, 2)])
def test_P31_less_history_is_its_later_half(lines: int, left: int) -> None:
    short = with_less_history(replace(seen(0), history=tuple(map(str, range(lines)))))
    assert list(short.history[1:]) == [str(n) for n in range(lines - left, lines)]
    assert len(short.history) == (left + 1 if lines else 0)


@pytest.mark.parametrize(
    "error",
    [
        ProviderError(400, "'response_format' of type 'json_schema' is not supported", param="response_format"),
        ProviderError(400, "bad field", param="output_config"),
        ProviderError(422, "structured outputs are not enabled for this model"),
    ],
)
def test_P20_a_refused_schema_stops_the_run_with_the_fix(error: ProviderError) -> None:
    failed = verdict(error, ENDPOINT)
    assert failed.decision == "fatal"
    assert 'style = "json-only"' in failed.cause


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_O16_no_file_left_is_told_as_that_and_was_never_sent(number: int) -> None:
    failed = decide(OSError(number, "Too many open files"), ENDPOINT)
    assert failed is not None
    assert (failed.decision, failed.billing) == ("wait", "none")
    assert "ulimit -n" in failed.cause


@pytest.mark.parametrize(
    ("counted", "output", "reasoning"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 200, "total_tokens": 300}, 200, None),
        ({"completion_tokens": 200, "completion_tokens_details": {"reasoning_tokens": 199}}, 200, 199),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 200,
                "total_tokens": 300,
                "completion_tokens_details": {"reasoning_tokens": 199},
            },
            200,
            199,
        ),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 1,
                "total_tokens": 300,
                "completion_tokens_details": {"reasoning_tokens": 199},
            },
            200,
            199,
        ),
        # Nobody says what the rest of the total is: it was generated, and not shown.
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 400}, 300, 280),
        # The rest is the cached part of the prompt, counted beside it.
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 400,
                "prompt_tokens_details": {"cached_tokens": 280},
            },
            20,
            None,
        ),
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 7}, 20, None),
    ],
)
def test_M22_hidden_tokens_are_counted_once(counted: dict[str, object], output: int, reasoning: int | None) -> None:
    found = usage(counted)
    assert (found.output, found.reasoning) == (output, reasoning)


def test_P32_a_prompt_that_was_turned_down_was_not_cut_in_silence() -> None:
    asked = Request("vllm:m", (Message("user", "word " * 5_000),), Sampling())
    assert not was_cut(characters_of(asked), 0)
    assert was_cut(characters_of(asked), 1)
