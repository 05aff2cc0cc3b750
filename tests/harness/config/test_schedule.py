"""The schedule: blocks in which everybody sits everywhere on one deal; a pure function of what was ordered."""

import subprocess
import sys
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weigh.harness.config.balance import describe
from weigh.harness.config.schedule import Episode, catch_up, episodes, extend, follows_design, schedule
from weigh.harness.errors import ScheduleInvalid


def names(count):
    return [f"e{number:02}" for number in range(count)]


def by_block(planned):
    blocks = {}
    for episode in planned:
        blocks.setdefault(episode.block, []).append(episode)
    return blocks


fields = st.integers(2, 6).flatmap(lambda seats: st.tuples(st.integers(seats, 14), st.just(seats)))


@given(fields, st.integers(1, 30), st.integers(0, 2**64))
def test_m08_in_a_block_everybody_plays_every_seat_of_one_deal(field, blocks, seed):
    entrants, seats = field
    planned = schedule("g", names(entrants), seats, blocks, seed)
    grouped = by_block(planned)
    assert len(planned) == blocks * seats
    assert len(grouped) == blocks
    for block, rotations in grouped.items():
        assert {episode.deal_key for episode in rotations} == {block}
        table = set(rotations[0].entrants)
        assert len(table) == seats
        for seat in range(seats):
            assert {episode.entrants[seat] for episode in rotations} == table


def test_keys_name_game_block_and_rotation_and_are_unique():
    planned = schedule("goofspiel", names(5), 4, 3, 0)
    assert planned[0].key == "goofspiel/b0000/r0"
    assert planned[9].key == "goofspiel/b0002/r1"
    assert planned[9].block == planned[9].deal_key == "goofspiel/b0002"
    assert len({episode.key for episode in planned}) == 12


def test_two_seats_play_both_sides_of_a_deal():
    first, second = schedule("g", ["a", "b"], 2, 1, 5)
    assert first.entrants == second.entrants[::-1]
    assert first.deal_key == second.deal_key


def test_o26_the_schedule_is_the_same_in_another_process_under_another_hash_seed():
    program = (
        "import hashlib; from weigh.harness.config.schedule import catch_up, extend, schedule;"
        "names = ['x', 'b', 'a', 'm', 'k', 'q']; more = [*names, 'z', 'new'];"
        "made = [schedule('g', names, seats, 40, 3, rows) for seats in (4, 5) for rows in ('williams', 'rotated')];"
        "made += [extend(made[2], more, 9, 3), catch_up(made[0], more, ['z', 'new'], 3)];"
        "print(hashlib.sha256(repr(made).encode()).hexdigest())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("0", "1")
    }
    assert len(printed) == 1


@pytest.mark.parametrize("entrants", [4, 7, 13])
def test_deals_are_fresh_for_every_table_and_shared_only_within_a_block(entrants):
    planned = schedule("g", names(entrants), 4, 2 * entrants, 5)
    planned += extend(planned, [*names(entrants), "new"], 5, 5)
    deals = {}
    for episode in planned:
        deals.setdefault(episode.deal_key, []).append(episode)
    assert len(deals) == 2 * entrants + 5
    for shared in deals.values():
        assert len({episode.block for episode in shared}) == 1
        assert len({frozenset(episode.entrants) for episode in shared}) == 1
        assert len({episode.entrants for episode in shared}) == len(shared) == 4


def test_a_pinned_schedule_does_not_change_between_versions():
    """Runs are resumed by newer versions: what a seed means is a contract."""
    planned = schedule("g", ["ann", "bob", "cy"], 2, 2, 3)
    assert [(episode.key, episode.entrants) for episode in planned] == [
        ("g/b0000/r0", ("bob", "ann")),
        ("g/b0000/r1", ("ann", "bob")),
        ("g/b0001/r0", ("cy", "bob")),
        ("g/b0001/r1", ("bob", "cy")),
    ]


def test_pinned_rows_do_not_change_between_versions():
    def seated(seats, rows):
        return ["".join(episode.entrants) for episode in schedule("g", "abcde"[:seats], seats, 2, 3, rows)]

    assert seated(4, "williams") == ["cdba", "dacb", "abdc", "bcad", "cabd", "adcb", "dbac", "bcda"]
    assert seated(3, "williams") == ["bca", "cab", "abc", "acb", "bac", "cba"]
    assert seated(3, "rotated") == ["bca", "cab", "abc", "bac", "acb", "cba"]


@given(st.permutations(names(7)), st.integers(0, 1000))
def test_the_order_of_the_entrants_does_not_matter(order, seed):
    assert schedule("g", order, 4, 9, seed) == schedule("g", names(7), 4, 9, seed)


