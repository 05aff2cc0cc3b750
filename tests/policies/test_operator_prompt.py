"""The form of an operator's prompt, and one clear line for each way to get it wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.policies.operator_prompt import (
    MAX_CHARACTERS,
    OperatorPrompt,
    PromptInvalid,
    parse_prompt,
    parse_prompt_bytes,
)
from weigh.policies.show import one_line

WHOLE = """---
name: careful
game: goofspiel, oshi_zumo
style: json-only
description: waits, then strikes
---

Wait.

Then strike.
"""


def wrong(text: str) -> str:
    with pytest.raises(PromptInvalid) as caught:
        parse_prompt(text, "mine/careful.md")
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("mine/careful.md:")
    return message.removeprefix("mine/careful.md:")


def test_a_whole_prompt() -> None:
    assert parse_prompt(WHOLE, "x.md") == OperatorPrompt(
        name="careful",
        text="Wait.\n\nThen strike.",
        games=("goofspiel", "oshi_zumo"),
        style="json-only",
        description="waits, then strikes",
    )


def test_only_the_name_is_required_in_a_header() -> None:
    prompt = parse_prompt("---\nname: a\n---\nGo.", "x.md")
    assert prompt == OperatorPrompt("a", "Go.", (), None, "")
    assert prompt.suits("goofspiel")
    assert prompt.suits("any other")
    assert not parse_prompt(WHOLE, "x.md").suits("any other")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_byte_order_marks_and_foreign_line_ends_change_nothing(mark: str, end: str) -> None:
    assert parse_prompt(mark + WHOLE.replace("\n", end), "x.md") == parse_prompt(WHOLE, "x.md")
    assert parse_prompt_bytes((mark + WHOLE.replace("\n", end)).encode(), "x.md") == parse_prompt(WHOLE, "x.md")


def test_quotes_around_values_blank_lines_and_spaces_are_allowed() -> None:
    text = "\n---  \n name :  'careful' \n\ndescription: \"a: b\"\n--- \nGo."
    prompt = parse_prompt(text, "x.md")
    assert (prompt.name, prompt.description) == ("careful", "a: b")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("careful.md", "careful"),
        ("/home/me/prompts/careful.md", "careful"),
        ("C:\\prompts\\careful.v2.md", "careful.v2"),
        ("my best one.md", "my-best-one"),
        ("NOTES", "NOTES"),
        ("출가.md", "prompt"),
        (".md", "md"),
        ("-", "prompt"),
    ],
)
def test_a_text_without_a_header_is_named_after_its_source(source: str, name: str) -> None:
    assert parse_prompt("Wait, then strike.\n---\nAlways.", source) == OperatorPrompt(
        name, "Wait, then strike.\n---\nAlways."
    )


@pytest.mark.parametrize("text", ["", " \n\t\n", "\ufeff"])
def test_an_empty_prompt(text: str) -> None:
    assert "empty" in wrong(text)


def test_a_header_without_guidance() -> None:
    assert wrong("---\nname: a\n---\n \n").startswith("4: nothing follows the header")


def test_a_header_without_an_end() -> None:
    assert wrong("---\nname: a\nGo.\n").startswith("1: the header has no end")


def test_a_header_without_a_name() -> None:
    assert wrong("---\ngame: goofspiel\n---\nGo.").startswith("1: the header has no name")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("nane: b", "2: unknown header key nane; did you mean 'name'?"),
        ("Style: schema", "2: unknown header key Style; did you mean 'style'?"),
        ("temperature: 1", "2: unknown header key temperature; known keys: name, game, style, description"),
        ("just words", "2: just words is no header line; write `key: value`"),
        ("game:", "2: game has no value; give it one or remove the line"),
        ("game: a,,b", "2:  is no name"),
        ("game: ../goofspiel", "2: ../goofspiel is no name"),
        ("style: chatty", "2: unknown style chatty; styles: reason-then-json, json-only, schema"),
        ("\x1b: b", "2: holds the character \\x1b; a prompt is plain text, not a binary file"),
    ],
)
def test_a_wrong_header_line_is_named_with_its_number(line: str, says: str) -> None:
    assert wrong(f"---\n{line}\nname: a\n---\nGo.").startswith(says)


def test_a_key_that_stands_twice() -> None:
    assert wrong("---\nname: a\nname: b\n---\nGo.").startswith("3: the header has name twice")


@pytest.mark.parametrize("name", ["two words", "-a", "a/b", "a" * 65, "é", "a:b"])
def test_a_name_that_is_no_identifier(name: str) -> None:
    assert wrong(f"---\nname: {name}\n---\nGo.").startswith("2: ")


def test_a_prompt_of_stated_size() -> None:
    assert len(parse_prompt("x" * MAX_CHARACTERS, "x.md").text) == MAX_CHARACTERS
    assert "20,001 characters" in wrong("x" * (MAX_CHARACTERS + 1))
    with pytest.raises(PromptInvalid, match="bytes"):
        parse_prompt_bytes(b"x" * (4 * MAX_CHARACTERS + 1), "x.md")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\x89PNG\r\n\x1a\n", "x.md:1: not UTF-8 text"),
        (b"ok\nthen \xff", "x.md:2: not UTF-8 text"),
        ("Wait.".encode("utf-16"), "x.md: this is UTF-16 text"),
        ("Wait.".encode("utf-16-be"), "x.md:1: holds the character \\x00"),
        (b"fine\nGo\x00.", "x.md:2: holds the character \\x00"),
        (b"", "x.md: the prompt is empty"),
    ],
)
def test_binary_files_are_refused_in_one_line(data: bytes, says: str) -> None:
    with pytest.raises(PromptInvalid) as caught:
        parse_prompt_bytes(data, "x.md")
    assert str(caught.value).startswith(says)
    assert "\n" not in str(caught.value)


@given(st.one_of(st.text(), st.text().map(lambda text: f"---\n{text}\n---\nGo."), st.binary()))
def test_any_text_is_a_prompt_or_refused_in_one_line(given_text: str | bytes) -> None:
    try:
        if isinstance(given_text, str):
            prompt = parse_prompt(given_text, "x.md")
        else:
            prompt = parse_prompt_bytes(given_text, "x.md")
    except PromptInvalid as refusal:
        assert str(refusal).startswith("x.md:")
        assert one_line(str(refusal), 500) == str(refusal)
    else:
        assert prompt.text.strip() == prompt.text != ""
        assert prompt.name
