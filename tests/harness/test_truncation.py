"""Prompts that were silently cut."""

from __future__ import annotations

from harness.truncation import prompt_was_cut
from policies.contract import Message, Request, Sampling, Usage

ROUND = "Round 12: the prize was 7 points. You bid 9, Heron bid 4, Otter bid 11. Otter won the prize.\n"
"""About 31 tokens, 3 characters each."""


def asked(rounds: int) -> Request:
    return Request("ollama:x", (Message("system", "Rules."), Message("user", ROUND * rounds)), Sampling())


def test_P32_a_prompt_of_9000_tokens_counted_as_4096_is_suspected() -> None:
    assert prompt_was_cut(asked(330), Usage(input=4096))


def test_a_prompt_that_was_read_whole_is_not() -> None:
    assert not prompt_was_cut(asked(330), Usage(input=9000))
    assert not prompt_was_cut(asked(330), Usage(input=5200))


def test_nothing_is_suspected_where_nothing_was_counted_or_the_prompt_is_short() -> None:
    assert not prompt_was_cut(asked(330), Usage())
    assert not prompt_was_cut(asked(5), Usage(input=1))
