"""Whether a run's rows are those that entered its hash chain, and what of a run can be noted elsewhere to hold it to.

Owns the comparison of rows with the chain, and the seal: one line with the digests of what was ordered and the head of
the chain as it stood. A seal from before the first call fixes the plan, one from after the last also the results; it
holds for a run that went on since, but for none that was changed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from weigh.harness.audit.verify.findings import Finding, show
from weigh.harness.errors import Refused, StoreRefused
from weigh.harness.store.chain import START
from weigh.harness.store.manifest import Amendment, Manifest
from weigh.harness.store.store import Store
from weigh.policies.contract import canonical

WORD: Final = "weigh-seal"
VERSION: Final = "1"
DIGITS: Final = 32
"""Hex digits of what was ordered: enough that nobody finds another order with them."""
ORDERED: Final = ("plan", "schedule", "policies")
KEYS: Final = ("run", *ORDERED, "rows", "head")


@dataclass(frozen=True, slots=True)
class Seal:
    """What a run was, in one line."""

    run: str
    """Its id."""
    plan: str
    """Of config and seed; hex, as the next two."""
    schedule: str
    policies: str
    rows: int
    """How many entries its chain had."""
    head: str
    """The link of the last of them, hex."""

    def __str__(self) -> str:
        said = " ".join(f"{key}={getattr(self, key)}" for key in KEYS)
        return f"{WORD} {VERSION} {said}"


def seal_of(store: Store) -> Seal:
    """The seal of a run as it is. Raises Refused for one without a chain."""
    head = store.chain_head()
    if head is None:
        raise Refused(
            f"{store.folder} has no hash chain, because it was made before there was one; it cannot be sealed",
            kind="no-chain",
        )
    plan, schedule, policies = (_ordered(store.manifest, store.manifest.seed)[key] for key in ORDERED)
    return Seal(store.manifest.run_id, plan, schedule, policies, head.rows, head.link)


def read_seal(text: str) -> Seal:
    """The seal that a line holds, whatever stands around it. Raises Refused where there is none."""
    pattern = rf"{WORD} {VERSION} " + " ".join(rf"{key}=(?P<{key}>\S+)" for key in KEYS)
    found = re.search(pattern, text)
    if found is None or not found["rows"].isascii() or not found["rows"].isdigit() or len(found["rows"]) > 18:
        raise Refused(
            f"--seal: {show(text)} holds no seal; give the line that `weigh run seal` printed ({WORD} {VERSION} ...)",
            kind="no-seal",
        )
    plan, schedule, policies = (found[key] for key in ORDERED)
    return Seal(found["run"], plan, schedule, policies, int(found["rows"]), found["head"])


def check_seal(seal: Seal, store: Store) -> Iterator[Finding]:
    """Everything in which a run is not the one that was sealed, or that one gone on with."""
    manifest = store.manifest
    if seal.run != manifest.run_id:
        yield Finding("seal.run", "is not this run", show(seal.run), show(manifest.run_id))
    orders = [_ordered(order, manifest.seed) for order in manifest.orders]
    if not any(all(getattr(seal, key) == order[key] for key in ORDERED) for order in orders):
        for key in ORDERED:
            if getattr(seal, key) != orders[-1][key]:
                yield Finding(f"seal.{key}", "is not that of the run", show(getattr(seal, key)), show(orders[-1][key]))
    link = START.hex() if seal.rows == 0 else None
    try:
        for entry in store.chain():
            if entry.seq == seal.rows:
                link = entry.link.hex()
                break
    except StoreRefused as error:
        yield Finding("seal.head", f"cannot be compared: {error}")
        return
    if link != seal.head:
        yield Finding(
            f"seal.head, row {seal.rows} of the chain,", "is not that of the run", show(seal.head), show(link)
        )


def _ordered(order: Amendment | Manifest, seed: int) -> dict[str, str]:
    """What was ordered at one time, each part by its digest."""
    parts = {"plan": {"seed": seed, "config": order.config}, "policies": order.policies}
    found = {key: hashlib.sha256(canonical(part).encode()).hexdigest() for key, part in parts.items()}
    return {key: text[:DIGITS] for key, text in {**found, "schedule": order.schedule}.items()}


def check_chain(store: Store) -> Iterator[Finding]:
    """Every row that is not as it entered the chain, and every flaw of the chain itself. Where a run has not come to
    rest, calls may be there that are not final."""
    if not store.manifest.chained:
        with suppress(StoreRefused):  # there is none
            if next(store.chain(), None) is not None:
                yield Finding("chain", "is there, and the manifest says that there is none")
        return
    latest: dict[tuple[str, int | str], bytes] = {}
    link, last = START, 0
    for entry in store.chain():
        if entry.seq != last + 1 or entry.previous != link:
            yield Finding("chain", f"is broken at row {entry.seq}", show(entry.previous.hex()), show(link.hex()))
            return
        link, last = entry.link, entry.seq
        before = latest.get((entry.table, entry.row))
        if before is not None and entry.table != "meta":
            yield Finding("chain", f"has {_named(entry.table, entry.row)} twice: it was taken away and made again")
        latest[entry.table, entry.row] = entry.digest
    for table, row, digest in store.chained_rows():
        due = latest.pop((table, row), None)
        if due is None:
            if store.at_rest or table != "calls":
                yield Finding("chain", f"does not hold {_named(table, row)}")
        elif due != digest:
            what = f"holds {_named(table, row)} as something else: it was changed after it was final"
            yield Finding("chain", what, show(digest.hex()), show(due.hex()))
    for table, row in latest:
        yield Finding("chain", f"holds {_named(table, row)}, which is gone")


def _named(table: str, row: object) -> str:
    return f"row {show(row)} of {table}"
