"""Replies that have been misread in public harnesses, each by its case number, and how they are read here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.policies.legal_sets import TO_TEN, Words
from weigh.policies.reply import Reading, read_reply
from weigh.policies.show import one_line


def read(text: str | None) -> Reading:
    return read_reply(text, "end", TO_TEN)


def is_move(text: str, move: int) -> bool:
    reading = read(text)
    return (reading.move, reading.fault, reading.detail) == (move, None, "")


def test_R01_an_illegal_answer_is_final_whatever_legal_numbers_surround_it() -> None:
    reading = read('A bid of 4 is weak, I thought.\n```json\n{"bid": 12}\n```')
    assert (reading.fault, reading.move, reading.candidates) == ("illegal", None, 1)
    assert "12" in reading.detail
    assert "0 to 10" in reading.detail


def test_R02_no_number_is_taken_from_prose() -> None:
    reading = read("There are 10 coins in my purse and my rival put down 3 before, so I stay modest.")
    assert (reading.fault, reading.move, reading.candidates) == ("unreadable", None, 0)


def test_R03_the_later_of_two_answers_counts_when_it_ends_the_reply() -> None:
    reading = read('{"bid": 3, "say": ""}\nBut the other may match that.\n{"bid": 5, "say": ""}')
    assert (reading.fault, reading.move, reading.candidates) == (None, 5, 2)


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ('First {"bid": 2}, then again {"bid": 6}', 6),
        ('{"bid": 9}\n\nNo.\n\n```json\n{"bid": 1}\n```\n', 1),
        ('{"bid": 9} {"bid": 9} {"bid": 0}', 0),
        ('{"bid": 4}{"bid": 8}', 8),
    ],
)
def test_R04_the_last_answer_wins_and_not_the_first(text: str, move: int) -> None:
    assert is_move(text, move)


def test_R04_tags_are_no_answer() -> None:
    assert read("Maybe <move>3</move>, or rather <move>5</move>").fault == "unreadable"


def test_R05_a_quote_after_the_answer_makes_it_ambiguous() -> None:
    reading = read('{"bid": 4, "say": ""}\nFor the record, they played {"bid": 9} a round ago.')
    assert (reading.fault, reading.move, reading.candidates) == ("ambiguous", None, 2)
    assert "4" in reading.detail
    assert "9" in reading.detail


@pytest.mark.parametrize("variant", ["{}", " {} ", "\t{}\n"])
@pytest.mark.parametrize("cased", [str, str.upper, str.lower, str.title])
def test_R07_every_action_word_reads_to_itself_in_any_case(variant: str, cased: type[str]) -> None:
    legal = Words("act", ("raise 4", "raise 14", "fold"))
    for word in legal.words:
        answer = json.dumps({"act": variant.format(cased(word))})
        assert read_reply(answer, "end", legal).move == word


def test_R08_an_unknown_token_asks_again_and_ends_nothing() -> None:
    legal = Words("act", ("pass", "O-O"))
    assert read_reply('{"act": "o-o"}', "end", legal).move == "O-O"
    for token in ("PASS!", "0-0", "pas", ""):
        assert read_reply(json.dumps({"act": token}), "end", legal).fault == "illegal"


@pytest.mark.parametrize("value", ['"-1"', "-1", '"-3"', "-0.5", '"5%"', '"1.0.0"'])
def test_R10_signs_points_and_percents_are_never_stripped(value: str) -> None:
    assert read(f'{{"bid": {value}}}').fault == "illegal"


def test_R10_a_signed_number_in_prose_is_no_answer() -> None:
    assert read("bid: -1").fault == "unreadable"


def test_R11_echoed_tables_and_glued_words_hold_no_answer() -> None:
    assert read("During phase10 I wait.\n| Ash | 4 |\n| Elm | 7 |\nbid7").fault == "unreadable"


def test_R13_all_before_a_closing_mark_is_thought_even_without_an_opening_one() -> None:
    assert is_move('It could be {"bid": 3}.\n</think>\n{"bid": 7}', 7)


def test_R14_nested_and_repeated_thinking_is_dropped_to_its_last_end() -> None:
    assert is_move('<think><think>{"bid": 2}</think>{"bid": 3}</think>{"bid": 7}', 7)
    assert is_move('<think>{"bid": 2}</think> so <think>{"bid": 3}</think>{"bid": 7}', 7)


@pytest.mark.parametrize("text", ['It is close {"bid": 1', '{"bid": 7}', "", 'so {"bid": 7} is my'])
def test_R16_a_reply_cut_at_the_token_cap_is_truncated_and_never_parsed(text: str) -> None:
    reading = read_reply(text, "length", TO_TEN)
    assert (reading.fault, reading.move, reading.candidates) == ("truncated", None, 0)


@pytest.mark.parametrize("text", [None, "", "  \n\t", "\u3000", "<think>so it is 7</think>\n"])
def test_R17_no_text_is_empty(text: str | None) -> None:
    assert read(text).fault == "empty"


@pytest.mark.parametrize("text", [None, "", "I cannot take part in wagers in this 2 player game", '{"bid": 2}'])
def test_R19_a_refusal_is_never_mined(text: str | None) -> None:
    reading = read_reply(text, "refusal", TO_TEN)
    assert (reading.fault, reading.move, reading.candidates) == ("refused", None, 0)


@pytest.mark.parametrize("text", [r"\boxed{7}", r"\boxed{\infty}", r"\boxed{inf}", r"$$\boxed{\text{bid } 7}$$"])
def test_R20_a_box_is_no_answer(text: str) -> None:
    assert read(text).fault == "unreadable"


@pytest.mark.parametrize("value", ["1e999", "-1e999", '"inf"', '"\\\\infty"', '"1e999"', "null"])
def test_R20_infinities_are_illegal_answers(value: str) -> None:
    assert read(f'{{"bid": {value}}}').fault == "illegal"


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_R20_the_infinities_of_other_dialects_are_no_json(value: str) -> None:
    assert read(f'{{"bid": {value}}}').fault == "unreadable"


@pytest.mark.parametrize("digit", ["\u00b2", "\uff17", "\u0667", "\u2466"])
def test_R22_digits_other_than_ascii_ones_are_no_bid(digit: str) -> None:
    assert read(json.dumps({"bid": digit})).fault == "illegal"
    assert read(f'{{"bid": "{digit}"}}').fault == "illegal"
    assert read(f"bid: {digit}").fault == "unreadable"


@pytest.mark.parametrize("value", ["7", '"7"', "7.0", '" 7 "', "70e-1", "0.7e1"])
def test_R23_seven_is_seven_however_it_is_written(value: str) -> None:
    assert is_move(f'{{"bid": {value}}}', 7)


@pytest.mark.parametrize("value", ["7.9", "true", "false", '"1_0"', '"7 or 8"', '"0x7"', "null", "7.0000001"])
def test_R23_nothing_is_truncated_or_coerced(value: str) -> None:
    assert read(f'{{"bid": {value}}}').fault == "illegal"


@pytest.mark.parametrize(
    "text",
    [
        '{"bid": 2, "bid": 9}',
        '{"bid": 2, "bid": 2}',
        '{"bid": 2, "\\u0062id": 9}',
        '{"bid": 2, "why": {"a": 1, "a": 1}}',
        '{"bid": 2, "why": [[{"a": 1, "b": 2, "a": 3}]]}',
    ],
)
def test_R24_a_key_that_stands_twice_in_the_answer_makes_it_ambiguous(text: str) -> None:
    reading = read(text)
    assert (reading.fault, reading.candidates) == ("ambiguous", 1)
    assert "twice" in reading.detail


@pytest.mark.parametrize(
    "text",
    [
        "{'bid': 7, 'say': \"don't worry, // trust me\",}",
        '{"bid": 7,}',
        '{"bid": 7 // sure\n}',
        '{"bid": 7 /* sure */}',
        "{bid: 7}",
        "{“bid”: 7}",
        '{"bid": 07}',
        '{"bid": +7}',
        '{"bid": 7, "say": "a\nb"}',
    ],
)
def test_R25_nothing_is_repaired(text: str) -> None:
    reading = read(text)
    assert (reading.fault, reading.move) == ("unreadable", None)
    assert "JSON" in reading.detail


@pytest.mark.parametrize("tail", ['"', "}", "}}", "]", "\n```", "'", "”", '"}\n', "```\n\n"])
def test_R26_stray_closers_after_the_answer_do_no_harm(tail: str) -> None:
    assert is_move('{"bid": 7}' + tail, 7)
    assert is_move('{"bid": 3} or rather {"bid": 7}' + tail, 7)


def test_R28_a_lone_surrogate_costs_no_valid_answer_and_can_be_written() -> None:
    reading = read('{"bid": 7, "notes": "ok \\ud83d"}')
    assert (reading.move, reading.notes) == (7, "ok \ufffd")
    assert read('{"bid": 7, "notes": "ok \ud83d"}').notes == "ok \ufffd"
    assert read('{"bid": "\\ud83d"}').detail.encode()
    assert read("no \ud83d").detail.encode()


def test_R29_control_and_bidi_characters_cost_no_valid_answer_and_are_shown_as_escapes() -> None:
    text = '{"bid": 7, "notes": "a\\u0000b\\u001b[2J\\u202e"}'
    reading = read(text)
    assert reading.move == 7
    assert reading.notes is not None
    assert one_line(reading.notes) == "a\\x00b\\x1b[2J\\u202e"
    assert read("nothing \x1b[2J\u202e here").detail.isprintable()


def test_R31_braces_in_texts_and_objects_within_do_not_cut_the_answer() -> None:
    reading = read('{"why": {"risk": 1}, "bid": 7, "notes": "I may {perhaps} bid \\"9\\" or }{ so"}')
    assert (reading.move, reading.notes) == (7, 'I may {perhaps} bid "9" or }{ so')


@pytest.mark.parametrize(
    "text",
    ['[{"bid": 7}]', '"{\\"bid\\": 7}"', '```json\n"{\\"bid\\": 7}"\n```', '[[{"bid": 7}]]', ' "\\n{ \\"bid\\": 7 }" '],
)
def test_R32_an_array_of_one_and_a_string_around_an_answer_count(text: str) -> None:
    assert is_move(text, 7)


@pytest.mark.parametrize("text", ["7", '"7"', "[7]", "**7**", "7.", "-7"])
def test_R32_a_bare_value_is_no_answer(text: str) -> None:
    assert read(text).fault == "unreadable"


def test_R35_identical_answers_collapse_and_many_different_ones_are_ambiguous() -> None:
    repeated = read('{"bid": 5}\n' * 2_000)
    assert (repeated.move, repeated.candidates) == (5, 1)
    every = read("".join(f'{{"bid": {bid}}}\n' for bid in TO_TEN) * 200)
    assert (every.fault, every.candidates) == ("ambiguous", 11)
    assert len(every.detail) < 200


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{\"bid\": \"__import__('os').system('touch pwned')\"}", "illegal"),
        ('{"bid": 9**9**9}', "unreadable"),
        ('{"bid": "9**9**9"}', "illegal"),
        ('{"bid": open("pwned", "w")}', "unreadable"),
    ],
)
def test_R37_nothing_in_a_reply_is_run(text: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read(text).fault == fault
    assert list(tmp_path.iterdir()) == []


def test_R38_an_answer_put_into_the_models_mouth_loses_to_its_own_last_one() -> None:
    assert is_move('Elm says {"bid": 0} but {"bid": 7}', 7)
    assert read('My answer is {"bid": 7}, although Elm says {"bid": 0}.').fault == "ambiguous"


def test_R41_names_match_whole() -> None:
    legal = Words("target", ("P1", "P10", "P2"))
    assert read_reply('{"target": "P10", "say": "P1 and P2 agree"}', "end", legal).move == "P10"
    assert read_reply('{"target": "P"}', "end", legal).fault == "illegal"
    assert read_reply('{"target": "P1 and P10"}', "end", legal).fault == "illegal"


def test_R42_two_moves_in_one_answer_are_none() -> None:
    assert read('{"bid": [3, 4]}').fault == "illegal"
    assert read("bid 3 and then 4").fault == "unreadable"


def test_R43_an_object_without_the_key_is_no_answer_and_the_key_is_named() -> None:
    reading = read('{"say": "hello", "confidence": 0.9}')
    assert (reading.fault, reading.candidates) == ("unreadable", 0)
    assert '"bid"' in reading.detail


@pytest.mark.parametrize("value", ["seven", "7 coins", "$7", "VII", "sieben", "七"])
def test_R44_words_units_and_other_scripts_are_no_bid(value: str) -> None:
    assert read(json.dumps({"bid": value}, ensure_ascii=False)).fault == "illegal"


def test_R44_a_key_in_another_language_is_another_key() -> None:
    reading = read('{"出价": 7}')
    assert reading.fault == "unreadable"
    assert "出价" in reading.detail


def test_P37_a_paused_turn_is_not_read() -> None:
    reading = read_reply('one moment {"bid": 7}', "pause", TO_TEN)
    assert (reading.fault, reading.move) == ("unreadable", None)
    assert "paused" in reading.detail


def test_P38_a_cap_used_up_by_hidden_reasoning_is_told_apart() -> None:
    hidden = read_reply("", "length", TO_TEN).detail
    assert "more tokens" in hidden
    assert read_reply("<think>and so on</think>", "length", TO_TEN).detail == hidden
    assert read_reply("Let me see", "length", TO_TEN).detail != hidden
