"""Extending a run: more blocks, and entrants that come or leave, with every block there is kept as it is.

Owns what an extension may change, how many blocks it adds, and the making of a run's schedule again from its manifest.
Pure: knows neither configs nor stores nor clocks.

The rule
1. Entrants may come and leave, and blocks may be added. Whatever else differs stands against an extension.
2. An entrant may leave when no planned episode with it is left to be played: planned episodes are never dropped. Its
   records stay. A name that comes back comes back as the same policy.
3. A game for which the config gives more blocks than are planned gets as many as are missing. Any other game gets as
   few as bring every newcomer to an equal share (`schedule.catch_up`), and none without a newcomer.
4. New blocks follow all that were planned; those of several games take turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from pydantic import JsonValue

from weigh.games.game import Json
from weigh.harness.config.balance import describe
from weigh.harness.config.designs import Rows
from weigh.harness.config.schedule import Episode, catch_up, extend, follows_design, schedule
from weigh.harness.errors import ScheduleInvalid
from weigh.harness.store.manifest import Amendment, Manifest, differences, field_of, schedule_digest, table_in


@dataclass(frozen=True, slots=True)
class Extension:
    """What extending a run comes to."""

    manifest: Manifest
    """Of the extended run."""
    episodes: tuple[Episode, ...]
    """Those that are added, to be played after all others."""
    amendment: Amendment

    @property
    def lines(self) -> tuple[str, ...]:
        """What is added, for people."""
        came, left = ", ".join(self.amendment.added), ", ".join(self.amendment.withdrawn)
        lines = [f"added: {came}"] if came else []
        lines += [f"withdrawn: {left}"] if left else []
        lines += [f"{game}: {count} new blocks" for game, count in self.amendment.blocks.items() if count]
        return tuple(lines) or ("no blocks and no entrants, only the config as it is now",)


def obstacles(
    old: Manifest, new: Manifest, planned: Sequence[Episode], left: Sequence[Episode], given: Mapping[str, int | None]
) -> list[str]:
    """Why the run of `old` cannot be extended to what `new` orders, a line each; none when it can.

    `planned` are its episodes and `left` those without a record. `given` says for every game how many blocks the config
    asks for, None where it leaves that open.
    """
    added, withdrawn = _comings(old, new)
    lines = differences(_common(old, new), _common(new, old))
    had, has = table_in(old.config, "games"), table_in(new.config, "games")
    lines += [
        f"games.{game}: not in the run, {_ordered(new, game)} blocks in the config; a run gets no further games"
        for game in has
        if game not in had
    ]
    lines += [
        f"games.{game}: {_blocks(planned, game)} blocks in the run, not in the config; a game does not leave a run"
        for game in had
        if game not in has
    ]
    for game, blocks in given.items():
        there = _blocks(planned, game)
        if blocks is not None and blocks < there and blocks != _ordered(old, game):
            lines.append(f"games.{game}.blocks: {there} in the run, {blocks} in the config; planned blocks are kept")
    for name in withdrawn:
        count = sum(name in episode.entrants for episode in left)
        if count:
            lines.append(
                f"entrants.{name}: cannot leave before its planned episodes are finished, and {count} are not: "
                "put it back, let the run end without --extend, then take it out"
            )
    for name in added:
        for game in given:
            before, now = old.policy(game, name), new.policies.get(f"{game}/{name}")
            if before is not None and now is not None and before != now:
                lines.append(f"entrants.{name}: was another policy when it played {game} in this run; rename it")
    return lines


def extension(
    old: Manifest, new: Manifest, planned: Sequence[Episode], given: Mapping[str, int | None], when: str
) -> Extension | None:
    """The extension of the run of `old` to what `new` orders; None when there is nothing to extend.

    There must be no `obstacles`. `when` is UTC, ISO 8601. Raises ScheduleInvalid where the entrants of a game do not
    fill a table.
    """
    if old.config == new.config and old.policies == new.policies:
        return None
    added, withdrawn = _comings(old, new)
    blocks = {game: _further(old, new, planned, game, asked) for game, asked in given.items()}
    more = take_turns(list(blocks.values()))
    everything = (*planned, *more)
    amendment = Amendment(
        amended=when,
        added=added,
        withdrawn=withdrawn,
        blocks={game: _blocks(episodes, game) for game, episodes in blocks.items()},
        episodes=old.episodes,
        schedule=old.schedule,
        config=old.config,
        policies=old.policies,
        versions=new.versions,
    )
    return Extension(
        manifest=old.model_copy(
            update={
                "config": new.config,
                "policies": new.policies,
                "schedule": schedule_digest(everything),
                "episodes": len(everything),
                "schedules": {game: report_json(new, everything, game) for game in given},
                "amendments": (*old.amendments, amendment),
            }
        ),
        episodes=more,
        amendment=amendment,
    )


def report_json(manifest: Manifest, planned: Sequence[Episode], game: str) -> dict[str, Json]:
    """How balanced the planned episodes of a game are, as manifests hold it."""
    field = field_of(manifest.policies, game)
    played = [episode for episode in planned if episode.game == game]
    followed = follows_design(played, field, manifest.seed, rows_of(manifest, game))
    return describe(played, field, followed).to_json()


def made_again(manifest: Manifest, game: str, seats: int) -> tuple[Episode, ...]:
    """Every planned episode of one game, from what the run was ordered with and how it was extended.

    Raises ScheduleInvalid when the manifest orders what cannot be planned.
    """
    orders = manifest.orders
    rows, seed = rows_of(manifest, game), manifest.seed
    ordered = _ordered(orders[0], game)
    if ordered is None:
        raise ScheduleInvalid(f"the manifest does not say how many blocks of {game} were ordered", kind="no-blocks")
    planned = schedule(game, field_of(orders[0].policies, game), seats, ordered, seed, rows)
    for amendment, after in zip(manifest.amendments, orders[1:], strict=True):
        count = amendment.blocks.get(game, 0)
        if count:
            planned += extend(planned, field_of(after.policies, game), count, seed, rows)
    return planned


def take_turns(games: Sequence[Sequence[Episode]]) -> tuple[Episode, ...]:
    """The episodes of several games in the order to play them: blocks take turns, so that a run cut short has some of
    each game in proportion."""
    blocks: list[tuple[float, int, tuple[Episode, ...]]] = []
    for order, episodes in enumerate(games):
        whole = [tuple(block) for _, block in groupby(episodes, key=lambda episode: episode.block)]
        blocks += [((number + 0.5) / len(whole), order, block) for number, block in enumerate(whole)]
    blocks.sort(key=lambda item: item[:2])
    return tuple(episode for _, _, block in blocks for episode in block)


def rows_of(manifest: Manifest, game: str) -> Rows:
    """How a run seats neighbours."""
    return "williams" if _table(manifest, game).get("rows") == "williams" else "rotated"


def _further(
    old: Manifest, new: Manifest, planned: Sequence[Episode], game: str, asked: int | None
) -> tuple[Episode, ...]:
    """The blocks to be added to one game."""
    played = [episode for episode in planned if episode.game == game]
    field, rows = field_of(new.policies, game), rows_of(new, game)
    missing = (asked or 0) - _blocks(played, game)
    if missing > 0:
        return extend(played, field, missing, old.seed, rows)
    before = field_of(old.policies, game)
    return catch_up(played, field, [name for name in field if name not in before], old.seed, rows)


def _comings(old: Manifest, new: Manifest) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Who came and who left, in the order of the configs."""
    before, now = table_in(old.config, "entrants"), table_in(new.config, "entrants")
    return tuple(name for name in now if name not in before), tuple(name for name in before if name not in now)


