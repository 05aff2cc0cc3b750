"""Who is held against whom, and that every difference is named."""

from __future__ import annotations

import pytest

from weigh.harness.gate.baseline import PolicyIdentity, differing

SAMPLING = {"max_tokens": 1024, "temperature": None, "seed": None, "extra": {}}
MINE = PolicyIdentity(
    name="mine",
    digest="a" * 64,
    model="openai:m",
    prompt="b" * 64,
    style="schema",
    sampling=SAMPLING,
    endpoint="https://api.openai.com/v1",
)
MATCH = PolicyIdentity(name="match", digest="c" * 64)


def changed(**update):
    return MINE.model_copy(update=update)


@pytest.mark.parametrize(
    ("update", "names"),
    [
        ({}, ()),
        ({"name": "renamed"}, ()),
        ({"prompt": "d" * 64}, ("prompt",)),
        ({"model": "openai:n"}, ("model openai:n",)),
        ({"style": "json-only"}, ("style json-only",)),
        ({"sampling": {**SAMPLING, "temperature": 1.7}}, ("temperature 1.7",)),
        ({"sampling": {**SAMPLING, "max_tokens": 32, "seed": 7}}, ("max tokens 32", "seed 7")),
        ({"sampling": {**SAMPLING, "extra": {"reasoning": "high"}}}, ("extra {'reasoning': 'high'}",)),
        ({"endpoint": "this machine"}, ("endpoint this machine",)),
        ({"digest": "e" * 64}, ("policy digest",)),
        ({"prompt": "d" * 64, "digest": "e" * 64}, ("prompt",)),
    ],
)
def test_every_difference_is_named(update, names):
    assert differing(changed(**update), MINE) == names


def test_back_to_the_providers_own_temperature_is_a_difference():
    warm = changed(sampling={**SAMPLING, "temperature": 0.0})
    assert differing(MINE, warm) == ("temperature of the provider",)
    assert differing(warm, MINE) == ("temperature 0.0",)


def test_a_script_and_a_model_are_two_policies():
    assert differing(MATCH, MINE) == ("policy match",)
    assert differing(MINE, MATCH) == ("policy mine",)
    assert differing(MATCH, MATCH) == ()


def test_what_an_older_baseline_does_not_say_is_no_difference():
    older = changed(style=None, sampling=None, endpoint=None)
    assert differing(MINE, older) == ()
    assert "sampling not known" in str(older)


def test_a_line_has_name_digest_model_prompt_and_sampling():
    line = (
        "mine, digest aaaaaaaaaaaa, openai:m, prompt bbbbbbbbbbbb, schema, max tokens 1024, temperature of the provider"
    )
    assert str(MINE) == line
    assert str(MATCH) == "match, digest cccccccccccc"
