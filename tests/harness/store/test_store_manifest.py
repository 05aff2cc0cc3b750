"""A run resumes under what it was made with, and a refusal names every difference."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.harness.store.store_cases import MODEL, manifest, new_run, planned
from weigh.harness.errors import StoreRefused
from weigh.harness.store.manifest import Manifest, differences, new_run_id, schedule_digest, version_notes
from weigh.harness.store.store import Store


def test_o08_differences_name_the_place_and_both_values() -> None:
    new = manifest(config={"blocks": 1, "limits": {"decision_timeout": 60}, "temperature": 1.0})
    assert differences(manifest(), new) == [
        "limits.decision_timeout: 30 in the run, 60 in the config",
        "temperature: not set in the run, 1.0 in the config",
    ]


def test_o08_another_model_prompt_or_entrant_is_a_difference() -> None:
    policies = {
        "ann": {"digest": "c" * 64, "model": "openai:gpt-5-mini"},
        "cy": {"digest": "d" * 64, "model": None},
    }
    lines = differences(manifest(), manifest(policies=policies))
    assert f'policies.ann.model: "{MODEL}" in the run, "openai:gpt-5-mini" in the config' in lines
    assert "policies.cy.model: not set in the run, null in the config" in lines
    assert "policies.bob.model: null in the run, not set in the config" in lines
    assert any(line.startswith("policies.ann.digest:") for line in lines)


def test_o23_seed_0_is_a_seed_like_any_other() -> None:
    assert differences(manifest(seed=0), manifest(seed=0)) == []
    assert differences(manifest(seed=0), manifest(seed=42)) == ["seed: 0 in the run, 42 in the config"]


def test_m10_a_stored_null_is_valid_and_unlike_a_missing_key() -> None:
    old = manifest(config={"sampling_seed": None})
    assert Manifest.model_validate_json(old.model_dump_json()) == old
    assert differences(old, manifest(config={})) == ["sampling_seed: null in the run, not set in the config"]


def test_equal_runs_differ_in_name_time_and_versions_only() -> None:
    new = manifest(run_id="another", created="later", versions={"weigh": "0.2.0", "python": "3.12.1"})
    assert differences(manifest(), new) == []
    assert version_notes(manifest(), new) == [
        'weigh: "0.1.0" in the run, "0.2.0" now',
        'python: "3.11.7" in the run, "3.12.1" now',
    ]


def test_a_config_stored_in_the_words_of_earlier_runs_is_read_in_those_of_today() -> None:
    stored = manifest(
        config={
            "games": {"g": {"rows": "cyclic", "blocks": 2}, "h": {"rows": "williams"}},
            "models": {"a:b": {"temperature": None, "seed": False, "wire": "anthropic"}},
            "limits": {"decision_timeout": 30},
        },
        schedules={"g": {"episodes_by_seat": {"fewest": 1, "most": 2}, "episodes_by_entrant_and_seat": None}},
    )
    old = stored.model_dump_json().replace("rotated", "cyclic").replace("supports_", "")
    old = old.replace("episodes_by_seat", "seat_sittings").replace("episodes_by_entrant_and_seat", "sittings")
    assert "cyclic" in old
    assert Manifest.model_validate_json(old) == stored
    assert stored.config["games"] == {"g": {"rows": "rotated", "blocks": 2}, "h": {"rows": "williams"}}
    assert stored.config["models"] == {
        "a:b": {"supports_temperature": None, "supports_seed": False, "wire": "anthropic"}
    }


def test_1_and_true_and_1_0_are_three_values() -> None:
    assert differences(manifest(config={"a": 1, "b": 1}), manifest(config={"a": True, "b": 1.0})) == [
        "a: 1 in the run, true in the config",
        "b: 1 in the run, 1.0 in the config",
    ]


def test_lists_are_compared_item_by_item_and_empty_ones_count() -> None:
    old = manifest(config={"entrants": [{"name": "ann"}, {"name": "bob"}], "tags": []})
    new = manifest(config={"entrants": [{"name": "ann"}, {"name": "cy"}], "tags": ["x"]})
    assert differences(old, new) == [
        'entrants[1].name: "bob" in the run, "cy" in the config',
        "tags: [] in the run, not set in the config",
        'tags[0]: not set in the run, "x" in the config',
    ]


def test_long_values_are_shown_where_they_part() -> None:
    old, new = manifest(config={"guidance": "a" * 500 + "left"}), manifest(config={"guidance": "a" * 500 + "right"})
    (line,) = differences(old, new)
    assert "left" in line and "right" in line
    assert len(line) < 200


def test_another_schedule_is_told_when_nothing_else_explains_it() -> None:
    assert differences(manifest(planned(2)), manifest(planned(3))) == [
        "schedule: other episodes are planned (2 in the run, 3 in the config)"
    ]


def test_o26_the_schedule_digest_depends_on_who_sits_where_and_on_the_order() -> None:
    two = planned(2)
    assert schedule_digest(two) == schedule_digest(iter(two))
    assert schedule_digest(two) != schedule_digest(two[::-1])
    assert len(schedule_digest(())) == 64


def test_o10_two_runs_in_one_second_have_two_names() -> None:
    names = {new_run_id(7) for _ in range(200)}
    assert len(names) == 200
    assert all("-s7-" in name for name in names)


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(ValidationError, match="nonsense"):
        manifest(nonsense=1)


def test_what_was_learned_of_models_is_kept_once_and_in_order(tmp_path: Path) -> None:
    with new_run(tmp_path / "run") as store:
        assert store.adaptations() == {}
        store.add_adaptations({MODEL: ["takes no seed"]})
        store.add_adaptations({"openai:b": ["takes no schema", "odd \ud800"], MODEL: ["takes no seed"]})
        store.add_adaptations({MODEL: ["takes no seed", "takes no temperature"], "openai:b": ["odd \ud800"]})
    with Store.open(tmp_path / "run", readonly=True) as store:
        assert store.adaptations() == {
            MODEL: ("takes no seed", "takes no temperature"),
            "openai:b": ("takes no schema", "odd \\ud800"),
        }
        with pytest.raises(StoreRefused, match="reading only"):
            store.add_adaptations({MODEL: ["more"]})
        store.add_adaptations({MODEL: ["takes no seed"]})