def _common(manifest: Manifest, other: Manifest) -> Manifest:
    """What an extension must leave alone: everything but entrants that only one of them has, and numbers of blocks."""
    entrants = {name: spec for name, spec in table_in(manifest.config, "entrants").items() if _in(other, name)}
    models, theirs = table_in(manifest.config, "models"), table_in(other.config, "models")
    games = {
        game: {**table_in(table), "blocks": 0} if isinstance(table, Mapping) else table
        for game, table in table_in(manifest.config, "games").items()
        if game in table_in(other.config, "games")
    }
    kept = {"entrants": entrants, "models": {key: value for key, value in models.items() if key in theirs}}
    policies = {
        key: policy
        for key, policy in manifest.policies.items()
        if key.partition("/")[0] in games and _in(other, key.partition("/")[2])
    }
    # With no schedule to compare: that is what an extension is for.
    update = {"config": {**manifest.config, **kept, "games": games}, "policies": policies, "schedule": ""}
    return manifest.model_copy(update=update)


def _in(manifest: Manifest, entrant: str) -> bool:
    return entrant in table_in(manifest.config, "entrants")


def _blocks(episodes: Sequence[Episode], game: str) -> int:
    return len({episode.block for episode in episodes if episode.game == game})


def _ordered(order: Manifest | Amendment, game: str) -> int | None:
    """How many blocks of a game a config orders."""
    blocks = _table(order, game).get("blocks")
    return blocks if isinstance(blocks, int) else None


def _table(order: Manifest | Amendment, game: str) -> Mapping[str, JsonValue]:
    return table_in(order.config, "games", game)
