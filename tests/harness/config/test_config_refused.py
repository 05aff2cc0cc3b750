"""What a ladder's config file is refused for, and how that reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.harness.config.config_files import LEAST, Write, lay_out, refused, writer
from weigh.harness.config.config import load_config
from weigh.harness.config.sections import Head
from weigh.harness.errors import ConfigError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return lay_out(tmp_path)


@pytest.fixture
def write(folder: Path) -> Write:
    return writer(folder)


def test_c04_every_unknown_key_is_listed_with_line_path_and_suggestion(write: Write) -> None:
    text = """sede = 7
[games.goofspiel]
cadrs = 6
[games.oshi_zumi]
[entrants.a]
prompt = "prompts/any.md"
model = "openai:x"
temprature = 0
modle = "x"
max_token = 50
[models."openai:x"]
concurency = 3
[limit]
[rank]
max_fallback = 0.1
"""
    assert refused(write(text)) == [
        "ladder.toml:1: sede: unknown key; did you mean 'seed'?",
        "ladder.toml:3: games.goofspiel.cadrs: unknown key; did you mean 'cards'?",
        "ladder.toml:4: games.oshi_zumi: unknown game; did you mean 'oshi_zumo'?",
        "ladder.toml:8: entrants.a.temprature: unknown key; did you mean 'temperature'?",
        "ladder.toml:9: entrants.a.modle: unknown key; did you mean 'model'?",
        "ladder.toml:10: entrants.a.max_token: unknown key; did you mean 'max_tokens'?",
        "ladder.toml:12: models.\"openai:x\".concurency: unknown key; did you mean 'concurrency'?",
        "ladder.toml:13: limit: unknown key; did you mean 'limits'?",
        "ladder.toml:15: rank.max_fallback: unknown key; did you mean 'max_fallback_rate'?",
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[games.goofspiel]\nseats = 11", "2: games.goofspiel.seats: must be at most 10, not 11"),
        ("[games.goofspiel]\nseats = 2\ncards = 3", "3: games.goofspiel.cards: must be at least 4, not 3"),
        ('[games.goofspiel]\nseats = "4"', '2: games.goofspiel.seats: must be a whole number, not the text "4"'),
        ("[games.goofspiel]\nseats = true", "2: games.goofspiel.seats: must be a whole number, not true"),
        (
            "[games.goofspiel]\nseats = 2\ncards = 6\nmax_rounds = 7",
            "4: games.goofspiel.max_rounds: must be at most cards, which is 6, not 7",
        ),
        ("[games.goofspiel]\nblocks = 0", "2: games.goofspiel.blocks: must be at least 1, not 0"),
        (
            '[games.goofspiel]\nrows = "wiliams"',
            "2: games.goofspiel.rows: the text \"wiliams\" is no choice; did you mean 'williams'?",
        ),
        ("games.goofspiel = 4", "1: games.goofspiel: must be a table, not 4"),
        ("games = 4", "1: games: missing: a table for each game, as [games.goofspiel]"),
        ("seed = 1", " games: missing: a table for each game, as [games.goofspiel]"),
        (
            "[games.goofspiel]\nseats = 4",
            "1: games.goofspiel: a table has 4 seats and there are 3 entrants: add 1 more "
            "(scripted baselines such as match and random can fill the places)",
        ),
    ],
)
def test_games_out_of_bounds_are_refused(write: Write, text: str, line: str) -> None:
    assert refused(write(text)) == [f"ladder.toml:{line}"]


@pytest.mark.parametrize(
    ("text", "place", "now"),
    [
        ('[games.goofspiel]\nrows = "cyclic"', "2: games.goofspiel.rows", "rotated"),
        (
            '[entrants.a]\nprompt = "prompts/goof.md"\nmodel = "openai:x"\nseed = 1',
            "5: entrants.a.seed",
            "sampling_seed",
        ),
        ("[models.openai]\nseed = false", "3: models.openai.seed", "supports_seed"),
        ("[models.openai]\ntemperature = true", "3: models.openai.temperature", "supports_temperature"),
    ],
)
def test_a_key_that_has_another_name_now_says_which(write: Write, text: str, place: str, now: str) -> None:
    head = "" if text.startswith("[games") else "[games.goofspiel]\n"
    (line,) = refused(write(head + text))
    assert line.startswith(f"ladder.toml:{place}: ")
    assert "called" in line
    assert now in line


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ("[games.gofspiel]\n", "1: games.gofspiel: unknown game; did you mean 'goofspiel'?"),
        ("[games.goofspiel]\nseats = 11\n", "2: games.goofspiel.seats: must be at most 10, not 11"),
        ("[games.goofspiel]\ncadrs = 6\n", "2: games.goofspiel.cadrs: unknown key; did you mean 'cards'?"),
        ("[games]\ngoofspiel = 4\n", "2: games.goofspiel: must be a table, not 4"),
        (
            "[games.chess]\n",
            "1: games.chess: unknown game; known: ballast, goofspiel, half_hearted_step, oshi_zumo, "
            "persistent_calibration",
        ),
    ],
)
@pytest.mark.parametrize("other", ["", "[games.oshi_zumo]\n"])
def test_what_is_wrong_with_a_game_is_not_held_against_its_entrants(
    write: Write, table: str, line: str, other: str
) -> None:
    entrants = '[entrants]\na = "prompts/goof.md@openai:x"\nb = "hoard"\n'
    assert refused(write(f"{table}{other}{entrants}")) == [f"ladder.toml:{line}"]


@pytest.mark.parametrize("table", ["[games.oshi_zumi]\n", "[games.oshi_zumo]\ncoins = 0\n"])
def test_an_entrant_that_plays_no_game_is_named_beside_what_is_wrong_with_a_game(write: Write, table: str) -> None:
    lines = refused(write(f'{table}[entrants]\na = "prompts/goof.md@openai:x"\n'))
    assert len(lines) == 2
    assert "games.oshi_zum" in lines[0]
    assert lines[1].endswith("entrants.a: plays goofspiel and none of this ladder's games: oshi_zumo")


@pytest.mark.parametrize("value", ["-1", "1.0", "[42]", '"7"', "true", "2024-01-01"])
def test_o23_a_seed_is_a_whole_number_from_0(write: Write, value: str) -> None:
    (line,) = refused(write(f"seed = {value}\n[games.oshi_zumo]\n"))
    assert line.startswith("ladder.toml:1: seed: must be ")


def test_o23_a_seed_is_refused_alike_from_the_command_line(write: Write) -> None:
    assert refused(write("[games.oshi_zumo]\n"), seed=-1) == ["command line: seed: must be at least 0, not -1"]


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "0", "-1", "0.0"])
def test_c22_times_are_finite_and_above_0(write: Write, value: str) -> None:
    (line,) = refused(write(f"[games.oshi_zumo]\n[limits]\ndecision_timeout = {value}\n"))
    assert line.startswith("ladder.toml:3: limits.decision_timeout: must be ")


def test_a_deadline_in_which_no_round_fits_is_refused(write: Write) -> None:
    (line,) = refused(write("[games.oshi_zumo]\n[limits]\nepisode_deadline = 119\n"))
    assert line.startswith("ladder.toml:3: limits.episode_deadline: must be at least two decision timeouts (120 s)")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = yes", "1: not valid TOML: invalid value; text stands in quotes: a = yes"),
        (
            "a = 1\n\na = 2",
            "3: not valid TOML: cannot overwrite a value; the key or table stands here for the second time: a = 2",
        ),
        (
            "[entrants]\n[models.openai:gpt-5]\n",
            "2: not valid TOML: expected ']' at the end of a table declaration; "
            'a name with a colon stands in quotes, as in [models."openai:gpt-5-mini"]: [models.openai:gpt-5]',
        ),
        ("seed = 1\n[games", "2: not valid TOML: expected ']' at the end of a table declaration: [games"),
        ("a = " + "[" * 20_000, " nested too deeply"),
        ("a = " + "1" * 5_000, " holds a number of thousands of digits"),
    ],
)
def test_a_syntax_error_gives_file_line_and_what(write: Write, text: str, line: str) -> None:
    assert refused(write(text)) == [f"ladder.toml:{line}"]


def test_what_is_no_utf8_text_is_refused_with_its_line(folder: Path) -> None:
    path = folder / "ladder.toml"
    path.write_bytes(b"seed = 3\n# \xff\n")
    assert refused(path) == ["ladder.toml:2: not UTF-8 text (byte 0xff); save it as UTF-8"]


def test_a_file_that_is_not_there_names_its_neighbour(write: Write, folder: Path) -> None:
    write("")
    assert refused(folder / "lader.toml") == ["lader.toml: no such file; did you mean 'ladder.toml'?"]
    assert refused(folder) == [f"{folder.name}: Is a directory"]
    (folder / "big.toml").write_bytes(b"#" * 1_100_000)
    assert refused(folder / "big.toml") == ["big.toml: larger than 1000 kB, so no ladder config"]


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("a b", "a-b"),
        ("../up", "up"),
        ("-flag", "flag"),
        (".hidden", "hidden"),
        ("x/y", "x-y"),
        ("größe", "gr-e"),
        ("CON", "run-CON"),
        ("", "run"),
        ("x" * 81, "x" * 80),
        ("end.", "end"),
    ],
)
def test_c13_a_name_no_folder_may_have_is_refused_with_a_better_one(write: Write, name: str, better: str) -> None:
    (line,) = refused(write(f'name = "{name}"\n[games.oshi_zumo]\n'))
    assert line.startswith("ladder.toml:1: name: ")
    assert line.endswith(f" {better} would do")
    assert load_config(write(f'name = "{better}"\n[games.oshi_zumo]\n')).name == better


def test_a_file_name_that_cannot_name_the_run_asks_for_a_name(folder: Path) -> None:
    path = folder / "my ladder.toml"
    path.write_text("[games.oshi_zumo]\n", encoding="utf-8")
    assert refused(path) == [
        'my ladder.toml: name is missing, and no run folder can be called my ladder: name = "my-ladder"'
    ]


def test_every_entrant_that_cannot_play_is_named_on_its_line(write: Write) -> None:
    text = """
