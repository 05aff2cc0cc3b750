"""`weigh ladder --extend`: the run that is there, with what the config has more of.

Owns what a person is told of it. What an extension is and how many blocks it adds is `harness.config.extension`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from weigh.harness.audit.verify.planned import require_as_planned
from weigh.harness.config.extension import extension, obstacles
from weigh.harness.errors import Refused
from weigh.harness.run.folder import holds_run, opened, planned_in
from weigh.harness.store.manifest import Manifest, table_in, version_notes
from weigh.harness.store.store import Store

if TYPE_CHECKING:
    from weigh.harness.config.config import LadderConfig
    from weigh.harness.config.extension import Extension


@contextmanager
def extended_run(order: LadderConfig, manifest: Manifest, note: Callable[[str], None]) -> Iterator[Store]:
    """The run of `order`, open for writing and extended to `manifest`, what the config orders now.
    `note` is told by what.

    Raises Refused when there is no run, and when the config differs from it in what no extension changes.
    """
    folder = order.run_folder
    if not holds_run(folder):
        raise Refused(f"{folder} holds no run to extend; without --extend this config makes a new one", kind="no-run")
    with opened(lambda: Store.open(folder)) as store:
        require_as_planned([store], whole=False)
        more = required_extension(order, store, manifest)
        for line in version_notes(store.manifest, manifest):
            note(f"weigh: {line}")
        if more is None:
            note("weigh: nothing to extend: the config is the run's own")
        else:
            store.amend(more.manifest, more.episodes)
            note(f"weigh: the run is extended: {'; '.join(more.lines)}")
        yield store


def required_extension(order: LadderConfig, store: Store, manifest: Manifest) -> Extension | None:
    """What a run would be extended by; None for nothing. Raises Refused when it cannot be."""
    reasons = _reasons(order, store, manifest)
    if reasons:
        raise Refused(
            f"{order.run_folder} cannot be extended to this config; give it a name of its own (--name), or fix:",
            *(f"  {line}" for line in reasons),
            kind="not-extendable",
        )
    return _extension(order, store, manifest)


def possible_extension(order: LadderConfig, store: Store, manifest: Manifest) -> Extension | None:
    """The same, and None where it cannot be."""
    return None if _reasons(order, store, manifest) else _extension(order, store, manifest)


def advice(order: LadderConfig, store: Store, manifest: Manifest) -> str | None:
    """What --extend would do with a run that was made under another config; None when it could not either."""
    more = possible_extension(order, store, manifest)
    return None if more is None else f"--extend would keep what is there and go on with it ({'; '.join(more.lines)})"


def _reasons(order: LadderConfig, store: Store, manifest: Manifest) -> list[str]:
    planned, finished = planned_in(store), frozenset(store.finished())
    left = [episode for episode in planned if episode.key not in finished]
    lines = obstacles(store.manifest, manifest, planned, left, blocks_given(order))
    return [*lines, *_replaced_baselines(order, store.manifest)]


def _replaced_baselines(order: LadderConfig, old: Manifest) -> Iterator[str]:
    """Baselines of the run that would leave unasked, because somebody else plays their policy now."""
    if not order.baselines:
        return
    now = {spec.name for spec in order.entrants}
    for name, said in table_in(old.config, "entrants").items():
        heirs = [spec.name for spec in order.entrants if spec.scripted == name]
        if name not in now and heirs and table_in(said).get("scripted") == name:
            yield (
                f"entrants.{name}: would leave, since {heirs[0]} plays the same policy and baselines are policies that "
                f'nobody plays; write {name} = "{name}" to keep it, or baselines = false and who stays'
            )


def _extension(order: LadderConfig, store: Store, manifest: Manifest) -> Extension | None:
    when = datetime.now(UTC).isoformat(timespec="seconds")
    return extension(store.manifest, manifest, planned_in(store), blocks_given(order), when)


def blocks_given(order: LadderConfig) -> Mapping[str, int | None]:
    """How many blocks the config asks for, by game; None where it leaves that open."""
    return {entry.game.name: entry.blocks if entry.blocks_given else None for entry in order.games}
