"""The answer of an experiment on claims, as one JSON document.

Owns its keys, and which episodes go into which number. Reads a run; plays nothing and asks nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from weigh.harness.audit.claims.arms import ALTERATIONS, MEANINGS, SEATINGS, Alteration, ClaimsPlan, Direction, Place
from weigh.harness.audit.claims.contrasts import Contrast, contrast, judged
from weigh.harness.audit.claims.ledger import LEAST, NOT_CAUSAL, Ledger, claims_ledger, rates, signalling, wins_by_lies
from weigh.harness.audit.claims.listening import Listening, Wants
from weigh.harness.stats.power import LEVEL
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store

SCHEMA = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of the players beyond the records, by direction; None where it was not."""

    listening: Listening | None = None
    wants: Wants | None = None


def records_of(
    store: Store, plan: ClaimsPlan, arm: Alteration | None, direction: Direction
) -> Iterator[tuple[Record, str]]:
    """The finished records of one arm, in the order of the plan, each with what its streams are drawn for."""
    keys = {episode.key: episode.deal_key for episode in plan.episodes()}
    for place in plan.places():
        if place.alteration == arm and (arm is None or place.direction == direction):
            record = store.record(place.key)
            if record is not None:
                yield record, keys[place.key]


def contrasts_of(store: Store, plan: ClaimsPlan, margin: float) -> tuple[Contrast, ...]:
    """Every arm of every direction against the normal one, judged together."""
    scores = {row.key: row.scores for row in store.episodes()}
    found = []
    for direction in plan.directions:
        normal = _by_pair(plan, direction, None, scores)
        for alteration in ALTERATIONS:
            altered = _by_pair(plan, direction, alteration, scores)
            both = sorted(normal.keys() & altered.keys())
            one, other = [normal[pair] for pair in both], [altered[pair] for pair in both]
            found.append(contrast(direction, alteration, one, other, margin))
    return judged(found, margin)


def _by_pair(
    plan: ClaimsPlan, direction: Direction, arm: Alteration | None, scores: Mapping[str, Sequence[float | None]]
) -> dict[int, float]:
    """The claimer's mean score over both seatings, of every pair whose two episodes are finished."""
    means: dict[int, float] = {}
    owner = plan.directions[0] if arm is None else direction
    for pair in range(plan.pairs):
        both = []
        for seating in SEATINGS:
            seats = scores.get(Place(pair, seating, arm, owner).key, ())
            score = seats[plan.claimer_seat(direction, seating)] if seats else None
            if score is not None:
                both.append(score)
        if len(both) == len(SEATINGS):
            means[pair] = sum(both) / len(both)
    return means


def report(store: Store, plan: ClaimsPlan, margin: float, asked: Mapping[Direction, Asked]) -> dict[str, Any]:
    """Everything that was found out, `null` where nothing was observed."""
    contrasts = contrasts_of(store, plan, margin)
    finished = frozenset(store.finished())
    planned = [place.key for place in plan.places()]
    return {
        "schema_version": SCHEMA,
        "experiment": "ballast-claims",
        "run_id": store.manifest.run_id,
        "seed": store.manifest.seed,
        "blocks": plan.pairs,
        "margin": margin,
        "alpha": LEVEL,
        "episodes": {"planned": len(planned), "finished": sum(key in finished for key in planned)},
        "arms": {"normal": "claims are made and shown as they are", **MEANINGS},
        "directions": [
            _direction(store, plan, direction, [each for each in contrasts if each.direction == direction], asked)
            for direction in plan.directions
        ],
    }


def _direction(
    store: Store,
    plan: ClaimsPlan,
    direction: Direction,
    contrasts: Sequence[Contrast],
    asked: Mapping[Direction, Asked],
) -> dict[str, Any]:
    normal = [record for record, _ in records_of(store, plan, None, direction)]
    ledger = claims_ledger(normal, direction.claimer, direction.listener)
    more = asked.get(direction, Asked())
    return {
        "claimer": direction.claimer,
        "listener": direction.listener,
        "contrasts": [_contrast(each) for each in contrasts],
        "fallback_rates": {
            arm or "normal": _fallbacks(record for record, _ in records_of(store, plan, arm, direction))
            for arm in (None, *ALTERATIONS)
        },
        "claims": rates(ledger),
        "signalling": _signalling(ledger),
        "listening": None if more.listening is None else asdict(more.listening),
        "forced": None if more.wants is None else _forced(more.wants),
        "wins_by_lies": {"caption": NOT_CAUSAL, "rows": wins_by_lies(ledger)},
    }


def _contrast(found: Contrast) -> dict[str, Any]:
    values = asdict(found)
    del values["direction"]
    return {"contrast": f"normal - {found.arm}", **values, "interval": _listed(found.interval)}


def _listed(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else list(interval)


def _fallbacks(records: Iterator[Record]) -> float | None:
    """Share of decisions, of both players, that the fallback made: it is not altered, and hears what was announced."""
    made = decided = 0
    for record in records:
        made += sum(record.fallbacks)
        decided += len(record.decisions)
    return made / decided if decided else None


def _signalling(ledger: Ledger) -> dict[str, Any]:
    claims = ledger.claims
    found = signalling(
        [claim.true for claim in claims], [claim.announced for claim in claims], [claim.episode for claim in claims]
    )
    few = f"{found.claims} claims are too few: at least {LEAST} are needed" if found.plain is None else None
    return {**asdict(found), "why_not": few}


def _forced(found: Wants) -> dict[str, Any]:
    rate = found.lies / found.placements if found.placements else None
    return {"placements": found.placements, "wanted_lies": found.lies, "wanted_lie_rate": rate}


def settled(document: Mapping[str, Any]) -> bool:
    """Whether every contrast of a report has an answer."""
    return all(
        each["verdict"] != "not_enough_evidence"
        for direction in document["directions"]
        for each in direction["contrasts"]
    )
