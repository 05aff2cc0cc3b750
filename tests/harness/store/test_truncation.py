"""Prompts that were silently cut."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from weigh.harness.store.usage import WAS_CUT_SQL, characters_of, was_cut
from weigh.policies.contract import Message, Request, Sampling

ROUND = "Round 12: the prize was 7 points. You bid 9, Heron bid 4, Otter bid 11. Otter won the prize.\n"
"""About 31 tokens, 3 characters each."""


def asked(rounds: int) -> Request:
    return Request("ollama:x", (Message("system", "Rules."), Message("user", ROUND * rounds)), Sampling())


def test_P32_a_prompt_of_9000_tokens_counted_as_4096_is_suspected() -> None:
    assert was_cut(characters_of(asked(330)), 4096)


def test_a_prompt_that_was_read_whole_is_not() -> None:
    assert not was_cut(characters_of(asked(330)), 9000)
    assert not was_cut(characters_of(asked(330)), 5200)


def test_nothing_is_suspected_where_nothing_was_counted_or_the_prompt_is_short() -> None:
    assert not was_cut(characters_of(asked(330)), None)
    assert not was_cut(characters_of(asked(5)), 1)


@pytest.mark.parametrize("characters", [None, 0, 1_999, 2_000, 6_500, 6_501])
@pytest.mark.parametrize("tokens", [None, 0, 1, 307, 308, 1_000, 1_001])
def test_the_store_counts_by_the_same_rule(characters: int | None, tokens: int | None) -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE calls(prompt_characters INTEGER, input_tokens INTEGER)")
        db.execute("INSERT INTO calls VALUES (?, ?)", (characters, tokens))
        (counted,) = db.execute(f"SELECT {WAS_CUT_SQL} FROM calls c").fetchone()
    assert bool(counted) is was_cut(characters, tokens)
