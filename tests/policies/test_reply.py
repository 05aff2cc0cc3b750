"""The rule by which replies are read, step by step."""

from __future__ import annotations

import json

import pytest

from benches.reading import SHAPES
from tests.policies.legal_sets import TO_TEN, Steps, Words, opening
from tests.work import assert_linear
from weigh.policies.candidates import MAX_BROKEN, MAX_DEPTH
from weigh.policies.reply import MAX_BRACKETS, MAX_CHARACTERS, MAX_WRITINGS, NOTES_LIMIT, Reading, read_reply

ODD_SPACES = ["\u00a0", "\u200b", "\u200d", "\u202f", "\u2060", "\u3000", "\ufeff"]


def read(text: str) -> Reading:
    return read_reply(text, "end", TO_TEN)


def test_step_1_why_the_model_stopped_comes_before_what_it_said() -> None:
    text = '{"bid": 7}'
    assert read_reply(text, "end", TO_TEN).move == 7
    assert read_reply(text, "refusal", TO_TEN).fault == "refused"
    assert read_reply(text, "length", TO_TEN).fault == "truncated"
    assert read_reply(text, "pause", TO_TEN).fault == "unreadable"
    assert read_reply(text, "tool_calls", TO_TEN).fault == "unreadable"


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ('{"bid": 7}', 7),
        ('I think {"bid": 1}, or better:\n{"bid": 7}', 7),
        ('```json\n{"bid": 7}\n```\n', 7),
        ('[{"bid": 7}]', 7),
        ('"{\\"bid\\": 7}"', 7),
        ('{"bid": 1}</think>{"bid": 7}', 7),
    ],
)
def test_step_1_under_a_stop_that_is_not_known_an_answer_that_ends_the_text_counts(text: str, move: int) -> None:
    assert read_reply(text, "unknown", TO_TEN) == Reading(move=move, candidates=read(text).candidates)


@pytest.mark.parametrize(
    "text",
    [
        'I think {"bid": 1} but wait, maybe it is better to',
        '{"bid": 1} or {"bid": 2}, I wou',
        '{"bid": 1',
        '{"bid": 1}\n{"bi',
        '[{"bid": 1}',
        '[{"bid": 1},',
        '{"bid": 1}</think>',
        '{"bid": 1}</think> So',
        "I bid",
    ],
)
def test_step_1_under_a_stop_that_is_not_known_anything_else_is_truncated(text: str) -> None:
    reading = read_reply(text, "unknown", TO_TEN)
    assert (reading.fault, reading.move, reading.notes) == ("truncated", None, None)


def test_step_1_an_answer_that_ends_the_text_may_still_be_a_fault() -> None:
    assert read_reply('{"bid": 99}', "unknown", TO_TEN).fault == "illegal"
    assert read_reply('{"bid": 1}{"bid": 2}{"bid": 3}', "unknown", TO_TEN).fault == "ambiguous"
    assert read_reply(" \n", "unknown", TO_TEN).fault == "empty"


def test_step_1_a_bare_list_counts_by_the_same_rule() -> None:
    legal = opening("ballast")
    move = next(move for move in legal if isinstance(move, list))
    text = f"I play: {json.dumps(move)}"
    assert read_reply(text, "unknown", legal).move == move
    assert read_reply(f"{text}, or rath", "unknown", legal).fault == "truncated"


@pytest.mark.parametrize("text", ['{"bid": 7}', "", None])
def test_step_1_what_its_provider_could_not_read_is_unreadable(text: str | None) -> None:
    assert read_reply(text, "malformed", TO_TEN).fault == "unreadable"


def test_step_1_a_tool_call_without_text_is_empty() -> None:
    for text in (None, "", " \n"):
        reading = read_reply(text, "tool_calls", TO_TEN)
        assert reading.fault == "empty"
        assert "tool" in reading.detail


def test_step_2_an_opening_mark_without_an_end_is_left_as_it_is() -> None:
    assert read('<think>So: {"bid": 7}').move == 7
    assert read('<think>Not {"bid": 3}. So: {"bid": 7}').move == 7
    assert read('<think>Take {"bid": 7}, not {"bid": 3} I think').fault == "ambiguous"