def test_the_seed_and_the_game_matter():
    base = schedule("g", names(7), 4, 7, 1)
    assert [e.entrants for e in schedule("g", names(7), 4, 7, 2)] != [e.entrants for e in base]
    assert [e.entrants for e in schedule("h", names(7), 4, 7, 1)] != [e.entrants for e in base]


@given(fields, st.integers(1, 12), st.integers(1, 12))
def test_more_blocks_extend_and_never_reshuffle(field, few, more):
    entrants, seats = field
    short = schedule("g", names(entrants), seats, few, 9)
    assert schedule("g", names(entrants), seats, few + more, 9)[: len(short)] == short


@pytest.mark.parametrize(("entrants", "seats", "cycle"), [(13, 4, 13), (7, 4, 7), (5, 4, 5), (9, 4, 18), (6, 2, 15)])
def test_whole_cycles_of_an_exact_design_are_balanced(entrants, seats, cycle):
    report = describe(schedule("g", names(entrants), seats, 2 * cycle, 4))
    assert report.cycle == cycle
    assert report.balanced
    assert len(report.lines()) == 2


@pytest.mark.parametrize("entrants", [6, 8, 10, 11, 12, 14])
def test_best_effort_cycles_even_each_other_out(entrants):
    """Ten cycles of one unchanged table of shifts would spread pair meetings by ten."""
    fewest, most = describe(schedule("g", names(entrants), 4, 10 * entrants, 4)).tables.pair_range
    assert most - fewest <= 2


def test_cycles_of_an_exact_design_seat_other_tables_together():
    planned = schedule("g", names(13), 4, 39, 0)
    assert len({frozenset(episode.entrants) for episode in planned}) > 30


