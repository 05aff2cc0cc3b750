"""`weigh games` and `weigh policies`: what there is to play, and who can play it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weigh.harness.cli.options import JsonFlag
from weigh.harness.cli.output import print_json, print_sections

if TYPE_CHECKING:
    from weigh.games.game import AnyGame


def games(json: JsonFlag = False) -> None:
    """List the games, with their seats and config keys.

    A config key is set with `weigh play --set KEY=VALUE`, or under [games.NAME] in a ladder's config. The fallback is
    the scripted policy that moves for a seat whose two attempts gave no legal move.

      weigh games
      weigh games --json

    Exit codes: 0 fine.
    """
    from weigh.games.registry import GAMES

    if json:
        print_json(
            [
                {
                    "game": game.name,
                    "title": game.title,
                    "seats": [game.seats.start, game.seats.stop - 1],
                    "fallback": game.fallback,
                    "config": _config_keys(game),
                }
                for game in GAMES.values()
            ]
        )
        return
    from weigh.harness.report.render.document import Column, Section, Table, cells

    rows = []
    for game in GAMES.values():
        low, high = game.seats.start, game.seats.stop - 1
        seats = str(low) if low == high else f"{low}-{high}"
        defaults = {key: spec["default"] for key, spec in _config_keys(game).items()}
        keys = ", ".join(key if default is None else f"{key} ({default})" for key, default in defaults.items())
        rows.append((game.name, game.title, seats, game.fallback, keys))
    titles = ("game", "what it is", "seats", "fallback")
    keys_column = Column("config keys (default)", numeric=False, prose=True)
    columns = (*(Column(title, numeric=False) for title in titles), keys_column)
    print_sections([Section("", blocks=(Table("", columns, cells(rows)),))])


def _config_keys(game: AnyGame) -> dict[str, dict[str, object]]:
    """A game's config keys with default and bounds, from its JSON Schema."""
    keys: dict[str, dict[str, object]] = {}
    for name, spec in game.config_type.model_json_schema().get("properties", {}).items():
        keys[name] = {
            "default": spec.get("default"),
            "minimum": spec.get("minimum"),
            "maximum": spec.get("maximum"),
            "description": spec.get("description"),
        }
    return keys


def policies(json: JsonFlag = False) -> None:
    """List the scripted policies and the built-in prompts.

    A scripted policy is an entrant by its name alone. A prompt is one with a model behind it:

      weigh policies
      weigh play goofspiel goofspiel/tempo.md@local:smollm2 match

    Exit codes: 0 fine.
    """
    from weigh.games.registry import GAMES
    from weigh.harness.config.entrants import packaged_prompts
    from weigh.policies.scripted.registry import scripted_names

    rows: list[dict[str, object]] = []
    for game in GAMES.values():
        for name in scripted_names(game.name):
            rows.append({"policy": name, "kind": "scripted", "game": game.name, "fallback": name == game.fallback})
    for word, prompt in packaged_prompts():
        for game_name in prompt.games or tuple(GAMES):
            rows.append({"policy": word, "kind": "prompt", "game": game_name, "description": prompt.description})
    if json:
        print_json(rows)
        return
    from weigh.harness.report.render.document import Column, Section, Table, bullets, cells

    columns = (
        *(Column(title, numeric=False) for title in ("policy", "kind", "game")),
        Column("", numeric=False, prose=True),
    )
    told = (
        (
            str(row["policy"]),
            str(row["kind"]),
            str(row["game"]),
            "the fallback" if row.get("fallback") else str(row.get("description") or ""),
        )
        for row in rows
    )
    how = "A prompt plays with a model behind it: PROMPT.md@provider:model, e.g. goofspiel/tempo.md@local:smollm2"
    print_sections([Section("", blocks=(Table("", columns, cells(told)),)), Section("", blocks=(bullets([how]),))])