[games.oshi_zumo]
[entrants]
a = "prompts/nowhere.md@openai:x"
b = "prompts/any.md@openai"
c = "hord"
d = "hoard"
D = "match"
gpt-5.1 = "prompts/any.md@openai:x"
"bad name" = "random"
match = "prompts/any.md@openai:x"
e = 3
f = "@a"
g = "prompts/goof.md@openai:x"
[entrants.h]
prompt.goofspil = "prompts/any.md"
prompt.oshi_zumo = "prompts/goof.md"
model = "openai:x"
[entrants.i]
prompt = []
[entrants.j]
prompt = "prompts/any.md"
model = "openai:x"
style = "jsn-only"
temperature = 2.1
extra = { stream = true }
"""
    found = dict(line.removeprefix("ladder.toml:").split(": ", 1) for line in refused(write(text)))
    long = found.pop("4")
    assert long.startswith("entrants.a: prompt file prompts/nowhere.md: not found; looked for prompts/nowhere.md and")
    assert found == {
        "5": 'entrants.b: "openai" is no model: write provider:model, as in anthropic:claude-x or local:smollm2',
        "6": "entrants.c: \"hord\" is no policy; did you mean 'hoard'?",
        "8": "entrants.D: differs from the entrant d only in the case of letters",
        "9": 'entrants.gpt-5: no key of an entrant in it; if its name is gpt-5.1, write that in quotes: "gpt-5.1"',
        "10": "entrants.\"bad name\": \"bad name\" cannot name an entrant: letters, digits, '.', '_' and '-', "
        "at most 40, first a letter or digit",
        "11": "entrants.match: match is the name of a scripted policy; call this entrant something else",
        "12": "entrants.e: must be a policy or PROMPT.md@provider:model in quotes, or a table, not 3",
        "13": 'entrants.f: "@a" is for the command line; here stands a scripted policy or a prompt with a model',
        "14": "entrants.g: plays goofspiel and none of this ladder's games: oshi_zumo",
        "16": "entrants.h.prompt.goofspil: unknown game; did you mean 'goofspiel'?",
        "17": "entrants.h.prompt.oshi_zumo: prompts/goof.md is for goofspiel, as its header says",
        "19": 'entrants.i.model: missing: who answers, as model = "provider:model"',
        "20": 'entrants.i.prompt: must be a file name in quotes, or a table of them by game: { goofspiel = "a.md" }',
        "24": "entrants.j.style: the text \"jsn-only\" is no choice; did you mean 'json-only'?",
        "25": "entrants.j.temperature: must be at most 2.0, not 2.1",
        "26": "entrants.j.extra: stream is written by the client itself and cannot stand in extra",
    }


@pytest.mark.parametrize("extra", ["{ a = 2024-01-01 }", "{ a = { b = [nan] } }", "{ a = 10:30:00 }"])
def test_what_json_cannot_hold_is_refused_in_extra(write: Write, extra: str) -> None:
    table = f'[entrants.a]\nprompt = "prompts/any.md"\nmodel = "openai:x"\nextra = {extra}\n'
    (line,) = refused(write(f"[games.oshi_zumo]\n{table}"))
    assert line.startswith("ladder.toml:5: entrants.a.extra: a")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.dates() | st.times(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)
PLACES = [
    *Head.model_fields,
    *("games", "entrants", "models", "limits", "rank", "other"),
    *("games.goofspiel", "games.goofspiel.seats", "games.goofspiel.blocks", "games.oshi_zumo", "games.oshi_zumo.coins"),
    *("entrants.a", "entrants.a.prompt", "entrants.a.model", "entrants.a.extra", "entrants.a.prompt.goofspiel"),
    *("models.openai", "models.openai:x.base_url", "models.openai:x.price", "limits.max_usd", "rank.max_void_rate"),
]


@given(st.dictionaries(st.sampled_from(PLACES), VALUES, min_size=1, max_size=4))
@settings(max_examples=2 * settings.default.max_examples, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_stands_in_a_config_it_is_read_or_refused(write: Write, changes: dict[str, object]) -> None:
    table = '[entrants.a]\nprompt = "prompts/any.md"\nmodel = "openai:x"\n'
    path = write(f'[games.goofspiel]\n[games.oshi_zumo]\n{table}[models."openai:x"]\n')
    try:
        config = load_config(path, changes)
    except ConfigError as error:
        assert error.lines
        assert all("\n" not in line and len(line) < 600 for line in error.lines)
    else:
        assert json.loads(json.dumps(config.to_json(), allow_nan=False)) == config.to_json()


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ('concurrency = "8"', 'concurrency: must be a whole number, not the text "8"'),
        ("concurrency = true", "concurrency: must be a whole number, not true"),
        ("requests_per_minute = inf", "requests_per_minute: must be a finite number, not inf"),
        ('wire = "openai"', "wire: the text \"openai\" is no choice; did you mean 'openai-chat'?"),
        ("price = { input = 1 }", "price.output: missing"),
        ("price = { inptu = 1, output = 1, input = 1 }", "price.inptu: unknown key; did you mean 'input'?"),
    ],
)
def test_endpoint_settings_are_checked_like_the_rest(write: Write, table: str, line: str) -> None:
    text = f'{LEAST}a = "prompts/any.md@openai:x"\n[models."openai:x"]\n{table}\n'
    (found,) = refused(write(text))
    assert found.partition('models."openai:x".')[2] == line


def test_an_endpoint_that_cannot_be_is_refused_where_it_stands(write: Write) -> None:
    lines = refused(
        write(
            f'{LEAST}a = "prompts/any.md@opnai:x"\nb = "prompts/any.md@vllm:y"\n'
            '[models."vllm:y"]\nbase_url = "http://user:key@host/v1"\n'
        )
    )
    assert [line.partition(" ")[0] for line in lines] == ["ladder.toml:3:", "ladder.toml:5:"]
    assert "did you mean 'openai'?" in lines[0]
    assert "user:key" not in lines[1]
