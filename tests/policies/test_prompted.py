"""A prompt and a model behind it, playing against a fake of the model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

import pytest

from weigh.games.game import Observation
from weigh.games.registry import GAMES
from weigh.policies.contract import (
    Completion,
    DecisionTimedOut,
    Fatal,
    Outage,
    Policy,
    Reply,
    Request,
    Retry,
    Sampling,
    Style,
)
from weigh.policies.layout import NO_ANSWER, QUOTED_TAIL, hint
from weigh.policies.operator_prompt import OperatorPrompt
from weigh.policies.prompted import PromptedPlayer, PromptedPolicy

GAME = GAMES["goofspiel"]
CONFIG = GAME.config_type()
NAMES = ("Quartz", "Onyx", "Jasper", "Beryl")
PROMPT = OperatorPrompt("careful", "Wait, then strike.")
POLICY = PromptedPolicy("careful-x", PROMPT, "fake:x", Sampling(max_tokens=64), "reason-then-json", GAME, CONFIG)


def seen(rounds: int = 0) -> Observation:
    state = GAME.start(CONFIG, GAME.deal(CONFIG, Random(5)))
    for _ in range(rounds):
        state = state.play({seat: next(iter(state.legal(seat))) for seat in state.to_act})
    return state.observe(0, NAMES)


@dataclass
class Scripted:
    """A model that says what it was told to say, in order, and remembers what it was asked."""

    says: Sequence[Completion | Exception | str]
    asked: list[Request] = field(default_factory=list)

    async def complete(self, request: Request) -> Completion:
        said = self.says[len(self.asked)]
        self.asked.append(request)
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, Completion) else Completion(said, "end")


def sit(*says: Completion | Exception | str, policy: PromptedPolicy = POLICY) -> tuple[PromptedPlayer, Scripted]:
    model = Scripted(says)
    return policy.sit(0, Random(1), model), model


def decide(player: PromptedPlayer, observation: Observation, failed: Reply | None = None) -> Reply:
    retry = None
    if failed is not None:
        assert failed.fault is not None
        retry = Retry(failed.fault, failed.detail, hint(failed.fault, failed.detail, observation.legal))
    return asyncio.run(player.decide(observation, retry))


def test_a_legal_answer_is_the_move() -> None:
    player, model = sit('I take 7. {"bid": 7}')
    assert decide(player, seen()) == Reply(move=7, candidates=1)
    (request,) = model.asked
    assert (request.model, request.sampling, request.schema) == ("fake:x", POLICY.sampling, None)
    assert "Wait, then strike." in request.messages[0].text
    assert "You are Quartz." in request.messages[1].text


def test_notes_carry_over_and_empty_ones_keep_the_old() -> None:
    player, model = sit('{"bid": 1, "notes": "saves"}', '{"bid": 2, "notes": ""}', '{"bid": 3, "notes": "new"}', "")
    assert [decide(player, seen(rounds)).notes for rounds in range(4)] == ["saves", "saves", "new", "new"]
    shown = [request.messages[1].text.split("Your notes: ")[1].splitlines()[0] for request in model.asked]
    assert shown == ["(none)", '"saves"', '"saves"', '"new"']


def test_players_of_one_policy_share_no_memory() -> None:
    first, _ = sit('{"bid": 1, "notes": "mine"}')
    decide(first, seen())
    second, model = sit('{"bid": 1}')
    assert decide(second, seen()).notes is None
    assert "mine" not in model.asked[0].messages[1].text


def test_R18_after_a_fault_nothing_older_is_played() -> None:
    player, model = sit('{"bid": 6}', '{"bid": 99}', "")
    assert decide(player, seen()).move == 6
    failed = decide(player, seen(1))
    assert (failed.fault, failed.move) == ("illegal", None)
    last = decide(player, seen(1), failed)
    assert (last.fault, last.move, last.candidates) == ("empty", None, 0)
    assert "99" in model.asked[2].messages[2].text


def test_R15_an_answer_in_the_reasoning_field_is_not_mined_and_the_detail_tells() -> None:
    player, _ = sit(Completion("", "end", reasoning='{"bid": 7}'), Completion("", "end"))
    reply = decide(player, seen())
    assert (reply.fault, reply.move) == ("empty", None)
    assert "10 characters of reasoning" in reply.detail
    assert "reasoning" not in decide(player, seen()).detail


def test_the_retry_repeats_the_first_request_and_adds_two_turns() -> None:
    player, model = sit('{"bid": 99, "notes": "never kept"}', '{"bid": 7}')
    failed = decide(player, seen())
    assert decide(player, seen(), failed).move == 7
    first, second = model.asked
    assert second.messages[:2] == first.messages
    assert [message.role for message in second.messages] == ["system", "user", "assistant", "user"]
    assert second.messages[2].text == '{"bid": 99, "notes": "never kept"}'
    assert "99" in second.messages[3].text
    assert replace(second, messages=first.messages) == first


def test_R40_the_retry_speaks_of_the_fault_that_happened() -> None:
    for bad, word in (
        ('{"bid": 99}', "not allowed"),
        ("hm", "could be read"),
        ("", "visible"),
        ('{"bid":1}{"bid":2}!', "counts"),
    ):
        player, model = sit(bad, '{"bid": 7}')
        decide(player, seen(), decide(player, seen()))
        assert word in model.asked[1].messages[3].text


def test_R34_a_huge_reply_does_not_grow_the_next_request() -> None:
    player, model = sit("x" * 2_000_000, "still nothing", '{"bid": 7}')
    failed = decide(player, seen())
    decide(player, seen(), failed)
    assert decide(player, seen(1)).move == 7
    sizes = [sum(len(message.text) for message in request.messages) for request in model.asked]
    assert sizes[1] < sizes[0] + QUOTED_TAIL + 600
    assert len(model.asked[2].messages) == 2


def test_P34_a_refusal_is_not_repeated_to_its_author() -> None:
    player, model = sit(Completion("I will not gamble", "refusal"), Completion("", "refusal"))
    failed = decide(player, seen())
    assert failed.fault == "refused"
    assert decide(player, seen(), failed).fault == "refused"
    assert model.asked[1].messages[2].text == NO_ANSWER
    assert "gamble" not in model.asked[1].messages[3].text


@pytest.mark.parametrize("failure", [DecisionTimedOut("after 60 s"), Outage("503"), Fatal("bad key")])
def test_failures_of_the_line_pass_through(failure: Exception) -> None:
    player, _ = sit(failure)
    with pytest.raises(type(failure)) as caught:
        decide(player, seen())
    assert caught.value is failure


def test_after_a_timeout_the_retry_has_a_placeholder_and_nothing_older() -> None:
    player, model = sit('{"bid": 6}', DecisionTimedOut("after 60 s"), '{"bid": 7}')
    decide(player, seen())
    with pytest.raises(DecisionTimedOut):
        decide(player, seen(1))
    reply = decide(player, seen(1), Reply(fault="timed_out", detail="after 60 s"))
    assert reply.move == 7
    assert model.asked[2].messages[:2] == model.asked[1].messages
    assert model.asked[2].messages[2].text == NO_ANSWER


@pytest.mark.parametrize("style", ["reason-then-json", "json-only", "schema"])
def test_only_the_schema_style_sends_a_schema(style: Style) -> None:
    player, model = sit('{"bid": 7}', policy=replace(POLICY, style=style))
    decide(player, seen())
    assert (model.asked[0].schema is not None) == (style == "schema")


def test_the_schema_style_keeps_no_notes() -> None:
    player, model = sit('{"bid": 7, "notes": "x"}', '{"bid": 7}', policy=replace(POLICY, style="schema"))
    assert decide(player, seen()).notes is None
    decide(player, seen())
    assert "notes" not in model.asked[1].messages[1].text


def test_the_digest_covers_what_decides_play_and_nothing_else() -> None:
    policy: Policy = POLICY
    assert len(policy.digest) == 64
    same = [
        replace(POLICY, name="other"),
        replace(POLICY, prompt=replace(PROMPT, name="other", description="x", games=("goofspiel",), style="schema")),
        replace(POLICY, config=GAME.config_type(seats=2)),
    ]
    assert {policy.digest, *(each.digest for each in same)} == {policy.digest}
    different = [
        replace(POLICY, prompt=replace(PROMPT, text="Strike.")),
        replace(POLICY, model="fake:y"),
        replace(POLICY, style="json-only"),
        replace(POLICY, sampling=Sampling(max_tokens=65)),
        replace(POLICY, sampling=Sampling(max_tokens=64, temperature=0)),
        replace(POLICY, sampling=Sampling(max_tokens=64, extra={"effort": "low"})),
    ]
    assert len({policy.digest, *(each.digest for each in different)}) == 1 + len(different)


def test_a_prompted_policy_cannot_sit_without_a_line_to_its_model() -> None:
    with pytest.raises(ValueError, match="fake:x"):
        POLICY.sit(0, Random(1), None)