@pytest.mark.parametrize(
    "header", ["final", " final ", "final json", "final <|constrain|>json", "final code<|constrain|> json"]
)
@pytest.mark.parametrize("end", ["", "<|return|>", "<|end|><|start|>assistant<|channel|>commentary<|message|>{}"])
def test_step_2_of_channels_the_final_one_is_read_and_nothing_else(header: str, end: str) -> None:
    thought = '<|channel|>analysis<|message|>{"bid": 3} or {"bid": 2}?<|end|><|start|>assistant'
    final = f'<|channel|>{header}<|message|>{{"bid": 7}}'
    for text in (thought + final + end, final + end, thought + final + end + thought):
        assert read(text) == Reading(move=7, candidates=1)
    assert read(f"<|channel|>{header}<|message|>Hm.<|end|>{thought}{final}").move == 7


@pytest.mark.parametrize(
    "text",
    [
        '<|channel|>analysis<|message|>{"bid": 7}',
        '<|channel|>analysis<|message|>{"bid": 7}<|end|>{"bid": 7}',
        '<|channel|>commentary to=functions.bid <|constrain|>json<|message|>{"bid": 7}<|call|>',
        'analysisThe final bid {"bid": 7}',
        'analysis{"bid": 7}assistantcommentary{"bid": 7}',
    ],
)
def test_step_2_channels_without_a_final_one_are_empty(text: str) -> None:
    assert read(text).fault == "empty"
    assert read_reply(text, "unknown", TO_TEN).fault == "truncated"


def test_step_2_channels_whose_tokens_were_taken_out_are_known_by_how_they_run_together() -> None:
    assert read('analysisI weigh {"bid": 3} and {"bid": 2}.assistantfinal{"bid": 7}').move == 7
    assert read('analysis of it: {"bid": 7}').move == 7
    assert read('An analysisX: {"bid": 7}').move == 7


@pytest.mark.parametrize(
    "text", ["<|im_end|>", "</think>\n<|im_end|>", " \u200b\n", "<think></think><｜end▁of▁sentence｜>"]
)
def test_step_2_marks_of_chat_templates_are_no_answer(text: str) -> None:
    assert read(text).fault == "empty"


def test_step_2_an_answer_before_the_last_closing_mark_is_thought() -> None:
    reading = read('{"bid": 7}</think>')
    assert reading.fault == "empty"
    assert "thinking" in reading.detail
    assert read('{"bid": 7}</think> done').fault == "unreadable"


def test_step_3_bounds_are_faults_and_just_within_them_replies_are_read() -> None:
    answer = '{"bid": 7}'
    assert read(answer + "x" * (MAX_CHARACTERS - len(answer))).move == 7
    assert read(answer + "x" * (MAX_CHARACTERS - len(answer) + 1)).fault == "unreadable"
    assert read(answer + "}" * (MAX_BRACKETS - 2)).move == 7
    assert read(answer + "}" * (MAX_BRACKETS - 1)).fault == "unreadable"
    deep = "[" * (MAX_DEPTH - 2), "]" * (MAX_DEPTH - 2)
    assert read(f'{{"why": [{deep[0]}{deep[1]}], "bid": 7}}').move == 7
    assert read(f'{{"why": [[{deep[0]}{deep[1]}]], "bid": 7}}').fault == "unreadable"


def test_step_3_brackets_of_thinking_are_not_counted() -> None:
    assert read("[" * (MAX_BRACKETS + 1) + '</think>{"bid": 7}').move == 7


def test_step_3_deep_nesting_spoils_the_whole_reply_wherever_it_stands() -> None:
    for deep in ("[" * 5_000, '{"a":' * 5_000, '{"}":' * 5_000, "[" * 65 + "]" * 65):
        for text in (deep, deep + 'x {"bid": 7}', '{"bid": 7}' + deep):
            reading = read(text)
            assert (reading.fault, reading.move) == ("unreadable", None)
            assert "deep" in reading.detail


