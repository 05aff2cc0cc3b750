"""Two policies compared on the same deals, seeds and seats, with the noise of one of them beside it, as one value.

Owns what is told of such a comparison, its one-word answer, its exit code and its JSON form, whose keys are a contract
(`docs/explanation/appendix.md`), and the two-sided comparison of one finished set of block differences. For many looks
there is `harness.gate.sequential`. Knows no runs and no words for people.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from weigh.games.game import Json
from weigh.harness.config.thresholds import MAX_FALLBACK_RATE
from weigh.harness.gate.conduct import played_by_fallback, rates_of
from weigh.harness.gate.differences import block_difference
from weigh.harness.gate.sequential import WIDEST, present
from weigh.harness.gate.spent import Spent
from weigh.harness.stats.clustered import LEAST_ALIKE, cluster_mean, zeroed
from weigh.harness.stats.power import LEVEL, POWER, one_sided_detectable
from weigh.harness.stats.sign_flip import sign_flip
from weigh.policies.contract import Fault

if TYPE_CHECKING:
    from weigh.harness.run.limits import Spending

SCHEMA: Final = 1

MAX_VOID_RATE: Final = 0.1
"""A comparison with a larger share of void blocks is no valid one."""

Answer: TypeAlias = Literal["b_higher", "a_higher", "not_told_apart", "nothing"]
"""The interval of B - A lies above 0, below it, holds it; or there is none."""

Scores: TypeAlias = Mapping[str, tuple[float | None, ...]]
"""The focal policy's scores by block and seat: None for a void episode. Blocks that are not settled are left out."""

Letter: TypeAlias = Literal["A", "B", "A again"]

NOTHING: Final = Spent()


@dataclass(frozen=True, slots=True)
class Comparison:
    """One arm less the other. A number that does not exist is None."""

    n: int
    """Blocks with a difference: what is independent."""
    missing: int
    """Blocks without one."""
    mean: float | None
    """Mean of block differences, each block counting once however many pairs it holds."""
    sd: float | None
    """Of block differences, divided by n - 1; 0 where all agree."""
    interval: tuple[float, float] | None
    """95 % t interval of the mean, clustered by block and cut to [-2, 2]. None for fewer than two blocks, and for fewer
    than five that all agree, which equals do often enough."""
    p: float | None
    """Two-sided sign-flip p-value of "no difference"; exact where differences are symmetric about 0. None for none."""
    mde: float | None
    """Minimum detectable effect: the difference that so many blocks find in four runs of five, two-sided at 5 %."""


def compare(differences: Sequence[float | None]) -> Comparison:
    """What the block differences of two arms say. None or NaN for a block that has none.

    For one look at the end: stopping when `p` is small makes it too small. Raises ValueError for a difference outside
    [-2, 2].
    """
    import numpy as np

    values, missing = present(differences)
    n = len(values)
    mean, half = cluster_mean(values, np.arange(n))
    sd = float(zeroed(values.std(ddof=1))) if n > 1 else None
    known = sd is not None and (sd > 0 or n >= LEAST_ALIKE)
    return Comparison(
        n=n,
        missing=missing,
        mean=mean if n else None,
        sd=sd,
        interval=(max(-WIDEST, mean - half), min(WIDEST, mean + half)) if known else None,
        p=sign_flip(values, "two-sided") if n else None,
        mde=None if sd is None else one_sided_detectable(n, sd, LEVEL / 2, 1 - POWER),
    )


