"""Whether a run is what its manifest, its schedule and its calls make of it.

Owns what a record must agree with beside itself: the place it was planned for, the seed its deal and aliases were drawn
from. Scripts and calls are checked in modules of theirs. Reads one record at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from weigh.harness.audit.claims.arms import alterations_of, is_experiment
from weigh.harness.audit.verify.findings import Finding, agree, compare, show
from weigh.harness.audit.verify.planned import check_held, check_missing, check_schedule
from weigh.harness.audit.verify.record import Derived, as_record, check_decisions, check_outcome, derive
from weigh.harness.audit.verify.replies import check_evidence, check_scripts
from weigh.harness.config.schedule import names_key
from weigh.harness.errors import StoreRefused
from weigh.harness.seeds import deal_aliases, stream
from weigh.harness.store.manifest import Manifest
from weigh.harness.store.record import Record
from weigh.harness.store.store import EpisodeRow, Store


@dataclass(frozen=True, slots=True)
class Verdict:
    """What checking a run came to."""

    run_id: str
    planned: int
    records: int
    voids: int
    """How often an outage ended an episode."""
    calls: int
    """Requests that left."""
    reused: int
    """Answers of an earlier run."""
    findings: list[Finding]

    @property
    def ok(self) -> bool:
        return not self.findings


def verify_run(store: Store) -> Verdict:
    """Check every record of a run, and what the run keeps beside its records.

    A file that is damaged as a database is looked at no further.
    """
    manifest = store.manifest
    if damage := store.damage():
        found = Finding("the file", f"is damaged: {damage}")
        return Verdict(manifest.run_id, manifest.episodes, records=0, voids=0, calls=0, reused=0, findings=[found])
    findings = [*check_held(store), *check_missing(store), *check_schedule(store)]
    seen: dict[str, str] = {}
    records = 0
    for key, body, times in store.bodies():
        records += 1
        findings += [replace(found, episode=key) for found in _check_body(store, key, body, times, seen)]
    spent = store.totals()
    return Verdict(
        run_id=manifest.run_id,
        planned=manifest.episodes,
        records=records,
        voids=sum(1 for _ in store.voids()),
        calls=spent.calls,
        reused=spent.reused_calls,
        findings=findings,
    )


def _check_body(store: Store, key: str, body: str, times: str | None, seen: dict[str, str]) -> Iterator[Finding]:
    """Everything about one record. `seen` holds the key each record was found under."""
    try:
        data = {**json.loads(body), "times": json.loads(times) if times else None}
    except (ValueError, TypeError, RecursionError) as error:
        yield Finding("the record", f"is not a JSON object: {error}")
        return
    record = as_record(data)
    if not isinstance(record, Record):
        yield from record
        return
    if record.key in seen:
        yield Finding("key", f"is that of a second record of the same episode, beside {seen[record.key]}")
    elif record.key != key:
        yield Finding("key", "is not the one it is kept under", show(record.key), show(key))
    seen[record.key] = key
    row = store.episode(key)
    if row is not None:
        yield from _check_plan(record, row)
    yield from _check_manifest(record, store.manifest)
    derived = derive(record)
    if isinstance(derived, list):
        yield from derived
        return
    found = [*check_outcome(record, derived), *check_decisions(record, derived)]
    yield from found
    # The arms of an experiment draw for what they share.
    drawn_for = row.deal_key if row is not None and row.deal_key and is_experiment(store.manifest) else record.key
    yield from _check_seed(record, row, derived, store.manifest.seed, drawn_for)
    if not any(finding.where.startswith("decisions") for finding in found):
        yield from check_scripts(record, derived, store.manifest.seed, drawn_for)
        try:
            alterations = alterations_of(store.manifest, record)
            yield from check_evidence(record, derived, store.stored_calls(key), alterations)
        except StoreRefused as error:
            yield Finding("calls", f"cannot be read: {error}")


def _check_plan(record: Record, row: EpisodeRow) -> Iterator[Finding]:
    for where, recorded, planned in (
        ("block", record.block, row.block),
        ("game", record.game, row.game),
        ("entrants", record.entrants, row.entrants),
    ):
        if recorded != planned:
            yield Finding(where, "is not as planned", show(recorded), show(planned))
    if row.scores != record.scores:
        yield Finding("scores", "differ from the table seats", show(record.scores), show(row.scores))


def _check_manifest(record: Record, manifest: Manifest) -> Iterator[Finding]:
    """Compare with what was ordered, as far as the manifest says it."""
    for seat, entrant in enumerate(record.entrants):
        ordered = manifest.policy(record.game, entrant)
        if ordered is None or seat >= len(record.policies) or seat >= len(record.models):
            continue
        if record.policies[seat] != ordered.get("digest"):
            recorded, digest = show(record.policies[seat]), show(ordered.get("digest"))
            yield Finding(f"policies[{seat}]", f"is not {entrant} as ordered", recorded, digest)
        if record.models[seat] != ordered.get("model"):
            recorded, model = show(record.models[seat]), show(ordered.get("model"))
            yield Finding(f"models[{seat}]", f"is not what {entrant} plays by", recorded, model)
    config = _at(manifest.config, "games", record.game, "config")
    if config is not None:
        yield from compare("config", record.config, config)
    limits = _at(manifest.config, "limits")
    if isinstance(limits, Mapping) and "episode_deadline" in limits:
        deadline = limits["episode_deadline"]
        if record.episode_deadline != deadline:
            yield Finding("episode_deadline", "is not as ordered", show(record.episode_deadline), show(deadline))


def _check_seed(
    record: Record, row: EpisodeRow | None, derived: Derived, seed: int, drawn_for: str
) -> Iterator[Finding]:
    """Draw the deal and the aliases again, where the run knows what they were drawn for."""
    if row is None or not row.deal_key:
        return
    deal = dict(derived.game.deal(derived.config, stream(seed, "deal", row.deal_key)))
    if not agree(record.deal, deal):
        yield Finding("deal", "is not the one that the run's seed draws", show(record.deal), show(deal))
    aliases = deal_aliases(derived.seats, stream(seed, "aliases", names_key(drawn_for)))
    if record.aliases != aliases:
        yield Finding("aliases", "are not those that the run's seed draws", show(record.aliases), show(aliases))


def _at(config: object, *path: str) -> object:
    for key in path:
        if not isinstance(config, Mapping):
            return None
        config = config.get(key)
    return config
