"""Every scripted policy by game and name.

Owns the table, which is written out, and `random`, which plays any game. The rules of one game's own baselines stand in
a module of theirs; a new game is one line in the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from weigh.games.game import Json, Legal, Move
from weigh.games.registry import game_named
from weigh.games.values import nearest, quote
from weigh.policies.scripted import ballast, bidders, half_hearted_step, persistent_calibration
from weigh.policies.scripted.policy import Baseline, ScriptedPolicy


class UnknownPolicy(ValueError):
    """No scripted policy of this game has this name."""


def uniform(facts: Mapping[str, Json], legal: Legal, rng: Random) -> Move:
    """Any legal move, all with the same chance."""
    return legal.sample(rng)


EVERY_GAME: Mapping[str, Baseline] = {"random": Baseline(uniform)}

BASELINES: Mapping[str, Mapping[str, Baseline]] = {
    "goofspiel": bidders.GOOFSPIEL,
    "oshi_zumo": bidders.OSHI_ZUMO,
    "ballast": ballast.BALLAST,
    "persistent_calibration": persistent_calibration.PERSISTENT_CALIBRATION,
    "half_hearted_step": half_hearted_step.HALF_HEARTED_STEP,
}
"""By game, then by name: what each game has besides `EVERY_GAME`."""


def scripted_names(game_name: str) -> tuple[str, ...]:
    """The scripted policies of a game: its own first, in the order of the table. Raises games.registry.UnknownGame."""
    return tuple(_of(game_name))


def yardsticks(game_name: str) -> tuple[str, ...]:
    """Those of `scripted_names` that show what a score is worth: all but what stands aside."""
    return tuple(name for name, baseline in _of(game_name).items() if not baseline.stands_aside)


def scripted(game_name: str, policy_name: str) -> ScriptedPolicy:
    """The scripted policy of that game and name.

    Raises games.registry.UnknownGame, or UnknownPolicy with the nearest name and the list.
    """
    table = _of(game_name)
    if policy_name not in table:
        hint = nearest(policy_name, list(table))
        raise UnknownPolicy(
            f"{game_name} has no scripted policy {quote(policy_name)}{hint} (policies: {', '.join(table)})"
        )
    return ScriptedPolicy(policy_name, game_name, table[policy_name])


def fallback_of(game_name: str) -> ScriptedPolicy:
    """The policy that moves for a seat whose attempts failed: the game's fallback by its bare rule, without habits.

    Raises games.registry.UnknownGame.
    """
    return scripted(game_name, game_named(game_name).fallback).without_habits()


def _of(game_name: str) -> Mapping[str, Baseline]:
    return {**BASELINES.get(game_named(game_name).name, {}), **EVERY_GAME}
