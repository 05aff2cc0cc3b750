"""Entrants: the words that name them, where their prompts are found, the policies they become."""

from __future__ import annotations

import hashlib
from pathlib import Path
from random import Random

import pytest

from weigh.games.registry import game_named, read_config
from weigh.harness.config.entrants import EntrantSpec, parse_entrant, parse_entrants, policies_for
from weigh.harness.config.prompt_files import PACKAGED, packaged_prompts, read_prompt
from weigh.harness.config.sections import Prompted
from weigh.harness.errors import ConfigError
from weigh.harness.providers.endpoints.known import THINKING_CAP
from weigh.policies.contract import Sampling
from weigh.policies.prompted import PromptedPolicy
from weigh.policies.scripted.registry import scripted

GUIDANCE = "Bid low on small prizes."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.md").write_text(GUIDANCE, encoding="utf-8")
    (tmp_path / "goof.md").write_text(
        f"---\nname: goof\ngame: goofspiel\nstyle: json-only\n---\n{GUIDANCE}", encoding="utf-8"
    )
    return tmp_path


def refusal(word: str, folder: Path, **options: object) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_entrant(word, folder, **options)
    (line,) = caught.value.lines
    return line.replace(f"{folder}/", "")


def test_a_scripted_policy_is_named_by_its_name(folder: Path) -> None:
    assert parse_entrant("hoard", folder) == EntrantSpec("hoard", scripted="hoard")


@pytest.mark.parametrize(
    ("model", "thinks"),
    [
        ("openai:gpt-5-mini", True),
        ("openai:gpt-5-chat-latest", False),
        ("openai:gpt-4.1", False),
        ("anthropic:claude-opus-5-5", True),
        ("anthropic:claude-sonnet-4-6", False),
        ("openrouter:anthropic/claude-fable-5", True),
        ("bedrock:us.anthropic.claude-opus-5-5-v1:0", True),
        ("gemini:gemini-3-pro", True),
        ("deepseek:deepseek-reasoner", True),
        ("deepseek:deepseek-chat", False),
        ("vllm:deepseek-r1", False),
    ],
)
def test_a_model_that_thinks_by_default_has_room_for_it_unless_told_otherwise(
    folder: Path, model: str, thinks: bool
) -> None:
    cap = THINKING_CAP if thinks else Sampling().max_tokens
    assert parse_entrant(f"mine.md@{model}", folder).sampling == Sampling(cap)
    assert parse_entrant(f"mine.md@{model}", folder, max_tokens=1_024).sampling == Sampling(1_024)
    assert Prompted(prompt="mine.md", model=model).sampling == Sampling(cap)
    assert Prompted(prompt="mine.md", model=model, max_tokens=1_024).sampling == Sampling(1_024)


def test_a_prompt_and_a_model_make_an_entrant(folder: Path) -> None:
    spec = parse_entrant("mine.md@openai:gpt-5", folder, max_tokens=64, style="schema")
    assert (spec.name, spec.model, spec.scripted) == ("mine-gpt-5", "openai:gpt-5", None)
    file = spec.prompts["*"]
    assert file.place == folder / "mine.md"
    assert file.sha256 == hashlib.sha256(GUIDANCE.encode()).hexdigest()
    assert (spec.sampling, spec.style) == (Sampling(64), "schema")
    assert spec.plays("goofspiel")
    assert spec.plays("oshi_zumo")


@pytest.mark.parametrize(
    "model", ["openrouter:meta-llama/Llama-3:free", "local:models/x.gguf", "vllm:a@b", "vllm:org/name.md@main"]
)
def test_a_models_name_may_hold_colons_slashes_and_at_signs(folder: Path, model: str) -> None:
    assert parse_entrant(f"mine.md@{model}", folder).model == model


def test_a_prompt_whose_header_names_games_plays_only_those(folder: Path) -> None:
    spec = parse_entrant("goof.md@openai:x", folder)
    assert spec.plays("goofspiel")
    assert not spec.plays("oshi_zumo")
    game = game_named("oshi_zumo")
    with pytest.raises(ConfigError, match=r"^goof-x does not play oshi_zumo$"):
        policies_for([spec], game, read_config(game, {}))


