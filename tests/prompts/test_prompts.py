"""The operator prompts that come with the package."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from weigh.games.registry import GAMES
from weigh.policies.layout import system_text
from weigh.policies.operator_prompt import OperatorPrompt, parse_prompt_bytes
from weigh.policies.scripted.registry import scripted_names

SHIPPED = {
    f"{game.name}/{file.name}": parse_prompt_bytes(file.read_bytes(), file.name)
    for game in files("weigh.prompts").iterdir()
    if game.is_dir() and not game.name.startswith("_")
    for file in game.iterdir()
    if file.name.endswith(".md")
}


def test_every_game_has_at_least_three_prompts() -> None:
    for game in GAMES:
        assert sum(place.startswith(f"{game}/") for place in SHIPPED) >= 3


@pytest.mark.parametrize("place", SHIPPED)
def test_a_prompt_is_for_the_game_of_its_folder_and_named_as_its_file(place: str) -> None:
    game, _, file = place.partition("/")
    prompt = SHIPPED[place]
    assert prompt.games == (game,)
    assert game in GAMES
    assert f"{prompt.name}.md" == file
    assert prompt.name not in scripted_names(game)
    assert 10 < len(prompt.description) < 110


@pytest.mark.parametrize("prompt", SHIPPED.values(), ids=SHIPPED)
def test_a_prompt_is_short(prompt: OperatorPrompt) -> None:
    assert 80 <= len(prompt.text.split()) <= 200


@pytest.mark.parametrize("prompt", SHIPPED.values(), ids=SHIPPED)
def test_M29_a_prompt_names_no_model_and_no_policy(prompt: OperatorPrompt) -> None:
    (game,) = prompt.games
    names = {*scripted_names(game), *(each.name for each in SHIPPED.values())}
    forbidden = names | {"model", "llm", "gpt", "claude", "ai", "assistant", "policy", "seed", "baseline", "fallback"}
    assert not forbidden & set(re.findall(r"[a-z_]+", prompt.text.lower()))


LONGEST = {"ballast": 3_900}
"""Characters. Ballast's rulebook is its author's text, whole, with rulings beside it."""


@pytest.mark.parametrize("prompt", SHIPPED.values(), ids=SHIPPED)
def test_the_system_message_stays_small(prompt: OperatorPrompt) -> None:
    (name,) = prompt.games
    game = GAMES[name]
    # About four characters a token: a small model on a processor reads a token in some milliseconds.
    text = system_text(game.rulebook(game.config_type()), "reason-then-json", prompt.text)
    assert len(text) < LONGEST.get(name, 2_400)


def test_numbers_in_prompts_are_no_rules_of_one_config() -> None:
    for place, prompt in SHIPPED.items():
        assert not re.search(r"\b(13|20|91|7 cells)\b", prompt.text), place
