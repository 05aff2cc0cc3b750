"""Reading words: letter case and white space are forgiven, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from weigh.games.game import MoveUnreadable
from weigh.games.values import read_word

SIDES = ("left", "Right")


@pytest.mark.parametrize("value", ["right", "RIGHT", " Right\n", "\trIgHt "])
def test_a_word_is_read_as_it_is_written_in_the_list(value: str) -> None:
    assert read_word(value, "a side", SIDES) == "Right"


@pytest.mark.parametrize(
    "value",
    [
        "r",
        "rights",
        "right side",
        "",
        " ",
        "left or right",
        "le ft",
        "ｌｅｆｔ",
        "le\ufb00t",
        "left\u00a0",
        "left" + " " * 40,
    ],
)
def test_another_text_is_none(value: str) -> None:
    with pytest.raises(MoveUnreadable, match=r"is not a side: a side is left or Right$"):
        read_word(value, "a side", SIDES)


@pytest.mark.parametrize("value", [None, 1, True, ["left"], {"side": "left"}])
def test_another_value_is_none(value: Any) -> None:
    with pytest.raises(MoveUnreadable, match="is not a side"):
        read_word(value, "a side", SIDES)


def test_a_long_text_is_cut_in_the_message() -> None:
    with pytest.raises(MoveUnreadable) as refused:
        read_word("left" * 10_000, "a word", ("left",))
    assert len(str(refused.value)) < 120
    assert str(refused.value).endswith("is not a word: a word is left")
