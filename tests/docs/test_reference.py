"""The reference pages are those that `make reference` writes, and leave no key without a meaning."""

from __future__ import annotations

from itertools import chain

import pytest

from tests.docs import outputs, reference
from weigh.games.registry import GAMES


def written(name: str) -> str:
    return (reference.FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "output.md")) for name in reference.pages()]
)
def test_a_page_is_as_the_code_makes_it(name: str) -> None:
    assert reference.pages()[name]() == written(name), "make reference"


def test_every_config_key_has_a_meaning() -> None:
    kinds = [kind for _, _, kind in (*reference.LADDER, *reference.GATE)]
    kinds += [game.config_type for game in GAMES.values()]
    rows = chain.from_iterable(reference.config_keys(kind)[2:-1] for kind in kinds)
    assert [row for row in rows if row.endswith("|  |")] == []


@pytest.mark.slow
def test_every_key_and_column_of_an_output_has_a_meaning() -> None:
    assert outputs.undocumented() == []
