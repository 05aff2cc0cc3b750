"""Whether a run is what its manifest, its schedule and its calls make of it.

Owns what a record must agree with beside itself: the place it was planned for, the seed its deal and aliases were drawn
from. Scripts and calls are checked in modules of theirs. Reads one record at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, TypeAlias

from weigh.harness.audit.claims.arms import is_experiment
from weigh.harness.audit.redriven import ATTEMPTS
from weigh.harness.audit.verify.calls import Place, check_calls, check_voids, is_moment
from weigh.harness.audit.verify.findings import Finding, agree, compare, show
from weigh.harness.audit.verify.planned import check_held, check_missing, check_schedule
from weigh.harness.audit.verify.policies import Cast, Policies
from weigh.harness.audit.verify.record import Derived, as_record, check_decisions, check_outcome, derive
from weigh.harness.audit.verify.replies import Bench
from weigh.harness.audit.verify.seal import check_chain
from weigh.harness.config.schedule import names_key
from weigh.harness.errors import StoreRefused
from weigh.harness.seeds import deal_aliases, stream
from weigh.harness.store.calls import Void
from weigh.harness.store.chain import Head
from weigh.harness.store.kinds import kind_of
from weigh.harness.store.manifest import Manifest, table_in
from weigh.harness.store.record import SCHEMA, Record
from weigh.harness.store.store import EpisodeRow, Store, StoredCall

Made: TypeAlias = Mapping[Place, Sequence[StoredCall]]
"""The calls of one episode, by the attempt they were made for."""

NOT_COMPARED: Final = (
    "when a run, an episode or a call began, and how long it took (but a claimed deadline must have been reached)",
    "what a provider says: why an answer ended, the model that served it, its reasoning, its count of tokens",
    "what a call cost: prices are not kept (but what was not charged for costs nothing)",
    "calls that were repeated, failed or lost before the answer, and their errors; outages whose void was not kept",
    "the name of a prompt file, and in runs without a hash chain also its hash",
    "addresses and settings of models, versions, and what was learned of models during the run",
    "verdicts of a gate that are kept with its run (the same command gives them again)",
    "the tables of the run that a rematch was made from, and the blocks that a gate did not come to",
    "the moves of a person, of a script in another version, and prompts of another layout",
    "whether all of it was made up as a whole: only a seal from before shows that (`weigh run seal`)",
)
"""What a run that is in order may still have wrong, as nothing it holds can show it. All but the last enters the hash
chain."""

STATUSES: Final = ("finished", "interrupted", "running")
"""Besides `stopped: why`."""

CLOCK: Final = 1e-6
"""Seconds to which times are kept."""


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
    whole: int = 0
    """Records of which nothing is left unchecked."""
    unchecked: tuple[str, ...] = ()
    """What cannot be checked, and why: a line each."""
    head: Head | None = None
    """The end of its hash chain; None for a run without one."""

    @property
    def ok(self) -> bool:
        return not self.findings


def verify_run(store: Store) -> Verdict:
    """Check every record of a run, and what the run keeps beside its records.

    A file that is damaged as a database, or has a cell of another type than it can have, is looked at no further.
    """
    manifest = store.manifest
    damage = store.damage()
    try:
        if damage is None:
            with store.unchanging():
                return _verify(store)
    except StoreRefused as refused:
        damage = str(refused)
    found = Finding("the file", f"is damaged: {damage}")
    return Verdict(manifest.run_id, manifest.episodes, records=0, voids=0, calls=0, reused=0, findings=[found])


def _verify(store: Store) -> Verdict:
    manifest = store.manifest
    policies = Policies(store)
    findings = [
        *_check_told(store),
        *check_held(store),
        *check_missing(store),
        *check_schedule(store),
        *policies.check(),
    ]
    seen: dict[str, str] = {}
    unchecked: dict[str, None] = {}
    records = whole = 0
    for key, body, times in store.bodies():
        records += 1
        record = _read(body, times)
        if not isinstance(record, Record):
            findings += [replace(found, episode=key) for found in record]
            continue
        casts = [policies.of(record.game, entrant) for entrant in record.entrants]
        left = [cast.unchecked for cast in casts if cast.unchecked]
        unchecked |= dict.fromkeys(left)
        whole += not left
        made = _calls(store, key)
        told = [made] if isinstance(made, Finding) else list(_check_record(store, key, record, casts, made, seen))
        findings += [replace(found, episode=key) for found in told]
    findings += _check_unfinished(store)
    findings += [Finding(where, what) for where, what in store.flaws()]
    head = None
    try:
        findings += check_chain(store)
        head = store.chain_head()
    except StoreRefused as error:
        findings.append(Finding("chain", f"cannot be read: {error}"))
    spent = store.totals()
    return Verdict(
        run_id=manifest.run_id,
        planned=manifest.episodes,
        records=records,
        voids=sum(1 for _ in store.voids()),
        calls=spent.calls,
        reused=spent.reused_calls,
        findings=findings,
        whole=whole,
        unchecked=tuple(unchecked),
        head=head,
    )


def _check_told(store: Store) -> Iterator[Finding]:
    """What a run says of itself beside its order."""
    told = store.meta()
    for name in sorted(told.keys() ^ {"manifest", "status", *({"adaptations", "addresses"} & told.keys())}):
        yield Finding(f"meta.{name}", "is missing, or nothing that a run says of itself")
    status = told.get("status", "")
    if status not in STATUSES and not status.startswith("stopped: "):
        yield Finding("meta.status", "is none that there is", show(status), show(STATUSES))
    manifest = store.manifest
    if manifest.schema_version != SCHEMA:
        yield Finding("schema_version", "is not of this version of weigh", show(manifest.schema_version), show(SCHEMA))
    if (seed := manifest.config.get("seed", manifest.seed)) != manifest.seed:
        yield Finding("config.seed", "is not that of the run", show(seed), show(manifest.seed))
    if manifest.chained and kind_of(manifest) == "ladder":  # of runs before, some have none
        for game in sorted(table_in(manifest.config, "games").keys() - manifest.schedules.keys()):
            yield Finding(f"schedules.{game}", "is missing")


def _calls(store: Store, key: str) -> Made | Finding:
    try:
        found = groupby(store.stored_calls(key), key=_place)
        return {place: list(kept) for place, kept in found}
    except StoreRefused as error:
        return Finding("calls", f"cannot be read: {error}")


def _place(kept: StoredCall) -> Place:
    return kept.call.key.seat, kept.call.key.step, kept.call.key.attempt


def _check_unfinished(store: Store) -> Iterator[Finding]:
    """The calls of episodes without a record, and the outages of all."""
    finished = frozenset(store.finished())
    voids: dict[str, list[Void]] = {}
    for void in store.voids():
        voids.setdefault(void.episode, []).append(void)
    for row in store.episodes():
        if row.key in finished and row.key not in voids:
            continue
        made = _calls(store, row.key)
        if isinstance(made, Finding):
            yield replace(made, episode=row.key)
            continue
        found = list(check_voids(voids.get(row.key, ()), made))
        if row.key not in finished:
            said = [store.manifest.policy(row.game, entrant) or {} for entrant in row.entrants]
            models = {seat: _text(each.get("model")) for seat, each in enumerate(said)} if row.entrants else None
            found += check_calls(made, models)
        yield from (replace(each, episode=row.key) for each in found)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _read(body: str, times: str | None) -> Record | list[Finding]:
    try:
        data = {**json.loads(body), "times": json.loads(times) if times else None}
    except (ValueError, TypeError, RecursionError) as error:
        return [Finding("the record", f"is not a JSON object: {error}")]
    return as_record(data)


def _check_record(
    store: Store, key: str, record: Record, casts: Sequence[Cast], made: Made, seen: dict[str, str]
) -> Iterator[Finding]:
    """Everything about one record. `casts` play its seats, `made` are its calls; `seen` holds the key each record was
    found under."""
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
    if any(finding.where.startswith("decisions") for finding in found):
        return
    yield from Bench(record, derived, store.manifest.seed, drawn_for).check(made, casts)


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
    seats = zip(record.entrants, record.policies, record.models, strict=False)
    for seat, (entrant, digest, model) in enumerate(seats):
        ordered = manifest.policy(record.game, entrant)
        if ordered is None:
            yield Finding(f"entrants[{seat}]", "is none of those that the manifest orders", show(entrant))
            continue
        if digest != ordered.get("digest"):
            yield Finding(
                f"policies[{seat}]", f"is not {entrant} as ordered", show(digest), show(ordered.get("digest"))
            )
        if model != ordered.get("model"):
            yield Finding(f"models[{seat}]", f"is not what {entrant} plays by", show(model), show(ordered.get("model")))
    yield from compare("config", record.config, table_in(manifest.config, "games", record.game, "config"))
    limits = table_in(manifest.config, "limits")
    deadline = limits.get("episode_deadline")
    if record.episode_deadline != deadline:
        yield Finding("episode_deadline", "is not as ordered", show(record.episode_deadline), show(deadline))
    if record.times is None or record.times.seconds < 0 or not is_moment(record.times.started):
        yield Finding("times", "are none that can be", show(record.times and record.times.model_dump(mode="json")))
    if record.reason == "deadline" and record.episode_deadline is not None:
        timeout = limits.get("decision_timeout")
        # A round is not opened when it could end too late: both attempts of a model seat may take their whole time.
        spare = ATTEMPTS * timeout if any(record.models) and isinstance(timeout, int | float) else 0.0
        if record.times is None or record.times.seconds + spare + CLOCK < record.episode_deadline:
            told = None if record.times is None else record.times.seconds
            least = record.episode_deadline - spare
            yield Finding("reason", "claims a deadline that was not reached", show(told), f"at least {least:g} s")


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
