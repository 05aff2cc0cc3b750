"""How a problem in a config file reads, and where it is found."""

from __future__ import annotations

import tomllib

import pytest
from pydantic import Field

from weigh.harness.config.problems import KeyPath, Problems, Section, dotted, line_numbers
from weigh.harness.errors import ConfigError
from weigh.harness.words import as_written

TEXT = '''# a comment
seed = 1
[limits]
decision_timeout = 60.0
"max_calls" = 3
[ entrants . "gpt-5.1" ]   # a header with spaces and quotes
prompt = """
[limits]
seed = 2
"""
model = 'x:y'
extra = { a = 1, b = 2 }
a.b.c = 4
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("seed",), 2),
        (("limits",), 3),
        (("limits", "decision_timeout"), 4),
        (("limits", "max_calls"), 5),
        (("entrants", "gpt-5.1"), 6),
        (("entrants", "gpt-5.1", "prompt"), 7),
        (("entrants", "gpt-5.1", "model"), 11),
        (("entrants", "gpt-5.1", "a", "b", "c"), 13),
        (("entrants", "gpt-5.1", "a"), 13),
    ],
)
def test_keys_are_found_on_their_lines_and_not_within_texts(path: KeyPath, line: int) -> None:
    tomllib.loads(TEXT)
    assert line_numbers(TEXT)[path] == line


def test_a_key_without_a_line_of_its_own_is_placed_on_its_tables_line() -> None:
    problems = Problems("x.toml", TEXT)
    problems.add(("entrants", "gpt-5.1", "extra", "b"), "is wrong")
    problems.add(("rank", "nothing"), "is missing")
    with pytest.raises(ConfigError) as caught:
        problems.raise_if_any()
    assert caught.value.lines == (
        "x.toml: rank.nothing: is missing",
        'x.toml:12: entrants."gpt-5.1".extra.b: is wrong',
    )


class Sample(Section):
    whole: int = Field(default=1, ge=0, le=9)
    number: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    text: str = "x"
    flag: bool = True
    table: dict[str, int] = Field(default_factory=dict)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("whole = true", "whole: must be a whole number, not true"),
        ('whole = "4"', 'whole: must be a whole number, not the text "4"'),
        ("whole = 4.0", "whole: must be a whole number, not 4.0"),
        ("whole = -1", "whole: must be at least 0, not -1"),
        ("whole = 10", "whole: must be at most 9, not 10"),
        ("whole = [42]", "whole: must be a whole number, not the list [42]"),
        ("whole = 2024-01-01", "whole: must be a whole number, not the date or time 2024-01-01"),
        ("number = inf", "number: must be a finite number, not inf"),
        ("number = nan", "number: must be a finite number, not nan"),
        ("number = 0", "number: must be above 0.0, not 0"),
        ("number = true", "number: must be a number, not true"),
        ("text = 1.10", "text: must be text, not 1.1; put it in quotes"),
        ("text = false", "text: must be text, not false; put it in quotes"),
        ("flag = 1", "flag: must be true or false, not 1"),
        ('flag = "no"', 'flag: must be true or false, not the text "no"'),
        ("table = 3", "table: must be a table, not 3"),
        ("tabel = {}", "tabel: unknown key; did you mean 'table'?"),
        ("zzzz = 1", "zzzz: unknown key; known: flag, number, table, text, whole"),
    ],
)
def test_c05_c22_each_wrong_value_is_named_with_its_bound(line: str, message: str) -> None:
    problems = Problems("x.toml", line)
    assert problems.check(Sample, tomllib.loads(line), ()) is None
    with pytest.raises(ConfigError) as caught:
        problems.raise_if_any()
    assert caught.value.lines == (f"x.toml:1: {message}",)


def test_right_values_are_taken_as_they_are() -> None:
    problems = Problems("x.toml", "")
    assert problems.check(Sample, {"whole": 0, "number": 3}, ()) == Sample(whole=0, number=3.0)
    problems.raise_if_any()


def test_problems_come_in_the_order_of_the_file_and_once() -> None:
    text = "b = 1\na = 2\n"
    problems = Problems("x.toml", text)
    for key in ("a", "b", "a"):
        problems.add((key,), "is wrong")
    with pytest.raises(ConfigError, match=r"^x.toml:1: b: is wrong\nx.toml:2: a: is wrong$"):
        problems.raise_if_any()


def test_values_of_the_command_line_are_not_blamed_on_the_file() -> None:
    problems = Problems("x.toml", "seed = 1", [("seed",)])
    problems.add(("seed",), "must be at least 0, not -1")
    with pytest.raises(ConfigError, match=r"^command line: seed: must be at least 0, not -1$"):
        problems.raise_if_any()


def test_a_huge_value_is_cut_in_the_message() -> None:
    assert len(as_written("x" * 100_000)) < 100
    assert len(as_written(10**5000)) < 100
    assert len(as_written([1] * 100_000)) < 100


def test_keys_are_written_as_toml_would_have_them() -> None:
    assert dotted(("models", "openai:gpt-5", "concurrency")) == 'models."openai:gpt-5".concurrency'