@given(st.integers(1, 13))
def test_a_schedule_cut_short_has_seated_everybody_about_equally_often(blocks):
    report = describe(schedule("g", names(13), 4, blocks, 2), names(13))
    sat = [sum(row) // 4 for row in report.chairs.sittings]
    assert max(sat) - min(sat) <= 3


def test_very_long_schedules_are_made_as_they_are_needed():
    first = list(islice(episodes("g", names(13), 4, 10**12, 1), 5))
    assert tuple(first) == schedule("g", names(13), 4, 2, 1)[:5]


def test_bad_orders_are_refused_in_one_line_before_anything_is_made():
    with pytest.raises(ScheduleInvalid, match="'a' is named twice"):
        episodes("g", ["a", "b", "a"], 2, 1, 0)
    with pytest.raises(ScheduleInvalid, match="at least 1 block, not 0"):
        episodes("g", ["a", "b"], 2, 0, 0)
    with pytest.raises(ScheduleInvalid, match="add 1 more"):
        episodes("g", ["a", "b", "c"], 4, 1, 0)


def test_extending_keeps_every_block_and_lets_a_newcomer_catch_up():
    played = schedule("g", names(7), 4, 7, 3)
    field = [*names(7), "new"]
    added = extend(played, field, 7, 3)
    assert [episode.block for episode in added[::4]] == [f"g/b{number:04}" for number in range(7, 14)]
    report = describe((*played, *added))
    sat = {name: sum(row) // 4 for name, row in zip(report.entrants, report.chairs.sittings, strict=True)}
    assert max(sat.values()) - min(sat.values()) <= 1
    assert {len(set(e.entrants)) for e in added} == {4}


def test_two_newcomers_are_not_always_seated_together():
    played = schedule("g", names(13), 4, 13, 3)
    added = extend(played, [*names(13), "x", "y"], 6, 3)
    together = [block for block, rotations in by_block(added).items() if {"x", "y"} <= set(rotations[0].entrants)]
    assert len(together) <= 2


def test_m17_an_entrant_that_left_gets_no_more_tables():
    played = schedule("g", names(6), 4, 6, 3)
    added = extend(played, names(5), 5, 3)
    assert all("e05" not in episode.entrants for episode in added)


@given(st.integers(1, 5), st.integers(1, 5))
@settings(max_examples=15)
def test_extending_twice_equals_extending_once(first, second):
    played = schedule("g", names(6), 4, 3, 8)
    field = names(8)
    once = extend(played, field, first + second, 8)
    step = extend(played, field, first, 8)
    assert step + extend((*played, *step), field, second, 8) == once


@given(st.integers(1, 9), st.integers(1, 9))
@settings(max_examples=15)
def test_more_blocks_for_the_same_field_go_on_with_the_design(first, more):
    played = schedule("g", names(7), 4, first, 3)
    assert played + extend(played, names(7), more, 3) == schedule("g", names(7), 4, first + more, 3)


@pytest.mark.parametrize(
    ("entrants", "seats", "blocks", "more"), [(4, 4, 4, 16), (2, 2, 6, 12), (3, 2, 3, 3), (7, 4, 7, 7), (5, 2, 10, 5)]
)
def test_a_newcomer_gets_as_few_blocks_as_an_equal_share_takes(entrants, seats, blocks, more):
    """With k blocks more, all with the newcomer, k = (blocks * seats + k * seats) / (entrants + 1)."""
    played = schedule("g", names(entrants), seats, blocks, 3)
    field = [*names(entrants), "new"]
    added = catch_up(played, field, ["new"], 3)
    assert len(added) == more * seats
    assert added == extend(played, field, more, 3)
    report = describe((*played, *added))
    assert len({sum(row) for row in report.chairs.sittings}) == 1


@given(fields, st.integers(1, 8), st.integers(1, 3), st.integers(0, 3), st.integers(0, 99))
def test_newcomers_come_up_to_an_equal_share_whoever_left(field, blocks, came, left, seed):
    entrants, seats = field
    now = [*names(entrants)[left:], *(f"x{number}" for number in range(came))]
    if len(now) < seats:
        return
    played = schedule("g", names(entrants), seats, blocks, seed)
    added = catch_up(played, now, now[-came:], seed)
    assert len(added) <= seats * (2 * blocks * len(now) + len(now))
    assert all(any(name in episode.entrants for episode in added) for name in now[-came:])
    assert not set(names(entrants)[:left]) & {name for episode in added for name in episode.entrants}
    assert added == extend(played, now, len(added) // seats, seed)


def test_where_nobody_can_catch_up_a_newcomer_gets_what_the_others_had():
    played = schedule("g", names(4), 4, 6, 3)
    assert len(catch_up(played, [*names(3), "new"], ["new"], 3)) == 6 * 4


def test_without_a_newcomer_nothing_is_caught_up():
    played = schedule("g", names(6), 4, 6, 3)
    assert catch_up(played, names(5), [], 3) == ()


def test_a_schedule_that_was_extended_for_another_field_says_so():
    played = schedule("g", names(7), 4, 7, 3)
    assert follows_design(played, names(7), 3)
    whole = (*played, *extend(played, names(8), 7, 3))
    assert not follows_design(whole, names(8), 3)
    report = describe(whole, names(8), followed=False)
    assert not report.exact
    assert report.lines()[0].endswith("8 entrants at 4 seats, extended for another field")
    assert report.lines()[2].startswith("  not balanced: blocks were added for another field; ")


def test_extending_nothing_or_a_mixture_is_refused():
    with pytest.raises(ScheduleInvalid, match="there are no episodes"):
        extend((), names(4), 1, 0)
    mixed = (*schedule("g", names(4), 4, 1, 0), *schedule("h", names(4), 2, 1, 0))
    with pytest.raises(ScheduleInvalid, match="g at 4 seats, h at 2 seats"):
        extend(mixed, names(4), 1, 0)


def test_an_imbalance_is_said_with_what_would_mend_it():
    report = describe(schedule("g", names(13), 4, 20, 3))
    assert report.left_over == 7
    assert not report.balanced
    assert report.lines()[-1] == (
        "  not balanced: 20 blocks are no full rotation of 13; take 13 or 26 blocks for a balanced schedule"
    )


def test_entrants_who_never_sit_are_named():
    report = describe(schedule("g", names(13), 4, 1, 3), names(13))
    absent = set(names(13)) - set(schedule("g", names(13), 4, 1, 3)[0].entrants)
    assert report.lines()[-1] == "  never at a table: " + ", ".join(sorted(absent))


def test_the_report_as_json_has_every_count():
    report = describe(schedule("g", ["b", "a"], 2, 3, 0)).to_json()
    assert report == {
        "game": "g",
        "entrants": ["a", "b"],
        "seats": 2,
        "blocks": 3,
        "episodes": 6,
        "design": "full table",
        "followed": True,
        "exact": True,
        "cycle": 1,
        "left_over": 0,
        "balanced": True,
        "pair_meetings": {"fewest": 3, "most": 3},
        "episodes_by_seat": {"fewest": 3, "most": 3},
        "neighbours": {"fewest": 3, "most": 3},
        "meetings": {"a": {"b": 3}, "b": {"a": 3}},
        "episodes_by_entrant_and_seat": {"a": [3, 3], "b": [3, 3]},
    }


def test_episodes_are_frozen_values():
    one, other = schedule("g", ["a", "b"], 2, 1, 0)
    assert one == Episode("g/b0000/r0", "g", "g/b0000", other.entrants[::-1], "g/b0000")
    with pytest.raises(AttributeError):
        one.key = "other"
