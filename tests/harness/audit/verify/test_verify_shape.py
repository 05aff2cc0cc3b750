"""Every field of a record must be there and true: what is no record is told, and any single change is found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.harness.audit.verify.verify_cases import GAMES, kept, lines
from weigh.harness.audit.verify.record import verify_record
from weigh.harness.store.record import Record


@pytest.mark.parametrize("field", [name for name in Record.model_fields if name != "times"])
def test_every_field_must_be_there(field: str) -> None:
    data = kept("oshi_zumo")
    del data[field]
    assert any(line.startswith(f"{field} is missing") for line in lines(data))


@pytest.mark.parametrize("game", GAMES)
def test_the_config_must_be_complete_and_known(game: str) -> None:
    for field in kept(game)["config"]:
        data = kept(game)
        del data["config"][field]
        assert lines(data) and lines(data)[0].startswith("config"), field
    data = kept(game)
    data["config"]["speed"] = 2
    assert "unknown key" in lines(data)[0]


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (("mood",), "mood is no field of a record"),
        (("decisions", 0, "mood"), "decisions[0].mood is no field of a record"),
        (("times", "ended"), "times.ended is no field of a record"),
        (("measures", "mood"), "measures.mood should not be there"),
        (("events", 0, "mood"), "events[0].mood should not be there"),
    ],
)
def test_o28_unknown_fields_are_named(place: tuple[Any, ...], said: str) -> None:
    data = kept("goofspiel")
    at: Any = data
    for part in place[:-1]:
        at = at[part]
    at[place[-1]] = "fine"
    assert any(line.startswith(said) for line in lines(data)), lines(data)


@pytest.mark.parametrize("version", (0, 2, "1", True, None, 1.5))
def test_o28_another_schema_version_is_told_before_anything_else(version: object) -> None:
    data = kept("oshi_zumo") | {"schema_version": version, "mood": 1}
    (line,) = lines(data)
    assert line.startswith("schema_version is not of this version of weigh: ")


@pytest.mark.parametrize(
    "value", (float("nan"), float("inf"), datetime(2026, 5, 1, tzinfo=UTC), {1, 2}, b"x", object())
)
def test_what_is_no_json_is_named_by_its_place(value: object) -> None:
    data = kept("goofspiel")
    data["measures"]["points"][1] = value
    (line,) = lines(data)
    assert line.startswith("measures.points[1] is no ")


@pytest.mark.parametrize("data", (None, [], "record", 7, {}, {"key": "x"}))
def test_what_is_no_record_is_told(data: object) -> None:
    assert lines(data)


def test_a_deep_document_is_refused_quickly() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    data = kept("oshi_zumo")
    data["measures"]["points"] = deep
    (line,) = lines(data)
    assert "nested deeper" in line


def test_an_unknown_game_is_told() -> None:
    data = kept("oshi_zumo") | {"game": "goofspeil"}
    (line,) = lines(data)
    assert "goofspiel" in line


def test_a_writer_of_json_that_drops_the_point_of_whole_floats_is_understood() -> None:
    data = kept("oshi_zumo")
    assert data["scores"] in ([1.0, -1.0], [-1.0, 1.0], [0.0, 0.0])
    data["scores"] = [int(score) for score in data["scores"]]
    assert lines(data) == []


# -- any single change -------------------------------------------------------------------------------------------------

NOT_DERIVABLE = re.compile(
    r"times\..*"  # wall clock
    r"|key|block"  # names of the episode within its run
    r"|policies\[\d+\]"  # what they were
    r"|decisions\[\d+\]\.notes"  # private
    r"|decisions\[\d+\]\.faults\[\d+\]\.(fault|detail)"  # which fault it was; that there was one is derivable
    r"|episode_deadline"  # a limit that was not reached
)
"""Leaves of a record that no rule can derive. `verify_run` checks all but `times` and fault details against the run."""

NEVER_REACHED = {"config.max_rounds", "config.min_bid", "config.size"}
"""Bounds of Oshi-Zumo that an episode may end without touching; then the record is true under another bound as well."""


def leaves(value: object, place: str = "", path: tuple[Any, ...] = ()) -> Iterator[tuple[str, tuple[Any, ...], object]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{place}.{key}" if place else key, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{place}[{index}]", (*path, index))
    else:
        yield place, path, value


def others(value: object) -> tuple[object, ...]:
    if isinstance(value, bool):
        return (not value, int(value), None)
    if isinstance(value, int):
        return (value + 1, value - 1, float(value), str(value), bool(value), None)
    if isinstance(value, float):
        return (value + 0.5, -value if value else 1.0, str(value), None)
    if isinstance(value, str):
        return (f"{value}x", value.upper(), "", None, 0)
    return (0, False, "x", {}, [])


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.slow
def test_any_change_of_any_leaf_is_found(game: str) -> None:
    original = kept(game)
    changed = 0
    for place, path, value in leaves(original):
        if NOT_DERIVABLE.fullmatch(place):
            continue
        for other in others(value):
            if other == value and type(other) is type(value):
                continue
            if place in NEVER_REACHED and game == "oshi_zumo" and type(other) is int:
                continue
            if re.fullmatch(r"(entrants|models|aliases)\[\d+\]", place) and isinstance(value, str) and other:
                continue  # another name, no contradiction
            data = deepcopy(original)
            at: Any = data
            for part in path[:-1]:
                at = at[part]
            at[path[-1]] = other
            assert verify_record(data), f"{place}: {value!r} -> {other!r}"
            changed += 1
    assert changed > 500


@pytest.mark.parametrize("game", GAMES)
def test_any_removal_of_any_item_is_found(game: str) -> None:
    original = kept(game)

    def holders(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        if isinstance(value, dict | list):
            for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
                yield (*path, key)
                yield from holders(item, (*path, key))

    for path in holders(original):
        if path[0] == "times":
            continue
        data = deepcopy(original)
        at: Any = data
        for part in path[:-1]:
            at = at[part]
        del at[path[-1]]
        assert verify_record(data), path