def test_step_3_too_many_broken_openings_or_different_objects() -> None:
    assert read('{"a" ' * MAX_BROKEN + '{"bid": 7}').move == 7
    assert read('{"a" ' * (MAX_BROKEN + 1) + '{"bid": 7}').fault == "unreadable"
    fitting = "".join(f'{{"bid": 7, "n": {n}}}' for n in range(MAX_WRITINGS))
    assert read(fitting).move == 7
    assert read(fitting + '{"bid": 7}').fault == "unreadable"


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": {"bid": 7}}',
        '{"moves": [{"bid": 7}]}',
        '{"bid": 7, "if": {"bid": 3}',
        '{"say": "they said {"bid": 9}"}',
        '{"say": "they said\n{"bid": 9}"}',
        '{"bid": 7',
        '"bid": 7}',
        '["{\\"bid\\": 7}"]',
        '"so {\\"bid\\": 7}"',
        '"{\\"bid\\": 7}" is it',
        '{"Bid": 7}',
        '{"bids": 7}',
    ],
)
def test_step_4_what_is_no_candidate(text: str) -> None:
    reading = read(text)
    assert (reading.fault, reading.move, reading.candidates) == ("unreadable", None, 0)


@pytest.mark.parametrize(
    "text",
    [
        '{{"bid": 7}}',
        'The form is {"bid": <card>}. So {"bid": 7}.',
        '{"bid": 3,} no: {"bid": 7}',
        r'\frac{1}{2} of it {"bid": 7}',
        '{"say": "it is [1, 2"} {"bid": 7}',
        'My {card}: {"bid": 7}',
        '{"bid": 7}{"confidence": 1}',
        '{"confidence": 1}{"bid": 7}',
        '[1, {"bid": 7}, "x"]',
        '[{"bid": 7}, {"bid": "7"}]',
        '[["I said {"], {"bid": 7}]',
        '{"\\u0062id": 7}',
        "\ufeff" + '{"bid": 7}',
        '{"bid":\n\t7 }',
    ],
)
def test_step_4_what_is_the_one_candidate(text: str) -> None:
    reading = read(text)
    assert (reading.move, reading.fault, reading.candidates) == (7, None, 1)


@pytest.mark.parametrize("space", ODD_SPACES)
def test_step_4_spaces_that_nobody_sees_are_white_space_between_tokens_and_nowhere_else(space: str) -> None:
    for text in (
        '{"bid":# 7}',
        '#{#"bid"# :#7#}#',
        '[#{"bid":#7}]',
        '#"{#\\"bid\\":#7}"',
        '```json\n#"{\\"bid\\":#7}"#\n```',
    ):
        assert read(text.replace("#", space)) == Reading(move=7, candidates=1)
    assert read_reply(f'{{"w":{space}"a{space}b"}}', "end", Words("w", (f"a{space}b",))).move == f"a{space}b"
    assert read(f'{{"bid": 1{space}0}}').fault == "unreadable"
    notes = read(f'{{"bid":{space}7, "notes": "a{space}\\"b"}}').notes
    assert notes == f'a{space}"b'
    bare = f'["pass",{space}1]'
    assert read_reply(bare, "end", opening("ballast")) == read_reply(
        bare.replace(space, " "), "end", opening("ballast")
    )


def test_step_5_answers_are_told_apart_by_the_move_they_read_to() -> None:
    reading = read('{"bid": 7} then {"bid": "7"} then {"bid": 7.0} as I said')
    assert (reading.move, reading.candidates) == (7, 1)
    assert read_reply('{"bid": "K"} that is {"bid": 13}.', "end", opening("goofspiel")).move == 13


def test_step_5_of_what_a_refusal_says_160_characters_are_quoted() -> None:
    reading = read_reply('{"w": "' + "x" * 1_000 + '"}', "end", Words("w", ("a",)))
    assert reading.detail.count("x") == 160 - len("'")