KNOWN = "absent, bluffer, deaf, feint, forager, hoard, loyal, match, random, spoiler, spread, stand, steady"
"""The scripted policies of all games."""


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("hord", "\"hord\" is no policy; did you mean 'hoard'?"),
        ("zzz", f'"zzz" is no policy; known: {KNOWN}'),
        ("", f"an entrant is a scripted policy ({KNOWN}), PROMPT.md@provider:model, or @name"),
        ("match hoard", '"match hoard" is one word with a space in it: give each entrant as a word of its own'),
        (
            "mine.md",
            '"mine.md" is a prompt without a model: write mine.md@provider:model, as in mine.md@local:smollm2',
        ),
        (
            "openai:gpt-5",
            '"openai:gpt-5" is a model without a prompt: write PROMPT.md@openai:gpt-5; `weigh policies` lists prompts',
        ),
        ("mine.txt@openai:x", '"mine.txt@openai:x": what stands before the @ is a prompt file and ends in .md'),
        ("mine.md@", '"" is no model: write provider:model, as in anthropic:claude-x or local:smollm2'),
        ("mine.md@gpt-5", '"gpt-5" is no model: write provider:model, as in anthropic:claude-x or local:smollm2'),
        (
            "mine.md@openai:gpt 5",
            '"openai:gpt 5" is no model: write provider:model, as in anthropic:claude-x or local:smollm2',
        ),
        ("@careful", "@careful is an entrant of a config: say which one with --config"),
    ],
)
def test_c08_what_is_no_entrant_is_refused_with_the_right_form(folder: Path, word: str, line: str) -> None:
    assert refusal(word, folder) == line


def test_names_of_a_config_are_matched_exactly(folder: Path) -> None:
    known = {spec.name: spec for spec in (EntrantSpec("gpt-5", "hoard"), EntrantSpec("gpt-5-mini", "match"))}
    assert parse_entrant("@gpt-5", folder, known=known) is known["gpt-5"]
    assert refusal("@gpt", folder, known=known) == ("@gpt: the config has no entrant \"gpt\"; did you mean 'gpt-5'?")


def test_c13_names_made_of_parts_are_short_safe_and_never_shared_by_different_words(folder: Path) -> None:
    long = "x" * 300
    words = [
        "mine.md@openrouter:meta-llama/Llama-3:free",
        "mine.md@openrouter:meta-llama-Llama-3-free",
        f"mine.md@openai:{long}",
        f"mine.md@openai:{long}y",
        "mine.md@openai:gpt-5",
        "mine.md@vllm:gpt-5",
        "match",
        "match",
    ]
    names = [spec.name for spec in parse_entrants(words, folder)]
    assert names[-2:] == ["match", "match"], "one word twice is one entrant"
    assert len(set(names[:-1])) == len(words) - 1
    assert all(len(name) <= 40 and name.replace("-", "").replace(".", "").isalnum() for name in names)
    assert names[1] == "mine-meta-llama-Llama-3-free", "nothing had to be left out, so nothing is added"
    assert names[:-1] == [spec.name for spec in parse_entrants(words[:-1], folder)], "the same every time"


def test_one_policy_in_two_words_keeps_its_one_name(folder: Path) -> None:
    known = {"match": EntrantSpec("match", scripted="match")}
    assert [spec.name for spec in parse_entrants(["match", "@match"], folder, known=known)] == ["match", "match"]
    (folder / "sub").mkdir()
    (folder / "sub" / "mine.md").write_text("Bid high.", encoding="utf-8")
    names = [spec.name for spec in parse_entrants(["mine.md@openai:x", "sub/mine.md@openai:x"], folder)]
    assert len(set(names)) == 2
    assert all(name.startswith("mine-x-") for name in names)


def test_the_packages_own_prompts_are_found_from_any_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decoy = folder / "elsewhere" / "prompts" / "goofspiel"
    decoy.mkdir(parents=True)
    (decoy / "plain.md").write_text("a decoy in the current folder", encoding="utf-8")
    monkeypatch.chdir(folder / "elsewhere")
    for written in ("goofspiel/plain.md", "prompts/goofspiel/plain.md", "./prompts/goofspiel/plain.md"):
        assert read_prompt(written, folder).place == PACKAGED / "goofspiel" / "plain.md"
    own = read_prompt("prompts/goofspiel/plain.md", folder / "elsewhere")
    assert own.place == decoy / "plain.md", "a file of one's own goes first, from the folder that was named"


