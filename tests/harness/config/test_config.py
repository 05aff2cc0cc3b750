"""A ladder's config file: what is read from it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.harness.config.config_files import LEAST, PROMPT, Write, lay_out, refused, writer
from weigh.harness.config.config import load_config
from weigh.harness.config.designs import design
from weigh.harness.config.sections import Head, Limits, Prompted, Rank
from weigh.harness.providers.endpoints.known import THINKING_CAP
from weigh.policies.contract import Sampling


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return lay_out(tmp_path)


@pytest.fixture
def write(folder: Path) -> Write:
    return writer(folder)


def test_every_default_is_filled_in(write: Write, folder: Path) -> None:
    config = load_config(write(LEAST + 'mine = "prompts/any.md@openai:gpt-5-mini"\n'))
    assert (config.name, config.seed, config.baselines) == ("ladder", 0, True)
    assert config.run_folder == folder / "results" / "ladder"
    (entry,) = config.games
    assert (entry.game.name, entry.seats, entry.config.model_dump()) == (
        "goofspiel",
        4,
        {"seats": 4, "cards": 13, "max_rounds": 13},
    )
    assert [spec.name for spec in config.entrants] == ["mine", "match", "hoard", "random"]
    assert config.entrants[0].sampling == Sampling(THINKING_CAP)
    assert config.endpoints["openai:gpt-5-mini"].base_url == "https://api.openai.com/v1"
    assert config.limits.decision_timeout == 60.0
    assert config.rank.max_fallback_rate == 0.2
    assert config.warnings == ()


def test_without_blocks_a_ladder_is_one_balanced_cycle(write: Write) -> None:
    names = "".join(f'e{n} = "prompts/any.md@openai:m{n}"\n' for n in range(10))
    config = load_config(write(LEAST + names))
    assert len(config.entrants) == 13
    assert config.games[0].blocks == len(design(13, 4).tables) == 13


def test_everything_written_is_read(write: Write) -> None:
    config = load_config(
        write(
            """
            name = "demo"
            seed = 7
            results = "elsewhere"
            baselines = false
            [games.goofspiel]
            seats = 2
            cards = 6
            blocks = 5
            [games.oshi_zumo]
            blocks = 6
            coins = 10
            [entrants]
            hoarder = "hoard"
            match = "match"
            [entrants.long]
            prompt = { goofspiel = "prompts/goof.md", oshi_zumo = "prompts/any.md" }
            model = "openai:gpt-5-mini"
            style = "schema"
            max_tokens = 800
            temperature = 0
            sampling_seed = 0
            extra = { reasoning_effort = "low", deep = { list = [1, 2.5, true] } }
            [models.openai]
            concurrency = 8
            [models."openai:gpt-5-mini"]
            requests_per_minute = 30
            [limits]
            decision_timeout = 5
            episode_deadline = 3600.0
            episodes_in_flight = 3
            replays = 0
            max_calls = 100
            max_tokens = 1000
            max_usd = 0.5
            max_seconds = 60
            [rank]
            max_fallback_rate = 0
            """
        )
    )
    assert (config.name, config.seed, config.results.name) == ("demo", 7, "elsewhere")
    assert [(entry.game.name, entry.blocks, entry.seats) for entry in config.games] == [
        ("goofspiel", 5, 2),
        ("oshi_zumo", 6, 2),
    ]
    long = config.entrants[-1]
    extra = {"reasoning_effort": "low", "deep": {"list": [1, 2.5, True]}}
    assert (long.style, long.sampling) == ("schema", Sampling(800, 0.0, 0, extra))
    assert [spec.name for spec in config.playing("oshi_zumo")] == ["hoarder", "match", "long"]
    endpoint = config.endpoints["openai:gpt-5-mini"]
    assert (endpoint.concurrency, endpoint.requests_per_minute) == (8, 30)
    limits = config.limits
    assert (limits.decision_timeout, limits.replays, limits.max_usd) == (5.0, 0, 0.5)


@pytest.mark.parametrize("seed", [0, 42, 2**70])
def test_o23_a_seed_reads_the_same_from_file_and_command_line_and_0_is_one(write: Write, seed: int) -> None:
    by_file = load_config(write(f"seed = {seed}\n[games.oshi_zumo]\n"))
    by_line = load_config(write("seed = 5\n[games.oshi_zumo]\n"), {"seed": seed})
    assert by_file.seed == by_line.seed == seed
    assert by_file.to_json() == by_line.to_json()


def test_overrides_reach_into_tables_and_none_overrides_nothing(write: Write) -> None:
    path = write("[games.oshi_zumo]\n[limits]\nmax_calls = 5\n")
    config = load_config(path, {"limits.max_usd": 1.5, "limits.max_calls": None, "name": "other"})
    assert (config.limits.max_usd, config.limits.max_calls, config.name) == (1.5, 5, "other")
    assert refused(path, **{"limits.max_usd": 0.0}) == ["command line: limits.max_usd: must be above 0.0, not 0.0"]


def test_c23_utf8_with_bom_and_crlf_is_read(folder: Path) -> None:
    path = folder / "ladder.toml"
    path.write_bytes("\ufeffseed = 3 # größer\r\n[games.oshi_zumo]\r\n".encode())
    assert load_config(path).seed == 3


def test_results_lie_relative_to_the_file_wherever_one_stands(
    write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("[games.oshi_zumo]\n")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert load_config(path).results == folder / "results"
    assert load_config(path, {"results": "/tmp/else"}).run_folder == Path("/tmp/else/ladder")


def test_m31_baselines_are_added_once_and_their_absence_is_pointed_out(write: Write) -> None:
    config = load_config(write('[games.oshi_zumo]\n[entrants]\nhoarder = "hoard"\n'))
    assert [(spec.name, spec.scripted) for spec in config.entrants] == [
        ("hoarder", "hoard"),
        ("match", "match"),
        ("random", "random"),
    ]
    entrants = '[entrants]\na = "prompts/any.md@openai:x"\nb = "prompts/any.md@openai:y"\n'
    text = f"baselines = false\n[games.oshi_zumo]\n{entrants}"
    assert load_config(write(text)).warnings == (
        "games.oshi_zumo: no scripted policy plays, so nothing shows what a score is worth (baselines = true)",
    )


def test_clones_and_settings_of_models_nobody_plays_with_are_pointed_out(write: Write) -> None:
    config = load_config(
        write(
            LEAST + 'a = "prompts/any.md@openai:gpt-5"\nb = "prompts/any.md@openai:gpt-5"\n'
            '[models."openai:gpt-5-mini"]\nconcurrency = 2\n[models.openai]\nconcurrency = 3\n'
        )
    )
    assert config.warnings == (
        "models.\"openai:gpt-5-mini\": no entrant plays with it; did you mean 'openai:gpt-5'?",
        "entrants a, b are one and the same policy under 2 names",
    )


def test_m25_settings_belong_to_exactly_the_model_they_name(write: Write) -> None:
    config = load_config(
        write(
            LEAST + 'a = "prompts/any.md@openai:gpt-5"\nb = "prompts/any.md@openai:gpt-5-mini"\n'
            '[models."openai:gpt-5"]\nconcurrency = 2\n'
        )
    )
    assert config.endpoints["openai:gpt-5"].concurrency == 2
    assert config.endpoints["openai:gpt-5-mini"].concurrency == 64


EXAMPLE = Path(__file__).parents[3] / "examples" / "ladder.toml"


def test_the_example_plays_without_a_key_or_a_file_of_ones_own() -> None:
    config = load_config(EXAMPLE)
    assert [entry.game.name for entry in config.games] == ["goofspiel", "oshi_zumo"]
    assert [spec.name for spec in config.playing("goofspiel")] == ["tempo", "match", "hoard", "random"]
    assert [endpoint.api_key_env for endpoint in config.endpoints.values()] == [None]
    assert config.warnings == ()


def test_c10_the_example_shows_every_key_and_its_commented_lines_are_right_too(write: Write, folder: Path) -> None:
    text = re.sub(r"(?m)^# ((?:\[.+\]|[a-z_]+ = ).*)$", r"\1", EXAMPLE.read_text(encoding="utf-8"))
    for name in ("mine", "a", "b"):
        (folder / "prompts" / f"{name}.md").write_text(PROMPT, encoding="utf-8")
    document = tomllib.loads(text)
    assert {*Head.model_fields, "games", "entrants", "models", "limits", "rank"} == set(document)
    assert set(document["limits"]) == set(Limits.model_fields)
    assert set(document["rank"]) == set(Rank.model_fields)
    assert set(document["entrants"]["long"]) == set(Prompted.model_fields)
    config = load_config(write(text))
    assert config.limits.max_usd == 5.0
    defaults = Limits()
    for key in ("decision_timeout", "episodes_in_flight", "replays", "outages_in_a_row"):
        assert getattr(config.limits, key) == getattr(defaults, key), f"the example's {key} is the default"
    assert config.rank == Rank()
