"""What kind of run a folder holds, by its manifest, and which runs can be read as one ladder.

Owns the keys of a config that tell a run's kind, the refusals of what is no ladder or no one ladder, and which run is
the newest. Reads nothing but manifests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

from weigh.harness.errors import StoreRefused
from weigh.harness.store.manifest import Manifest, config_differences
from weigh.harness.store.schema import FILE
from weigh.harness.store.store import Store

RunKind: TypeAlias = Literal["ladder", "single", "rematch", "experiment", "arm", "unknown"]
"""`single` is one episode of `weigh play`; `arm` is one of the runs of a gate or a comparison, in which one entrant
meets a field. `unknown` is what no command makes."""

LADDER: Final = frozenset({"seed", "games", "entrants", "models", "limits"})
"""The keys of the config of a ladder: only then are the episodes a schedule."""
SINGLE: Final = frozenset({"games", "models", "limits"})
"""Those of an episode of `weigh play`."""

REMATCH: Final = "rematch"
EXPERIMENT: Final = "experiment"
ARM: Final = "gate"

_NO_LADDER: Final[dict[RunKind, tuple[str, str]]] = {
    "rematch": (
        "is a rematch, the same tables in several arms",
        "`weigh audit RUN --replay-shuffled CONFIG.toml --pair I:J` on the run it was made from reads it",
    ),
    "experiment": (
        "is an experiment, the same play in several arms",
        "`weigh experiment` with the config it was made from reads it",
    ),
    "arm": (
        "is one arm of a gate or a comparison, in which one entrant meets a field",
        "`weigh gate` or `weigh compare`, as it was made, reads it beside the other arm",
    ),
}


def kind_of(manifest: Manifest) -> RunKind:
    """What a run was made as."""
    config = manifest.config
    if REMATCH in config:
        return "rematch"
    if EXPERIMENT in config:
        return "experiment"
    if ARM in config:
        return "arm"
    if config.keys() == LADDER:
        return "ladder"
    return "single" if config.keys() == SINGLE else "unknown"


def is_one_design(manifest: Manifest) -> bool:
    """Whether every episode of a run is evidence of the same thing, so that its scores can be read together."""
    return kind_of(manifest) not in _NO_LADDER


def require_ladders(runs: Sequence[tuple[Path, Manifest]]) -> None:
    """Raise StoreRefused for a run whose episodes were not played to be ranked: its means would mix what was changed on
    purpose with who is better."""
    for folder, manifest in runs:
        if (told := _NO_LADDER.get(kind_of(manifest))) is not None:
            what, reader = told
            raise StoreRefused(f"{folder} {what}, and no ladder; {reader}", kind="no-ladder")


def require_one_ladder(runs: Sequence[tuple[Path, Manifest]]) -> None:
    """Raise StoreRefused for what `require_ladders` refuses, and for runs that play a game under different configs:
    their scores do not mean the same."""
    require_ladders(runs)
    first: dict[str, tuple[Path, Mapping[str, object]]] = {}
    for folder, manifest in runs:
        for game, config in game_configs(manifest).items():
            before, known = first.setdefault(game, (folder, config))
            found = config_differences(known, config)
            if found:
                apart = ", ".join(f"{place} {was} and {now}" for place, was, now in found)
                raise StoreRefused(
                    f"{before} and {folder} play {game} under different configs, so that their scores do not mean the "
                    f"same: {apart}; read them one at a time",
                    kind="other-config",
                )


def game_configs(manifest: Manifest) -> dict[str, Mapping[str, object]]:
    """The config of each game, as far as the manifest says it."""
    games = manifest.config.get("games")
    tables = games if isinstance(games, Mapping) else {}
    found = {game: table.get("config") if isinstance(table, Mapping) else None for game, table in tables.items()}
    return {game: config for game, config in found.items() if isinstance(config, Mapping)}


def newest_run(results: Path, *, ladder: bool) -> Path:
    """The run directly below `results` whose file was written last; with `ladder`, the last one that is a ladder.

    Reading a run does not write its file. Equal times go to the later name. Raises StoreRefused where there is none.
    """
    found = [(path.stat().st_mtime_ns, path.parent.name) for path in results.glob(f"*/{FILE}") if path.is_file()]
    for _, name in sorted(found, reverse=True):
        folder = results / name
        if not ladder:
            return folder
        with Store.open(folder, readonly=True) as store:
            if kind_of(store.manifest) == "ladder":
                return folder
    what = "no ladder" if found else "no run"
    advice = "give the folder of one, or play one, as `weigh ladder CONFIG.toml` does"
    raise StoreRefused(f"{results} holds {what}: {advice}", kind="no-run")


def deals_of(run: str, seed: int | None) -> str:
    """What runs with equal deals have in common: the seed, else the run itself."""
    return f"run {run}" if seed is None else f"seed {seed}"
