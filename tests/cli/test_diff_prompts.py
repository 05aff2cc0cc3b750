"""`weigh diff-prompts` and `weigh prompt show`: they show what a model is sent; nothing in it is hidden or hostile."""

from __future__ import annotations

import asyncio
import sys
from unittest import mock

import pytest

from tests.cli.runner import ROOT, config, weigh
from weigh.games.registry import GAMES, read_config
from weigh.harness.config.prompt_files import read_prompt
from weigh.harness.planning.prompt_comparison import SEAT, form_of, questions
from weigh.harness.providers.endpoints.known import THINKING_CAP
from weigh.harness.run.offline import played
from weigh.harness.run.runner import Division
from weigh.policies.contract import STYLES, Completion, Sampling
from weigh.policies.prompted import PromptedPolicy
from weigh.policies.scripted.registry import fallback_of, scripted

PLAIN, TEMPO = "goofspiel/plain.md", "goofspiel/tempo.md"


def prompt(folder, text, name="a.md"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def diff(*words, **options):
    return weigh("diff-prompts", *words, **options)


class Listener:
    """A model's place: keeps what it is asked, and never answers well."""

    def __init__(self):
        self.requests = []

    def open(self, step, attempt):
        pass

    async def complete(self, request):
        self.requests.append(request)
        return Completion("no answer", "end")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", GAMES)
def test_the_first_question_is_the_very_request_that_the_policy_sends(name, style):
    game = GAMES[name]
    settings = read_config(game, {})
    file = read_prompt(f"{name}/plain.md", ROOT)
    policy = PromptedPolicy("mine", file.prompt, "mock:small", Sampling(), style, game, settings)
    asked = asyncio.run(questions(policy))
    assert asyncio.run(questions(policy)) == asked
    assert [one.step for one in asked] == sorted({one.step for one in asked})

    line = Listener()
    others = [scripted(name, "random")] * (game.seat_count(settings) - 1)
    division = Division(game, settings, {}, fallback_of(name))
    asyncio.run(played(division, [policy, *others], f"plan/prompts/{name}", 0, 0, {SEAT: line}))
    assert line.requests[0].digest == asked[0].request.digest


def test_both_prompts_meet_the_same_positions_to_the_end():
    document = diff(PLAIN, TEMPO, "--all", "--json").json
    users = [message for message in document["messages"] if message["role"] == "user"]
    assert [message["step"] for message in users] == list(range(13))
    assert all(message["same"] and message["a"] == message["b"] for message in users)
    (system,) = [message for message in document["messages"] if message["role"] == "system"]
    assert not system["same"]
    assert "\n# Advice\nPlay to win." in system["a"]
    assert "-win it. Only your own share" in "\n".join(system["diff"])


def test_sizes_and_their_difference_are_those_of_the_messages():
    document = diff(PLAIN, TEMPO, "--all", "--json").json
    system, *users = document["messages"]
    for side in ("a", "b"):
        sizes = [len(system[side]) + len(user[side]) for user in users]
        assert [question[side]["characters"] for question in document["questions"]] == sizes
        assert document[side]["episode_characters"] == sum(sizes)
        assert document["questions"][0][side]["tokens"] == round(sizes[0] / 4)
    first = document["questions"][0]
    assert first["difference"]["characters"] == first["b"]["characters"] - first["a"]["characters"]
    said = diff(PLAIN, TEMPO).out
    assert f"A  {PLAIN}: {first['a']['characters']:,} characters, about {first['a']['tokens']:,} tokens" in said
    assert f"B - A: {first['difference']['characters']:+,} characters" in said


def test_plain_output_is_a_unified_diff_without_escape_codes():
    said = diff(PLAIN, TEMPO)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert f"--- A {PLAIN}" in lines
    assert f"+++ B {TEMPO}" in lines
    assert "+Your hand is a budget: time the spending." in lines
    assert "name: plain -> tempo  (never sent)" in lines
    assert lines[-1] == "user message at step 0: the same"
    assert "\x1b" not in said.out


def test_words_are_marked_where_they_changed(tmp_path):
    old, new = prompt(tmp_path, "Bid low and wait.", "a.md"), prompt(tmp_path, "Bid high and wait.", "b.md")
    assert "Bid [-low-] {+high+} and wait." in diff(old, new, "--game", "goofspiel", "--words").out.splitlines()


def test_a_terminal_is_shown_colours(tmp_path):
    import io

    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    old, new = prompt(tmp_path, "Bid low.", "a.md"), prompt(tmp_path, "Bid high.", "b.md")
    screen = Terminal(io.BytesIO(), "utf-8", write_through=True)
    from weigh.harness.cli.app import run

    with (
        mock.patch.object(sys, "stdout", screen),
        mock.patch.dict("os.environ", {"TERM": "xterm-256color", "CI": "", "NO_COLOR": ""}),
    ):
        assert run(["diff-prompts", str(old), str(new), "--game", "goofspiel"]) == 0
    shown = screen.buffer.getvalue().decode()
    assert "\x1b[31m-Bid low." in shown
    assert "\x1b[32m+Bid high." in shown


def test_identical_prompts_say_so_and_end_with_0_in_any_case(tmp_path):
    copy = prompt(tmp_path, read_prompt(PLAIN, tmp_path).place.read_bytes())
    said = diff(PLAIN, copy, "--exit-code")
    assert said.code == 0
    assert said.out.splitlines()[-1] == "the same: a model is sent the same messages by both"
    document = diff(PLAIN, copy, "--json").json
    assert (document["same"], document["differs"], document["not_sent"]) == (True, [], [])
    assert document["questions"][0]["a"]["digest"] == document["questions"][0]["b"]["digest"]


def test_a_difference_is_exit_code_1_only_where_it_is_asked_for():
    assert diff(PLAIN, TEMPO).code == 0
    assert diff(PLAIN, TEMPO, "--exit-code").code == 1
    assert diff(PLAIN, TEMPO, "--exit-code", "--json").code == 1


@pytest.mark.parametrize(
    ("other", "line"),
    [
        (b"\xef\xbb\xbfBid low.\nWait.\n", "file: only B begins with a byte order mark  (never sent)"),
        (b"Bid low.\r\nWait.\r\n", "file: line ends: A LF, B CRLF  (never sent)"),
        (b"Bid low.\r\nWait.\n", "file: line ends: A LF, B LF and CRLF  (never sent)"),
        (b"\n\nBid low.\nWait.\n", "file: only B has blanks or empty lines at its beginning or end  (never sent)"),
        (
            b"---\nname: a\n---\nBid low.\nWait.\n",
            "file: blanks in or around the header  (never sent)",
        ),
    ],
)
def test_what_differs_in_a_file_and_is_never_sent_is_told_and_is_no_difference(tmp_path, other, line):
    same = prompt(tmp_path, b"Bid low.\nWait.\n", "a.md")
    (tmp_path / "b").mkdir()
    said = diff(same, prompt(tmp_path / "b", other, "a.md"), "--game", "ballast", "--exit-code")
    assert said.code == 0
    assert line in said.out.splitlines()
    assert "the same: a model is sent the same messages by both" in said.out


@pytest.mark.parametrize(
    ("other", "shown", "hidden"),
    [
        ("Bid low. \nWait.", "+Bid low.\\x20", "hidden: U+0020 SPACE at the end of a line: 0 in A, 1 in B"),
        ("Bid\u00a0low.\nWait.", "+Bid\\xa0low.", "hidden: U+00A0 NO-BREAK SPACE: 0 in A, 1 in B"),
        ("Bid l\u043ew.\nWait.", "+Bid l\\u043ew.", "hidden: U+043E CYRILLIC SMALL LETTER O: 0 in A, 1 in B"),
        ("Bid \u202elow.\nWait.", "+Bid \\u202elow.", "hidden: U+202E RIGHT-TO-LEFT OVERRIDE: 0 in A, 1 in B"),
        ("Bid \u009blow.\nWait.", "+Bid \\x9blow.", "hidden: U+009B without a name: 0 in A, 1 in B"),
    ],
)
def test_hidden_and_hostile_characters_are_shown_escaped_and_named(tmp_path, other, shown, hidden):
    old, new = prompt(tmp_path, "Bid low.\nWait.", "a.md"), prompt(tmp_path, other, "b.md")
    lines = diff(old, new, "--game", "goofspiel").out.splitlines()
    assert shown in lines
    assert hidden in lines


def test_a_file_whose_name_is_hostile_is_shown_harmless(tmp_path):
    evil = prompt(tmp_path, "Bid low.", "\x1b[2J.md")
    said = diff(evil, PLAIN, "--game", "goofspiel")
    assert said.code == 0
    assert "\x1b" not in said.out
    assert "\\x1b[2J.md" in said.out


def test_a_change_of_style_shows_in_the_header_and_in_every_message(tmp_path):
    old = prompt(tmp_path, "---\nname: a\ngame: oshi_zumo\nstyle: json-only\n---\nBid low.", "a.md")
    new = prompt(tmp_path, "---\nname: a\ngame: oshi_zumo\nstyle: schema\n---\nBid low.", "b.md")
    document = diff(old, new, "--json").json
    assert document["game"] == "oshi_zumo"
    assert document["header"] == [{"key": "style", "a": "json-only", "b": "schema", "sent": True}]
    assert document["differs"] == ["messages", "schema"]
    assert not document["messages"][1]["same"]
    said = diff(old, new)
    assert "style: json-only -> schema" in said.out.splitlines()
    assert "only B also sends a JSON schema of the answer" in said.out.splitlines()


def test_entrants_of_one_prompt_differ_in_model_and_digest_alone():
    said = diff(f"{PLAIN}@openai:one", f"{PLAIN}@openai:two", "--json")
    document = said.json
    assert document["differs"] == ["model"]
    assert document["header"] == [{"key": "model", "a": "openai:one", "b": "openai:two", "sent": True}]
    assert document["a"]["policy_digest"] != document["b"]["policy_digest"]
    told = diff(f"{PLAIN}@openai:one", f"{PLAIN}@openai:two", "--exit-code")
    assert told.code == 1
    assert told.out.splitlines()[-1] == "the messages are the same; what differs: model"


def test_entrants_of_a_config_are_rendered_in_their_own_style_and_sampling(tmp_path):
    text = f'[games.goofspiel]\n[entrants.one]\nprompt = "{PLAIN}"\nmodel = "openai:m"\nstyle = "json-only"\n'
    text += f'temperature = 0\n[entrants.two]\nprompt = "{PLAIN}"\nmodel = "openai:m"\n'
    order = config(tmp_path, text)
    document = diff("@one", "@two", "--config", order, "--game", "goofspiel", "--json").json
    assert document["differs"] == ["messages", "sampling"]
    assert {change["key"]: (change["a"], change["b"]) for change in document["header"]} == {
        "style": ("json-only", "reason-then-json"),
        "temperature": ("0.0", "None"),
    }


def test_the_game_follows_from_the_headers_where_it_can_and_is_asked_for_elsewhere(tmp_path):
    free = prompt(tmp_path, "Bid low.", "free.md")
    assert diff(free, PLAIN, "--json").json["game"] == "goofspiel"
    diff(free, free).refused("--game", kind="several-games")
    diff(PLAIN, "ballast/plain.md").refused("goofspiel", "ballast", kind="no-common-game")
    diff(free, PLAIN, "--game", "ballast").refused(PLAIN, "is no prompt for ballast")
    diff(free, PLAIN, "--game", "goofspeil").refused("goofspiel")


def test_config_keys_of_the_game_change_what_is_rendered():
    small = diff(PLAIN, TEMPO, "--set", "cards=4", "--set", "seats=2", "--json").json
    assert len(small["questions"]) == 4
    assert (small["seats"], small["config"]["cards"]) == (2, 4)
    diff(PLAIN, TEMPO, "--set", "cards=1").refused("cards")


def test_a_step_at_which_nobody_is_asked_names_those_that_there_are():
    diff(PLAIN, TEMPO, "--step", "13").refused("--step 13", "0, 1, 2")
    document = diff(PLAIN, TEMPO, "--step", "12", "--json").json
    assert {message["step"] for message in document["messages"]} == {12}
    assert "Round 12, " in document["messages"][1]["a"]
    diff(PLAIN, TEMPO, "--step", "1", "--all").refused("--step and --all")


def test_what_has_no_prompt_is_refused(tmp_path):
    diff("match", PLAIN).refused("match plays match, a scripted policy")
    diff(PLAIN, "none.md").refused("none.md", kind="no-file")
    diff("@mine", PLAIN).refused("--config")
    diff(prompt(tmp_path, b"\x00"), PLAIN).refused("binary")


@pytest.mark.parametrize(
    ("content", "ends", "mark", "blanks"),
    [
        (b"a\nb\n", "LF", False, False),
        (b"a\r\nb", "CRLF", False, False),
        (b"\xef\xbb\xbfa\rb", "CR", True, False),
        (b"a", "none", False, False),
        (b"a\r\nb\n\n", "LF and CRLF", False, True),
    ],
)
def test_the_form_of_a_file_is_told(content, ends, mark, blanks):
    found = form_of(content)
    assert (set(found.line_ends.split(" and ")), found.byte_order_mark) == (set(ends.split(" and ")), mark)
    assert found.blanks_around == blanks


def test_the_same_command_gives_the_same_bytes():
    assert diff(PLAIN, TEMPO, "--all", "--json") == diff(PLAIN, TEMPO, "--all", "--json")


# weigh prompt show


def show(*words):
    return weigh("prompt", "show", *words, "--json").json


@pytest.mark.parametrize("name", GAMES)
def test_what_is_shown_of_a_round_is_what_the_policy_sends_in_it(name):
    game = GAMES[name]
    file = read_prompt(f"{name}/plain.md", ROOT)
    style = file.prompt.style or "reason-then-json"
    policy = PromptedPolicy("mine", file.prompt, "mock:small", Sampling(), style, game, read_config(game, {}))
    asked = asyncio.run(questions(policy))
    for number in (1, len(asked)):
        told, request = show(name, f"{name}/plain.md", "--round", str(number)), asked[number - 1].request
        assert told["messages"] == [{"role": message.role, "text": message.text} for message in request.messages]
        assert (told["round"], told["rounds"]) == (number, len(asked))
        assert (told["model"], told["body"], told["cached_share"]) == (None, None, None)
    said = weigh("prompt", "show", name, f"{name}/plain.md").out
    assert all(message.text in said for message in asked[0].request.messages)


def test_for_a_model_the_body_of_the_request_is_shown_and_what_its_cache_holds_by_then():
    entrant = "goofspiel/tempo.md@anthropic:claude-opus-5-5"
    first, last = (show("goofspiel", entrant, "--round", number) for number in ("1", "13"))
    assert (first["cached_tokens"], first["cached_share"]) == (0, 0)
    assert last["cached_share"] == last["cached_tokens"] / last["tokens"] > 0.6
    assert last["body"]["model"] == "claude-opus-5-5"
    assert last["body"]["max_tokens"] == THINKING_CAP
    sent = last["body"]["messages"][0]["content"]
    assert "".join(block["text"] for block in sent) == last["messages"][1]["text"]
    assert sum("cache_control" in block for block in sent) == 2


def test_what_a_config_says_of_an_entrant_and_its_model_is_followed(tmp_path):
    text = (
        '[games.goofspiel]\ncards = 5\n[models.vllm]\nbase_url = "http://127.0.0.1:8000/v1"\ncap_field = '
        '"max_completion_tokens"\n[entrants]\nmatch = "match"\n'
        'careful = { prompt = "goofspiel/plain.md", model = "vllm:small", style = "schema", max_tokens = 77 }\n'
    )
    (tmp_path / "c.toml").write_text(text)
    told = show("goofspiel", "@careful", "--config", str(tmp_path / "c.toml"), "--set", "cards=5")
    assert told["rounds"] == 5
    assert told["body"]["max_completion_tokens"] == 77
    assert told["body"]["response_format"]["json_schema"]["schema"] == told["schema"]
