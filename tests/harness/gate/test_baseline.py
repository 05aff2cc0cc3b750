"""The baseline file: small, stable, closed against edits, and clear about what does not fit."""

from __future__ import annotations

import json

import pytest

from weigh.harness.errors import BaselineInvalid
from weigh.harness.gate.baseline import (
    BlockScores,
    Conditions,
    FieldPlayer,
    PolicyIdentity,
    digest_of,
    faults,
    made,
    read_baseline,
    written,
)

CONDITIONS = Conditions(
    game="goofspiel",
    config={"seats": 4, "cards": 13},
    seed=0,
    field=(FieldPlayer(name="match", digest="m" * 64), FieldPlayer(name="random", digest="r" * 64)),
    rules="a" * 64,
    layout=1,
    decision_timeout=60.0,
    episode_deadline=None,
)
SCRIPTED = PolicyIdentity(name="match", digest="m" * 64, model=None, prompt=None)
PROMPTED = PolicyIdentity(name="mine", digest="p" * 64, model="openai:x", prompt="f" * 64)


def baseline(policy=SCRIPTED, conditions=CONDITIONS):
    blocks = (
        BlockScores(key="goofspiel/b0000", scores=(0.25, 0.0, -0.125, 0.5)),
        BlockScores(key="goofspiel/b0001", scores=(0.0, None, 0.0, 0.0)),
    )
    return made(conditions, policy, {"weigh": "0.1.0"}, blocks, {"fallback_rate": 0.0, "latency_p95": None})


def test_a_file_comes_back_as_it_was_and_equal_baselines_give_equal_bytes():
    one = baseline()
    assert read_baseline(written(one), "b.json") == one
    assert written(read_baseline(written(one), "b.json")) == written(baseline())
    assert faults(one, CONDITIONS) == []


def test_a_block_with_a_void_episode_is_not_played_again_and_means_are_of_the_others():
    one = baseline()
    assert [block.key for block in one.whole] == ["goofspiel/b0000"]
    assert one.means == (pytest.approx((0.25 - 0.125 + 0.5) / 4),)


@pytest.mark.parametrize(
    ("found", "put"),
    [("0.25", "0.26"), ('"seed": 0', '"seed": 1'), ('"mine"', '"yours"'), ("f" * 64, "e" * 64)],
)
def test_a_file_edited_by_hand_is_told(found, put):
    text = written(baseline(PROMPTED))
    assert found in text
    edited = read_baseline(text.replace(found, put, 1), "b.json")
    (line, *_) = faults(edited, edited.conditions)
    assert line.startswith("digest: the file was edited")


def test_white_space_and_the_order_of_keys_are_no_edits():
    document = json.loads(written(baseline()))
    shuffled = json.dumps(dict(reversed(document.items())))
    assert faults(read_baseline(shuffled, "b.json"), CONDITIONS) == []


def test_every_difference_is_named_with_both_values():
    now = CONDITIONS.model_copy(
        update={
            "config": {"seats": 4, "cards": 6},
            "seed": 3,
            "decision_timeout": 30.0,
            "field": (CONDITIONS.field[0], FieldPlayer(name="random", digest="s" * 64)),
            "rules": "b" * 64,
        }
    )
    lines = faults(baseline(), now)
    assert "config.cards: 13 in the baseline, 6 now" in lines
    assert "seed: 0 in the baseline, 3 now" in lines
    assert "decision_timeout: 60.0 in the baseline, 30.0 now" in lines
    assert any(line.startswith("opponents.random.digest: ") for line in lines)
    assert not any(line.startswith("rules") for line in lines)  # it follows from the others


def test_other_rules_alone_are_named():
    (line,) = faults(baseline(), CONDITIONS.model_copy(update={"rules": "b" * 64}))
    assert line.startswith("rules: ")


def test_another_field_is_named_by_its_names():
    now = CONDITIONS.model_copy(update={"field": CONDITIONS.field[:1]})
    assert faults(baseline(), now) == ["opponents: match, random in the baseline, match now"]


def test_the_layout_of_prompts_counts_only_where_a_model_read_one():
    now = CONDITIONS.model_copy(update={"layout": 2})
    assert faults(baseline(SCRIPTED), now) == []
    assert faults(baseline(PROMPTED), now) == ["layout: 1 in the baseline, 2 now"]


def _changed(**update):
    return json.dumps({**json.loads(written(baseline())), **update})


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("{", ["no baseline file"]),
        ("[]", ["no baseline file", "--save-baseline"]),
        ('{"a": 1, "a": 2}', ["stands twice"]),
        (_changed(schema_version=2), ["schema_version is 2", "upgrade weigh"]),
        (_changed(schema_version=True), ["schema_version"]),
        (_changed(extra=1), ["extra", "unknown key"]),
        (_changed(blocks=[]), ["blocks"]),
        (_changed(blocks=[{"key": "b", "scores": [2.0, 0.0]}]), ["blocks.0.scores", "at most 1"]),
    ],
)
def test_what_is_no_baseline_file_is_refused_in_one_clear_line(text, parts):
    with pytest.raises(BaselineInvalid) as refused:
        read_baseline(text, "b.json")
    assert "\n" not in str(refused.value)
    for part in ["b.json", *parts]:
        assert part in str(refused.value)


def test_the_digest_covers_everything_but_itself():
    one = baseline()
    assert digest_of(one.model_copy(update={"digest": "x"})) == one.digest
    assert digest_of(one.model_copy(update={"versions": {}})) != one.digest


def test_what_an_older_file_does_not_say_leaves_its_bytes_and_its_digest_alone():
    document = json.loads(written(baseline(PROMPTED)))
    assert set(document["policy"]) == {"name", "digest", "model", "prompt"}
    assert "errors" not in document
    assert faults(read_baseline(written(baseline(PROMPTED)), "b.json"), CONDITIONS) == []


def test_style_sampling_endpoint_and_errors_come_back_and_are_under_the_digest():
    known = PROMPTED.model_copy(update={"style": "schema", "sampling": {"temperature": 1.7}, "endpoint": "https://x"})
    blocks = baseline().blocks
    one = made(CONDITIONS, known, {}, blocks, {"fallback_rate": 0.1}, {"fallback_rate": 0.02})
    again = read_baseline(written(one), "b.json")
    assert again == one
    assert faults(again, CONDITIONS) == []
    for found, put in (("1.7", "1.8"), ("0.02", "0.03"), ("https://x", "https://y")):
        (line, *_) = faults(read_baseline(written(one).replace(found, put), "b.json"), CONDITIONS)
        assert line.startswith("digest: ")


@pytest.mark.parametrize(("seats", "named"), [(4, None), (None, None), (3, "goofspiel/b0000"), (5, "goofspiel/b0000")])
def test_every_block_has_as_many_scores_as_a_block_of_the_game(seats, named):
    lines = faults(baseline(), CONDITIONS, seats)
    assert [named in line for line in lines] == ([] if named is None else [True])


def test_a_block_of_another_length_is_named_though_the_digest_fits():
    one = baseline()
    odd = one.model_copy(update={"blocks": (one.blocks[0], one.blocks[1].model_copy(update={"scores": (0.0, 0.0)}))})
    (line,) = faults(odd.model_copy(update={"digest": digest_of(odd)}), CONDITIONS, 4)
    assert line == 'blocks: "goofspiel/b0001" has 2 scores, and a block here has 4'