@dataclass(frozen=True, slots=True)
class ArmReport:
    """One arm beside its scores. A number that does not exist is None."""

    letter: Letter
    name: str
    policy: str
    """The policy's digest."""
    model: str | None
    run: str
    """The folder of its run."""
    scores: Scores
    conduct: Mapping[str, float | None]
    """By the names of `harness.gate.conduct`."""
    faults: Mapping[Fault, int]
    """Attempts of the policy that gave no legal move, by kind."""
    decisions: int
    spent: Spent
    """On the blocks that are compared."""
    all_sittings: Spent = NOTHING
    """What its run took in all: blocks that other arms lack, or that another command asked for, included."""

    @property
    def mean(self) -> float | None:
        """Over all its finished episodes in settled blocks."""
        scores = [score for block in self.scores.values() for score in block if score is not None]
        return sum(scores) / len(scores) if scores else None

    def to_json(self) -> dict[str, Any]:
        return {
            "arm": self.letter,
            "name": self.name,
            "policy_digest": self.policy,
            "model": self.model,
            "run": self.run,
            "mean": self.mean,
            "decisions": self.decisions,
            "faults": dict(sorted(self.faults.items())),
            "conduct": dict(self.conduct),
            **self.spent.to_json(),
            "all_sittings": self.all_sittings.to_json(),
        }

    @property
    def by_fallback(self) -> str | None:
        """Why its score is hardly its policy's; None where it is."""
        return played_by_fallback(rates_of(self.conduct), MAX_FALLBACK_RATE)


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """B less A."""

    game: str
    config: Mapping[str, Json]
    seats: int
    seed: int
    field: tuple[str, ...]
    blocks: tuple[str, ...]
    """Keys of all that are to be played, in order."""
    a: ArmReport
    b: ArmReport
    again: ArmReport | None
    """A once more; None where no noise was asked for."""
    stopped: str = ""
    """Why it was not played to its end, in one line; empty when it was."""
    interrupted: bool = False
    used_up: tuple[Spending, int | float] | None = None
    """The limit that ended it: see `Brake.used_up`."""

    @property
    def estimand(self) -> str:
        return (
            f"mean score at {self.game} of {self.b.name} less that of {self.a.name}, in one seat against "
            f"{', '.join(self.field)}, over the same deals, seeds and seats"
        )

    @property
    def differences(self) -> dict[str, float | None]:
        """B - A by block, for the blocks that are settled in both arms; None for a void one."""
        return _differences(self.blocks, self.b, self.a)

    @property
    def noise(self) -> dict[str, float | None] | None:
        """A again - A, likewise; None where it was not asked for."""
        return None if self.again is None else _differences(self.blocks, self.again, self.a)

    @property
    def comparison(self) -> Comparison:
        return compare(list(self.differences.values()))

    @property
    def null(self) -> Comparison | None:
        return None if self.noise is None else compare(list(self.noise.values()))

    @property
    def notes(self) -> tuple[str, ...]:
        """What keeps the difference from telling of the policies, a line each."""
        return tuple(
            f"{arm.letter}: {arm.by_fallback.partition(' (')[0]}, so its score tells of the fallback"
            for arm in self.arms
            if arm.by_fallback is not None
        )

    @property
    def noiseless(self) -> bool:
        """Whether A played alike in every block of both its arms, so far as scores tell."""
        known = [value for value in (self.noise or {}).values() if value is not None]
        return bool(known) and not any(known)

    @property
    def complete(self) -> bool:
        return len(self.differences) == len(self.blocks) and (self.noise is None or len(self.noise) == len(self.blocks))

    @property
    def too_void(self) -> bool:
        """Whether outages took more blocks than MAX_VOID_RATE allows."""
        return self.comparison.missing > MAX_VOID_RATE * len(self.blocks)

    @property
    def answer(self) -> Answer:
        """Which arm is higher by the interval of the difference, or by its signs where all blocks agree."""
        found = self.comparison
        interval = found.interval
        if interval is None or found.mean is None:
            return "nothing"
        if alike(found) and found.mean:
            # Signs are all there is to go by: five equal ones come of chance once in sixteen times.
            if found.p is None or found.p > LEVEL:
                return "nothing"
            return "b_higher" if found.mean > 0 else "a_higher"
        if interval[0] > 0:
            return "b_higher"
        return "a_higher" if interval[1] < 0 else "not_told_apart"

    @property
    def exit_code(self) -> int:
        """130 interrupted; 4 stopped by a limit or a provider, or too void; 3 nothing can be said; else 0."""
        if self.interrupted:
            return 130
        if self.stopped or self.too_void:
            return 4
        return 3 if self.answer == "nothing" else 0

    def to_json(self) -> dict[str, Any]:
        noise = self.noise
        return {
            "schema_version": SCHEMA,
            "game": self.game,
            "config": dict(self.config),
            "seats": self.seats,
            "seed": self.seed,
            "field": list(self.field),
            "estimand": self.estimand,
            "answer": self.answer,
            "exit_code": self.exit_code,
            "stopped": self.stopped or None,
            "blocks_planned": len(self.blocks),
            "blocks_settled": len(self.differences),
            "notes": list(self.notes),
            "difference": _told(self.comparison),
            "null": None if self.null is None else {**_told(self.null), "noiseless": self.noiseless},
            "blocks": [
                {
                    "block": block,
                    "a": list(self.a.scores[block]),
                    "b": list(self.b.scores[block]),
                    "difference": difference,
                    "null_difference": None if noise is None else noise.get(block),
                }
                for block, difference in self.differences.items()
            ],
            "arms": [arm.to_json() for arm in self.arms],
        }

    @property
    def arms(self) -> tuple[ArmReport, ...]:
        return tuple(arm for arm in (self.a, self.b, self.again) if arm is not None)


def alike(found: Comparison) -> bool:
    """Whether all blocks show one and the same difference, more than one of them: then no interval is told."""
    return found.n > 1 and found.sd == 0


def _told(found: Comparison) -> dict[str, Any]:
    """A comparison's JSON form, without the interval of no width that blocks which agree would make."""
    return {**asdict(found), "interval": None} if alike(found) else asdict(found)


def _differences(blocks: tuple[str, ...], one: ArmReport, other: ArmReport) -> dict[str, float | None]:
    def settled() -> Iterator[str]:
        yield from (block for block in blocks if block in one.scores and block in other.scores)

    return {block: block_difference(one.scores[block], other.scores[block]) for block in settled()}
