"""What a run's manifest says of the experiment it was ordered as.

Owns the key `alteration` of a manifest's policies. Reads nothing but the manifest.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.experiments.arms import ALTERATIONS, Alteration, Altered
from harness.kinds_of_run import kind_of
from harness.manifest import Manifest
from harness.record import Record
from policies.contract import Policy


def is_experiment(manifest: Manifest) -> bool:
    """Whether the arms of an experiment were played, whose randomness is drawn for the deal key."""
    return kind_of(manifest) == "experiment"


def alterations_of(manifest: Manifest, record: Record) -> dict[int, Alteration]:
    """The alteration of each seat of a record that has one."""
    found: dict[int, Alteration] = {}
    for seat, entrant in enumerate(record.entrants):
        said = manifest.policies.get(f"{record.game}/{entrant}", {}).get("alteration")
        for alteration in ALTERATIONS:
            if alteration == said:
                found[seat] = alteration
    return found


def with_alterations(manifest: Manifest, game: str, policies: Mapping[str, Policy]) -> Manifest:
    """The manifest with what was put around which policy."""
    told = dict(manifest.policies)
    for name, policy in policies.items():
        if isinstance(policy, Altered):
            of = {"alteration": policy.alteration, "of": policy.policy.digest}
            told[f"{game}/{name}"] = {**told[f"{game}/{name}"], **of}
    return manifest.model_copy(update={"policies": told})