def test_step_5_refused_answers_are_told_apart_by_what_they_say() -> None:
    reading = read('{"bid": 12} {"bid": 12.5} no more')
    assert (reading.fault, reading.candidates) == ("ambiguous", 2)
    same = read('{"bid": 12, "a": 1} {"bid": 12, "a": 2} no more')
    assert (same.fault, same.candidates) == ("illegal", 1)


TURN_MARKS = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "</s>",
    "<end_of_turn>",
    "<eos>",
    "<EOT>",
    "<turn|>",
    "[|endofturn|]",
    "<|end_of_box|>",
    "<｜end▁of▁sentence｜>",
]
ORNAMENTS = ["`", "**", "_", "$$", "\n~~~", "\n---", "\n***\n", "\n====", "</answer>", "</final_answer>\n<|eot_id|>\n"]


@pytest.mark.parametrize(
    "tail", ["", "\n", "```", "\n```\n", "}", "]", '"', " } ] \n```", *TURN_MARKS, *ORNAMENTS, *ODD_SPACES]
)
def test_step_5_what_may_follow_the_last_of_two(tail: str) -> None:
    reading = read('{"bid": 3} {"bid": 7}' + tail)
    assert (reading.move, reading.candidates) == (7, 2)


@pytest.mark.parametrize(
    "tail",
    [
        *[".", ")", " ok", "{", "[", ",", "\n\n-", "~~", "{}", '{"a": 1}', "</b>", "</quote>"],
        *["<answer>", "<|im_end|>\n<|im_start|>user", "<|no mark", "<im_end>"],
    ],
)
def test_step_5_what_may_not_follow_the_last_of_two(tail: str) -> None:
    reading = read('{"bid": 3} {"bid": 7}' + tail)
    assert (reading.fault, reading.candidates) == ("ambiguous", 2)


@pytest.mark.parametrize(
    "text",
    [
        '[{"bid": 3}, {"bid": 7}]',
        '{"bid": 3} [4, {"bid": 7}]',
        '[{"bid": 3}, {"bid": 7}\n]\n```',
        '{"bid": 3} and the other said "{"bid": 7}"',
        '{"bid": 3} and the other said \'{"bid": 7}\'',
        '{"bid": 3} and the other said “{"bid": 7}”',
    ],
)
def test_step_5_one_of_several_in_an_array_and_one_in_quotation_marks_end_nothing(text: str) -> None:
    reading = read(text)
    assert (reading.fault, reading.candidates) == ("ambiguous", 2)


def test_step_5_three_distinct_answers_are_ambiguous_even_if_the_last_ends_the_reply() -> None:
    reading = read('{"bid": 3} {"bid": 5} {"bid": 7}')
    assert (reading.fault, reading.candidates) == ("ambiguous", 3)
    for shown in ("3", "5", "7"):
        assert shown in reading.detail


def test_step_5_the_last_to_stand_counts_even_when_it_was_also_the_first() -> None:
    reading = read('{"bid": 7} {"bid": 3} {"bid": 7}')
    assert (reading.move, reading.candidates) == (7, 2)


def test_step_5_a_repeated_key_counts_only_in_the_answer() -> None:
    assert read('{"bid": 2, "bid": 9} no: {"bid": 7}').move == 7
    assert read('{"bid": 7} no: {"bid": 2, "bid": 9}').fault == "ambiguous"
    assert read('{"a": 1, "a": 2} {"bid": 7}').move == 7


def test_step_6_no_other_answer_is_tried_after_an_illegal_one() -> None:
    reading = read('{"bid": 7} on reflection {"bid": 12}')
    assert (reading.fault, reading.move, reading.candidates) == ("illegal", None, 2)
    assert "12" in reading.detail


def test_step_6_an_answer_of_the_wrong_shape_is_illegal_too() -> None:
    for value in ("7.5", "true", "null", "[7]", '{"of": 7}', '"seven"'):
        assert read(f'{{"bid": {value}}}').fault == "illegal"


