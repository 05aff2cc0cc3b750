"""A controlled replay: the tables of the pairs that an audit named, played again in three ways, and what differs.

Owns what is refused before anything is made or paid for, and the run that is ordered. The ways and the count are in
`harness.config.schedule` and `harness.audit.collusion.rematch`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from weigh.games.goofspiel.rules import GOOFSPIEL, GoofspielConfig
from weigh.harness.audit.collusion.rematch import Answer, Seen, answers, seen
from weigh.harness.config.config import LadderConfig, load_config
from weigh.harness.config.entrants import EntrantSpec
from weigh.harness.config.schedule import WITHOUT, Episode, Pair, choose_stand_ins, meeting, rematch, split_key
from weigh.harness.config.sections import run_name, safe_name
from weigh.harness.errors import FINE, INCONCLUSIVE, Refused
from weigh.harness.run.folder import run_in
from weigh.harness.run.opening import divisions_of, ordered, require_ready, versions
from weigh.harness.run.play.ladder import Follow, Sitting, play_out
from weigh.harness.run.play.opening_lines import require_prices, unsent
from weigh.harness.run.runner import Division
from weigh.harness.seeds import deal_aliases, stream
from weigh.harness.store.kinds import REMATCH, kind_of, require_ladders
from weigh.harness.store.manifest import Manifest, differences, table_in
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.harness.words import did_you_mean, plural
from weigh.policies.scripted.registry import EVERY_GAME, fallback_of, scripted_names, yardsticks

GAME: Final = "goofspiel"
"""The game in which standing aside is a card: the lowest one held."""


@dataclass(frozen=True, slots=True)
class ReplaySpec:
    """What a replay is asked for with."""

    runs: Sequence[Path]
    config: Path
    pairs: Sequence[Pair]
    """Who stands aside, and for whom."""
    replace_with: str | None = None
    name: str | None = None

    @property
    def command(self) -> list[str]:
        """What goes on from here. The pairs stand in it, whether they were named or found."""
        words = ["weigh", "audit", *map(str, self.runs), "--replay-shuffled", str(self.config)]
        for one, other in self.pairs:
            words += ["--pair", f"{one}:{other}"]
        words += [] if self.replace_with is None else ["--replace-with", self.replace_with]
        return [*words, *([] if self.name is None else ["--name", self.name])]


@dataclass(frozen=True, slots=True)
class First:
    """The run that is played again, as far as that needs it."""

    folder: Path
    manifest: Manifest
    tables: tuple[Episode, ...]
    """Its finished episodes at which a pair sits, in schedule order."""
    config: Mapping[str, object]
    """Of the game."""
    policies: Mapping[str, str]
    """The digest under which each entrant of these tables played."""
    sights: tuple[Seen, ...]


@dataclass(frozen=True, slots=True)
class Rematch:
    """What is played."""

    order: LadderConfig
    """The config, cut down to this game and to who sits at these tables, with the first run's seed."""
    divisions: Mapping[str, Division]
    manifest: Manifest
    episodes: tuple[Episode, ...]
    stand_ins: Mapping[str, tuple[str, ...]]
    """By who is replaced: at each table the first of them who does not sit there."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """How a replay ended."""

    first: First
    again: Rematch
    answers: tuple[Answer, ...]
    finished: int
    """Episodes with a record."""
    played: int
    """The exit code of the playing."""

    @property
    def folder(self) -> Path:
        return self.again.order.run_folder

    @property
    def code(self) -> int:
        """0 every question is answered, 3 some are open, 4 and 130 as for a ladder."""
        return self.played or (INCONCLUSIVE if any(answer.open for answer in self.answers) else FINE)

    def to_json(self) -> dict[str, Any]:
        return {
            "run": self.first.manifest.run_id,
            "rematch": str(self.folder),
            "game": GAME,
            "episodes": len(self.again.episodes),
            "finished": self.finished,
            "pairs": [answer.to_json() for answer in self.answers],
        }


def replay(spec: ReplaySpec, follow: Follow, note: Callable[[str], None], *, quiet: bool = False) -> Replayed:
    """Play the tables of the pairs again, or go on where that stopped, and say what the pairs' habits depend on.

    Raises Refused, ConfigError or StoreRefused before anything is made or paid for.
    """
    if len(spec.runs) != 1:
        raise Refused(
            "one run is played again at a time: its seed deals the cards; give one RUN with --replay-shuffled",
            kind="several-runs",
        )
    for one, other in spec.pairs:
        if one == other:
            raise Refused(f"{one} cannot stand aside for itself: a pair is two entrants", kind="not-a-pair")
    pairs = list(dict.fromkeys(spec.pairs))
    given = load_config(spec.config)
    first = read_first(spec.runs[0], pairs)
    again = planned(given, first, pairs, spec.replace_with, spec.name)
    order = again.order
    require_ready(order.endpoints, order.entrants)
    require_prices(order)
    place = "a name of its own (--name)"
    with run_in(order.run_folder, again.manifest, again.episodes, place, note=note) as store:
        if not quiet:
            note(", ".join(f"{package} {number}" for package, number in versions().items()))
            for line in (*unsent(order), *_opening(first, again)):
                note(line)
        resume = replace(spec, pairs=pairs).command
        _, code = play_out(Sitting(order, store, store, again.episodes, resume), follow)
    with Store.open(order.run_folder, readonly=True) as store:
        found = _answers(first, store, pairs, again.stand_ins)
        return Replayed(first, again, found, len(store.finished()), code)


def read_first(folder: Path, pairs: Sequence[Pair]) -> First:
    """The run in `folder` as `pairs` see it.

    Raises StoreRefused for what is no run, Refused for one that holds nothing to be played again.
    """
    tables: list[Episode] = []
    sights: list[Seen] = []
    policies: dict[str, str] = {}
    settings: Mapping[str, object] | None = None
    games: dict[str, None] = {}
    with Store.open(folder, readonly=True) as store:
        manifest = store.manifest
        if kind_of(manifest) == "rematch":
            raise Refused(f"{folder} is a rematch itself; give the run that it was made from")
        require_ladders([(folder, manifest)])
        for record in store.records():
            games[record.game] = None
            if record.game != GAME or not any(set(pair) <= set(record.entrants) for pair in pairs):
                continue
            row = store.episode(record.key)
            table = Episode(record.key, GAME, record.block, record.entrants, row.deal_key if row else "")
            _require_drawn(folder, manifest.seed, table, record)
            for entrant, digest in zip(record.entrants, record.policies, strict=True):
                if policies.setdefault(entrant, digest) != digest:
                    raise Refused(f"{folder}: {entrant} is not one policy, but several under one name")
            if settings is not None and settings != record.config:
                raise Refused(f"{folder}: {GAME} was played under several configs, of which one rematch can have one")
            settings = record.config
            tables.append(table)
            sights += seen(record, table, pairs)
    if GAME not in games:
        other = f" (it holds {', '.join(games)})" if games else ""
        raise Refused(f"{folder} holds no finished episode of {GAME}, the game that can be played again{other}")
    for one, other in pairs:
        if not meeting(tables, (one, other)):
            raise Refused(f"{folder} holds no finished episode of {GAME} with both {one} and {other} in it")
    return First(folder, manifest, tuple(tables), settings or {}, policies, tuple(sights))


def _require_drawn(folder: Path, seed: int, table: Episode, record: Record) -> None:
    """Refuse what was not drawn from the run's seed: it could not be dealt again."""
    deal = GOOFSPIEL.deal(GoofspielConfig.model_validate(record.config), stream(seed, "deal", table.deal_key))
    names = deal_aliases(len(table.entrants), stream(seed, "aliases", table.key))
    if dict(deal) != record.deal or names != record.aliases:
        raise Refused(
            f"{folder}: the deal of {table.key} or its names are not drawn from the run's seed (weigh verify)"
        )


