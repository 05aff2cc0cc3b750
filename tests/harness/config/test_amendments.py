"""A run is extended by what may change, is made again from its manifest, and anything else is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from weigh.harness.config.extension import extension, made_again, obstacles, report_json, take_turns
from weigh.harness.config.schedule import Episode, schedule
from weigh.harness.store.manifest import Manifest, differences, schedule_digest

WHEN = "2026-05-02T10:00:00+00:00"


def order(names: str, blocks: int = 2, *, games: tuple[str, ...] = ("g",), **changes: Any) -> Manifest:
    """What a config of these one-letter entrants orders: three at a table of every game."""
    episodes = take_turns([schedule(game, names, 3, blocks, 7) for game in games])
    values: dict[str, Any] = {
        "run_id": "r",
        "created": "2026-05-01T14:22:33+00:00",
        "seed": 7,
        "config": {
            "seed": 7,
            "games": {game: {"blocks": blocks, "rows": "williams", "config": {"seats": 3}} for game in games},
            "entrants": {name: {"scripted": name} for name in names},
            "models": {},
            "limits": {"decision_timeout": 60.0},
        },
        "policies": {f"{game}/{name}": {"digest": name * 64, "model": None} for game in games for name in names},
        "schedule": schedule_digest(episodes),
        "episodes": len(episodes),
        "versions": {"weigh": "0.1.0"},
    }
    return Manifest.model_validate(values | changes)


def planned(manifest: Manifest, *games: str) -> tuple[Episode, ...]:
    return take_turns([made_again(manifest, game, 3) for game in games or ("g",)])


def extended(
    old: Manifest, there: tuple[Episode, ...], new: Manifest, **given: int | None
) -> tuple[Manifest, tuple[Episode, ...]]:
    asked = given or {"g": None}
    assert obstacles(old, new, there, (), asked) == []
    more = extension(old, new, there, asked, WHEN)
    assert more is not None
    return more.manifest, (*there, *more.episodes)


def test_every_block_stays_and_the_newcomer_catches_up() -> None:
    old, new = order("abcd"), order("abcde")
    there = planned(old)
    manifest, whole = extended(old, there, new)
    assert whole[: len(there)] == there
    added = whole[len(there) :]
    assert {episode.block for episode in added}.isdisjoint(episode.block for episode in there)
    sat = {name: sum(name in episode.entrants for episode in whole) for name in "abcde"}
    assert sat["e"] * 5 >= sum(sat.values())
    (amendment,) = manifest.amendments
    assert (amendment.added, amendment.withdrawn, amendment.amended) == (("e",), (), WHEN)
    assert amendment.blocks == {"g": len(added) // 3}
    assert (amendment.config, amendment.policies) == (old.config, old.policies)
    assert (amendment.schedule, amendment.episodes) == (old.schedule, old.episodes)
    assert (manifest.config, manifest.policies) == (new.config, new.policies)
    assert (manifest.schedule, manifest.episodes) == (schedule_digest(whole), len(whole))
    assert manifest.schedules["g"] == report_json(manifest, whole, "g")
    assert (manifest.run_id, manifest.created) == (old.run_id, old.created)


def test_a_manifest_of_many_amendments_makes_every_episode_again() -> None:
    old = order("abcd")
    manifest, whole = old, planned(old)
    for names, blocks in (("abcde", None), ("abcdefg", 40), ("bcdefg", 45), ("bcdefg", 50)):
        manifest, whole = extended(manifest, whole, order(names, blocks or 2), g=blocks)
    assert [amendment.withdrawn for amendment in manifest.amendments] == [(), (), ("a",), ()]
    assert len({episode.block for episode in whole}) == 50
    kept = Manifest.model_validate_json(manifest.model_dump_json())
    assert kept == manifest
    assert planned(kept) == whole


def test_a_run_goes_on_under_the_config_it_was_extended_to() -> None:
    manifest, _ = extended(order("abcd"), planned(order("abcd")), order("abcde"))
    assert differences(manifest, order("abcde")) == []
    assert extension(manifest, order("abcde"), (), {"g": None}, WHEN) is None
    assert any(line.startswith("entrants.e") for line in differences(manifest, order("abcd")))


def test_two_extensions_for_one_field_equal_one() -> None:
    old = order("abcd")
    once = extended(old, planned(old), order("abcdef", 12), g=12)[1]
    first, there = extended(old, planned(old), order("abcdef", 7), g=7)
    assert extended(first, there, order("abcdef", 12), g=12)[1] == once


def test_two_newcomers_one_after_the_other_are_not_two_at_once() -> None:
    old = order("abcd")
    first, there = extended(old, planned(old), order("abcde", 7), g=7)
    assert (
        extended(first, there, order("abcdef", 12), g=12)[1]
        != extended(old, planned(old), order("abcdef", 12), g=12)[1]
    )


def test_more_blocks_for_the_same_field_are_those_ordered_at_first() -> None:
    old = order("abcd", 3)
    assert extended(old, planned(old), order("abcd", 9), g=9)[1] == schedule("g", "abcd", 3, 9, 7)


def test_blocks_of_several_games_take_turns_after_everything_that_was_planned() -> None:
    old, new = order("abcd", games=("g", "h")), order("abcde", games=("g", "h"))
    there = planned(old, "g", "h")
    manifest, whole = extended(old, there, new, g=None, h=30)
    assert whole[: len(there)] == there
    assert manifest.amendments[0].blocks["h"] == 28
    added = [episode.game for episode in whole[len(there) :]]
    assert len(added) == 3 * (28 + manifest.amendments[0].blocks["g"])
    assert 0 < added.count("g") < added.count("h")
    assert set(added[: len(added) // 2]) == set(added[len(added) // 2 :]) == {"g", "h"}


def test_a_number_of_blocks_that_was_ordered_before_asks_for_no_more() -> None:
    """The file still says what it said; it is no order to take planned blocks back, nor to add none."""
    old = order("abcd")
    manifest, whole = extended(old, planned(old), order("abcde"), g=2)
    assert len(whole) > len(planned(old))
    assert obstacles(manifest, order("abcdef"), whole, (), {"g": 2}) == []


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"seed": 8}, "seed: 7 in the run, 8 in the config"),
        ({"config": {"limits": {"decision_timeout": 30.0}}}, "limits.decision_timeout: 60.0 in the run, 30.0 in"),
        ({"config": {"models": {"x:y": 1}}}, ""),
        ({"policies": {"g/a": {"digest": "z" * 64, "model": None}}}, "policies.g/a.digest: "),
    ],
)
def test_whatever_else_differs_stands_against_it_and_is_named(changes: dict[str, Any], line: str) -> None:
    old, new = order("abcd"), order("abcde")
    merged = {
        key: {**getattr(new, key), **value} if isinstance(value, dict) else value for key, value in changes.items()
    }
    found = obstacles(old, new.model_copy(update=merged), planned(old), (), {"g": None})
    assert [text.startswith(line) for text in found] == ([True] if line else [])


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("config", "seats"), "games.g.config.seats: 3 in the run, 4 in the config"),
        (("rows",), 'games.g.rows: "williams" in the run, "rotated" in the config'),
    ],
)
def test_a_game_that_is_played_otherwise_stands_against_it(place: tuple[str, ...], line: str) -> None:
    new = order("abcde")
    config: Any = new.model_dump(mode="json")["config"]
    table = config["games"]["g"]
    if place == ("rows",):
        table["rows"] = "rotated"
    else:
        table["config"]["seats"] = 4
    changed = new.model_copy(update={"config": config})
    assert obstacles(order("abcd"), changed, planned(order("abcd")), (), {"g": None}) == [line]


def test_another_game_stands_against_it() -> None:
    new = order("abcde", games=("g", "h"))
    found = obstacles(order("abcd"), new, planned(order("abcd")), (), {"g": None, "h": None})
    assert found
    assert all("h" in line for line in found)


def test_fewer_blocks_than_are_planned_are_refused() -> None:
    old = order("abcd", 6)
    assert obstacles(old, order("abcd", 4), planned(old), (), {"g": 4}) == [
        "games.g.blocks: 6 in the run, 4 in the config; planned blocks are kept"
    ]


def test_an_entrant_leaves_only_when_all_that_was_planned_with_it_is_played() -> None:
    old, new = order("abcd"), order("abc")
    there = planned(old)
    with_d = [episode for episode in there if "d" in episode.entrants]
    (line,) = obstacles(old, new, there, with_d[:2], {"g": None})
    assert line.startswith(
        "entrants.d: cannot leave before its planned episodes are finished, and 2 are not: put it back"
    )
    manifest, whole = extended(old, there, new)
    assert whole == there
    assert manifest.policy("g", "d") == {"digest": "d" * 64, "model": None}
    assert manifest.amendments[0].blocks == {"g": 0}


def test_a_name_comes_back_only_as_the_policy_it_was() -> None:
    old = order("abcd")
    manifest, whole = extended(old, planned(old), order("abc"))
    assert obstacles(manifest, order("abcd"), whole, (), {"g": None}) == []
    other = order("abcd")
    other = other.model_copy(update={"policies": {**other.policies, "g/d": {"digest": "0" * 64, "model": None}}})
    assert obstacles(manifest, other, whole, (), {"g": None}) == [
        "entrants.d: was another policy when it played g in this run; rename it"
    ]


def test_a_game_that_comes_or_goes_is_one_line_with_the_true_number_of_blocks() -> None:
    one, two = order("abcd", 3), order("abcd", 3, games=("g", "h"))
    assert obstacles(one, two, planned(one), (), {"g": None, "h": 3}) == [
        "games.h: not in the run, 3 blocks in the config; a run gets no further games"
    ]
    assert obstacles(two, one, planned(two, "g", "h"), (), {"g": None}) == [
        "games.h: 3 blocks in the run, not in the config; a game does not leave a run"
    ]


def test_the_blocks_of_an_extended_run_are_those_it_plans() -> None:
    old = order("abcd")
    manifest, whole = extended(old, planned(old), order("abcde"))
    there = len({episode.block for episode in whole})
    assert there > 2
    line = f"games.g.blocks: {there} (2 asked for) in the run, 7 in the config"
    assert line in differences(manifest, order("abcd", 7))
    open_line = line.replace("7 in", "none (7 by its entrants) in")
    assert open_line in differences(manifest, order("abcd", 7), {"g": None})
    assert differences(manifest, order("abcde"), {"g": None}) == []
