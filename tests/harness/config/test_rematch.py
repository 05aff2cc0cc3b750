"""Which tables a rematch plays, in which arms, under which keys and names."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from weigh.harness.config.schedule import Episode, choose_stand_ins, meeting, names_key, rematch, schedule, split_key

TABLES = schedule("goofspiel", ["a", "b", "c", "d", "e"], 3, 10, 1)
NAMES = st.from_regex(re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}"), fullmatch=True)


def test_each_table_of_a_pair_is_played_in_every_arm_one_after_the_other() -> None:
    episodes = rematch(TABLES, [("a", "b")], {"b": ["x"]})
    met = [table for table in TABLES if {"a", "b"} <= set(table.entrants)]
    assert 0 < len(met) < len(TABLES)
    assert meeting(TABLES, ("a", "b")) == tuple(met)
    assert [split_key(episode.key) for episode in episodes] == [
        (table.key, arm) for table in met for arm in ("again", "aliases", "without-b")
    ]
    for table, again, aliases, without in zip(met, episodes[::3], episodes[1::3], episodes[2::3], strict=True):
        for arm in (again, aliases, without):
            assert (arm.block, arm.deal_key, arm.game) == (table.block, table.deal_key, table.game)
        assert again.entrants == aliases.entrants == table.entrants
        assert without.entrants == tuple("x" if name == "b" else name for name in table.entrants)


def test_pairs_share_the_arms_that_are_the_same_for_them() -> None:
    episodes = rematch(TABLES, [("a", "b"), ("b", "a"), ("c", "b")], {"b": ["x"], "a": ["y"]})
    keys = [episode.key for episode in episodes]
    assert len(set(keys)) == len(keys)
    both = {table.key for table in TABLES if {"a", "b"} <= set(table.entrants)}
    third = {table.key for table in TABLES if {"c", "b"} <= set(table.entrants)}
    arms = {arm: {first for first, at in map(split_key, keys) if at == arm} for _, arm in map(split_key, keys)}
    assert arms == {
        "again": both | third,
        "aliases": both | third,
        "without-b": both | third,
        "without-a": both,
    }


def test_a_table_without_a_pair_is_not_played() -> None:
    assert rematch(TABLES, [("a", "nobody")], {"nobody": ["x"]}) == ()


@given(NAMES)
def test_a_key_says_which_episode_and_arm_it_is_whoever_is_left_out(name: str) -> None:
    table = Episode("g/b0000/r1", "g", "g/b0000", ("!", "~"), "g/b0000")
    (_, _, without) = rematch([table], [("!", "~")], {"~": [name]})
    assert without.entrants == ("!", name)
    key = f"goofspiel/b0003/r11.without-{name}"
    assert split_key(key) == ("goofspiel/b0003/r11", f"without-{name}")
    assert names_key(key) == "goofspiel/b0003/r11"


def test_names_are_those_of_the_first_time_unless_they_are_dealt_anew() -> None:
    first = "goofspiel/b0003/r1"
    assert names_key(first) == first
    assert names_key(f"{first}.again") == first
    assert names_key(f"{first}.aliases") == f"{first}.aliases"
    assert names_key(f"{first}.sideways") == f"{first}.sideways"
    assert names_key("goofspiel/play") == "goofspiel/play"
    assert split_key(f"{first}.sideways") == (f"{first}.sideways", None)


def test_who_sits_at_none_of_the_tables_takes_the_place() -> None:
    tables = meeting(TABLES, ("a", "b"))
    assert choose_stand_ins(tables, ["x", "y"], []) == ("x",)
    assert choose_stand_ins(tables, ["c", "y"], []) == ("y",)
    assert choose_stand_ins(tables, ["x", "y"], ["x"]) == ("y",)
    assert choose_stand_ins(tables, ["x"], ["x"]) is None


def test_nobody_sits_at_a_table_twice() -> None:
    tables = meeting(TABLES, ("a", "b"))
    chosen = choose_stand_ins(tables, ["c", "d"], [])
    assert chosen is not None
    assert set(chosen) == {"c", "d"}  # at three seats, where the one sits the other does not
    for episode in rematch(tables, [("a", "b")], {"b": chosen}):
        assert len(set(episode.entrants)) == 3
    assert choose_stand_ins(tables, ["c"], []) is None
    assert choose_stand_ins(meeting(TABLES, ("a", "c")), ["c", "c"], []) is None