@pytest.mark.parametrize("digits", [301, 4_000, 5_000, 100_000])
def test_step_6_a_number_of_any_length_is_read_and_refused(digits: int) -> None:
    for value in ("9" * digits, "-" + "9" * digits, "1" + "0" * digits + ".5", '"' + "9" * digits + '"'):
        reading = read(f'{{"bid": {value}}}')
        assert reading.fault == "illegal"
        assert len(reading.detail) < 300


def test_step_7_notes_are_cut_on_code_points_and_stripped() -> None:
    assert read('{"bid": 7, "notes": "  saves high cards \\n"}').notes == "saves high cards"
    reading = read(f'{{"bid": 7, "notes": "{"é🂡" * NOTES_LIMIT}"}}')
    assert reading.notes == "é🂡" * (NOTES_LIMIT // 2)


@pytest.mark.parametrize("notes", ["", '"notes": "", ', '"notes": " ", ', '"notes": null, ', '"notes": ["a"], '])
def test_step_7_without_notes_the_old_ones_stay(notes: str) -> None:
    reading = read(f'{{{notes}"bid": 7}}')
    assert (reading.move, reading.notes) == (7, None)


def test_step_7_notes_come_from_the_answer_alone_and_not_with_a_fault() -> None:
    assert read('{"bid": 3, "notes": "old"} {"bid": 7, "notes": "new"}').notes == "new"
    assert read('{"bid": 7, "notes": "first"} {"bid": 7}').notes is None
    assert read('{"notes": "alone"} {"bid": 7}').notes is None
    assert read('{"bid": 12, "notes": "kept?"}').notes is None


def test_with_several_keys_the_object_is_cut_to_them() -> None:
    legal = Steps()
    reading = read_reply('{"why": "x", "distance": 2, "direction": "left", "notes": "n"}', "end", legal)
    assert (reading.move, reading.notes) == (["left", 2], "n")
    apart = read_reply('{"direction": "left"} {"distance": 2}', "end", legal)
    assert (apart.fault, apart.candidates) == ("illegal", 2)
    same = read_reply('{"direction": "left", "distance": 1} {"distance": 1, "direction": "left"}!', "end", legal)
    assert (same.move, same.candidates) == (["left", 1], 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("I would rather wait.", "no JSON object in the reply: I would rather wait."),
        ("{'bid': 7}", "not JSON, which needs double quotes around keys and texts: {'bid': 7}"),
        ('{"bid": 7,}', 'not complete, strict JSON: {"bid": 7,}'),
        ("7", '7 stands alone; the answer is a JSON object with the key "bid"'),
        ('{"say": "x"}', 'no object with the key "bid": {"say": "x"} has no such key'),
        ('{"a": {"bid": 7}}', 'no object with the key "bid": {"a": {"bid": 7}} has it below its top level'),
        ('{"bid": 1, "bid": 2}', 'the key "bid" stands twice in {"bid": 1, "bid": 2}'),
        ('{"bid": 1} {"bid": 2}.', "2 different answers, and the last does not end the reply: 1, 2"),
        (
            "".join(f'{{"bid": {n}}}' for n in range(9)),
            "9 different answers: 0, 1, 2, 3, 4, 5 and 3 more",
        ),
    ],
)
def test_a_detail_says_what_was_there(text: str, says: str) -> None:
    assert read(text).detail == says


@pytest.mark.parametrize(
    "text", ["x" * 5_000, '{"bid": 7, ' + "y" * 5_000, '{"a": "' + "z" * 5_000 + '"}', '{"bid": "' + "w" * 5_000 + '"}']
)
def test_a_detail_is_one_short_printable_line(text: str) -> None:
    for hostile in ("", "\x1b[31m\n", "\u202e\u200b", "\ud800"):
        detail = read(hostile + text).detail
        assert len(detail) < 260
        assert detail.isprintable()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.slow
def test_every_shape_of_reply_is_read_in_proportion_to_its_length(shape: str) -> None:
    text = SHAPES[shape]()
    assert_linear(read, lambda size: text[:size], 20_000)
    # At the bounds it takes well under a tenth of a second on an idle machine; a pattern that goes back over it, hours.
    reading = read(text)
    assert (reading.fault is None) == (reading.move in TO_TEN)