def test_every_packaged_prompt_can_be_read_and_plays_a_game_there_is() -> None:
    prompts = dict(packaged_prompts())
    assert {"goofspiel/tempo.md", "goofspiel/modeller.md", "goofspiel/plain.md"} <= set(prompts)
    for word, prompt in prompts.items():
        assert prompt.suits(word.partition("/")[0]), f"{word} plays the game of its folder"


OUTSIDE = ["../harness/config/entrants.py", "goofspiel/../../pyproject.toml", "prompts/__init__.py"]


@pytest.mark.parametrize("written", OUTSIDE)
def test_nothing_but_prompts_is_found_within_the_package(folder: Path, written: str) -> None:
    with pytest.raises(ConfigError, match="not found; looked for "):
        read_prompt(written, folder)


def test_prompt_files_that_cannot_be_used_are_refused_in_one_line(folder: Path) -> None:
    (folder / "empty.md").write_bytes(b" \n")
    (folder / "binary.md").write_bytes(b"\x89PNG\x00\x00")
    (folder / "large.md").write_bytes(b"x" * 1_100_000)
    (folder / "folder.md").mkdir()
    (folder / "other.md").write_text("---\nname: o\ngame: goofspeil\n---\nBid.", encoding="utf-8")
    found = {}
    for name in ("empty.md", "binary.md", "large.md", "folder.md", "other.md", "nowhere.md", "goofspiel/temp.md", " "):
        with pytest.raises(ConfigError) as caught:
            read_prompt(name, folder)
        (found[name],) = [line.replace(f"{folder}/", "") for line in caught.value.lines]
    assert found["empty.md"].startswith("empty.md: the prompt is empty")
    assert found["binary.md"].startswith("binary.md:1: not UTF-8 text")
    assert found["large.md"] == "prompt file large.md: larger than 1000 kB"
    assert found["folder.md"] == "prompt file folder.md: is a folder; name a file in it"
    assert found["other.md"] == "other.md: its header names an unknown game \"goofspeil\"; did you mean 'goofspiel'?"
    assert found["nowhere.md"].startswith(
        "prompt file nowhere.md: not found; looked for nowhere.md and among the built-in"
    )
    assert found["goofspiel/temp.md"].endswith("among the built-in prompts; did you mean 'goofspiel/tempo.md'?")
    assert found[" "] == 'prompt file " ": not a file name'


def test_policies_carry_the_entrants_names_and_play_by_what_was_written(folder: Path) -> None:
    game = game_named("goofspiel")
    config = read_config(game, {"seats": 3})
    specs = [
        parse_entrant("hoard", folder, name="hoarder"),
        parse_entrant("match", folder),
        parse_entrant("goof.md@openai:gpt-5", folder, name="careful", max_tokens=99),
    ]
    hoarder, match, careful = policies_for(specs, game, config)
    assert (hoarder.name, hoarder.model) == ("hoarder", None)
    assert hoarder.digest == scripted("goofspiel", "hoard").digest, "a name decides nothing about play"
    assert match.name == "match"
    assert isinstance(careful, PromptedPolicy)
    assert (careful.name, careful.model, careful.sampling) == ("careful", "openai:gpt-5", Sampling(99))
    assert careful.style == "json-only", "as the prompt's header says"
    assert (careful.game, careful.config) == (game, config)
    assert hoarder.sit(0, Random(1), None) is not None


def test_a_style_that_was_asked_for_goes_before_the_prompts_own(folder: Path) -> None:
    game = game_named("goofspiel")
    config = read_config(game, {})
    words = ["goof.md@openai:x", "mine.md@openai:x"]
    styles = [p.style for p in policies_for(parse_entrants(words, folder, style="schema"), game, config)]
    assert styles == ["schema", "schema"]
    styles = [p.style for p in policies_for(parse_entrants(words, folder), game, config)]
    assert styles == ["json-only", "reason-then-json"]