def planned(
    given: LadderConfig, first: First, pairs: Sequence[Pair], replace_with: str | None, name: str | None
) -> Rematch:
    """The rematch of `first` under the config `given`. Raises Refused for a config that cannot give one."""
    entry = next((entry for entry in given.games if entry.game.name == GAME), None)
    if entry is None:
        raise Refused(f"{given.source} has no [games.{GAME}], the game that is played again")
    known = {spec.name: spec for spec in given.playing(GAME)}
    for entrant in dict.fromkeys(entrant for table in first.tables for entrant in table.entrants):
        if entrant not in known:
            raise Refused(
                f"{given.source} has no entrant {entrant} for {GAME}, who sat at these tables in {first.folder}"
                f"{did_you_mean(entrant, known)}"
            )
    stand_ins = _stand_ins(given, first, pairs, replace_with)
    coming = dict.fromkeys(who for chosen in stand_ins.values() for who in chosen)
    seated = {*first.policies, *coming}
    specs = [spec for spec in known.values() if spec.name in seated]
    specs += [EntrantSpec(who, scripted=who) for who in coming if who not in known]
    try:
        folder = run_name(name) if name is not None else safe_name(f"{first.folder.resolve().name}-rematch")
    except ValueError as error:
        raise Refused(f"--name: {error}") from error
    order = replace(
        given,
        name=folder,
        seed=first.manifest.seed,
        games=(replace(entry, blocks=len({table.block for table in first.tables})),),
        entrants=tuple(specs),
        endpoints={model: it for model, it in given.endpoints.items() if any(spec.model == model for spec in specs)},
        warnings=(),
    )
    divisions = divisions_of(order)
    episodes = rematch(first.tables, pairs, stand_ins)
    described = {
        "run": first.manifest.run_id,
        "pairs": [list(pair) for pair in pairs],
        "stand_ins": {other: who[0] if len(who) == 1 else list(who) for other, who in stand_ins.items()},
    }
    manifest = ordered(order.seed, {**order.to_json(), REMATCH: described}, divisions, episodes)
    _require_unchanged(given, first, manifest, divisions[GAME])
    return Rematch(order, divisions, manifest, episodes, stand_ins)


def _stand_ins(
    given: LadderConfig, first: First, pairs: Sequence[Pair], replace_with: str | None
) -> dict[str, tuple[str, ...]]:
    """Who takes the place of the second of each pair.

    By default a scripted policy, first of all the game's fallback: it bids what the prize says and nothing else, so no
    bid of its own can tell anybody anything; then `random`, which is as dumb. No policy of a pair is taken, under
    whatever name, and nobody sits at a table twice.
    """
    specs = {spec.name: spec for spec in given.playing(GAME)}
    others = list(dict.fromkeys(other for _, other in pairs))
    named = dict.fromkeys(who for pair in pairs for who in pair)
    scripted = [fallback_of(GAME).name, *EVERY_GAME, *yardsticks(GAME)]
    if replace_with is not None:
        if replace_with not in specs and replace_with not in scripted_names(GAME):
            raise Refused(
                f"--replace-with: {given.source} has no entrant {replace_with} for {GAME}"
                f"{did_you_mean(replace_with, [*specs, *scripted_names(GAME)])}"
            )
        if replace_with in named:
            raise Refused(f"--replace-with: {replace_with} is one of the pair; give an entrant that is not")
        taken = sum(replace_with in table.entrants for table in first.tables)
        if taken:
            raise Refused(
                f"--replace-with: {replace_with} sits at {taken} of the {len(first.tables)} tables already, and would "
                "be there twice; give an entrant that sits at none"
            )
        return dict.fromkeys(others, (replace_with,))
    barred = {specs[who].to_json().get("scripted") for who in named}
    bearers = {spec.scripted: spec.name for spec in reversed(specs.values())}
    offered = [bearers.get(policy, policy) for policy in dict.fromkeys(scripted) if policy not in barred]
    found: dict[str, tuple[str, ...]] = {}
    for other in others:
        tables = [table for pair in pairs if pair[1] == other for table in meeting(first.tables, pair)]
        who = choose_stand_ins(tables, offered, named)
        if who is None:
            raise Refused(
                f"no scripted policy can take the place of {other}: {', '.join(offered) or 'each'} sits there already "
                "or is of the pair; name an entrant with --replace-with that sits at none of these tables"
            )
        found[other] = who
    return found


def _require_unchanged(given: LadderConfig, first: First, now: Manifest, division: Division) -> None:
    """Refuse a config under which the same tables would not be the same."""

    def part(config: Mapping[str, object], *, of: Sequence[str]) -> dict[str, object]:
        held, game = table_in(config, "entrants"), table_in(config, "games", GAME)
        return {"games": {GAME: {"config": game.get("config")}}, "entrants": {who: held.get(who) for who in of}}

    settings = division.config.model_dump(mode="json")
    changed = [who for who, digest in first.policies.items() if division.policies[who].digest != digest]
    if settings == first.config and not changed:
        return
    before, after = part(first.manifest.config, of=changed), part(now.config, of=changed)
    bare = {"policies": {}, "schedule": ""}
    reasons = differences(
        first.manifest.model_copy(update={**bare, "config": before}), now.model_copy(update={**bare, "config": after})
    )
    lines = [f"{who} does not play as it did in {first.folder}: its policy has changed since" for who in changed]
    if settings != first.config:
        lines.append(f"{GAME} is not played as it was in {first.folder}: its config has changed since")
    raise Refused(f"{given.source} cannot play these tables again; put back:", *lines, *(f"  {it}" for it in reasons))


def _opening(first: First, again: Rematch) -> Iterator[str]:
    blocks = len({table.block for table in first.tables})
    yield (
        f"{plural(len(first.tables), 'table')} of {plural(blocks, 'block')} of {first.folder}, played again: "
        f"{len(again.episodes)} episodes"
    )
    arms = Counter(split_key(episode.key)[1] for episode in again.episodes)
    for other, who in again.stand_ins.items():
        yield f"{other} is replaced by {' or '.join(who)} in {arms[WITHOUT + other]} of them"
    before = table_in(first.manifest.config, "models")
    for model, bearing in table_in(again.manifest.config, "models").items():
        if before.get(model, bearing) != bearing:
            yield f"weigh: {model} is asked elsewhere or in another way than in {first.folder}"


def _answers(
    first: First, store: Store, pairs: Sequence[Pair], stand_ins: Mapping[str, tuple[str, ...]]
) -> tuple[Answer, ...]:
    tables = {table.key: table for table in first.tables}
    played = [sight for record in store.records() for sight in seen(record, tables[split_key(record.key)[0]], pairs)]
    return answers([*first.sights, *played], pairs, stand_ins)
