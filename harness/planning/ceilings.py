"""Whether a run's own ceilings would stop it before its end.

Owns the comparison of [limits] with an estimate, and its words. A ceiling counts all sittings; that in seconds, one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weigh.games.game import Json
from weigh.harness.config.sections import Limits
from weigh.harness.planning.estimates import Estimate, Span, plain
from weigh.harness.stats.clustered import at_most

Verdict: TypeAlias = Literal["stops", "likely", "may", "holds", "unknown"]
"""The least that is needed is above the ceiling; what is expected is; the most is; nothing is; nobody can tell, for a
price is not known."""

_SAID: dict[Verdict, str] = {
    "stops": "will stop the run before its end",
    "likely": "will probably stop the run before its end",
    "may": "may stop the run before its end",
    "unknown": "cannot be kept, for a price is not known",
}


@dataclass(frozen=True, slots=True)
class Ceiling:
    """One ceiling against what is needed."""

    limit: str
    """The key in [limits]."""
    value: float
    spent: float
    """By earlier sittings."""
    needed: Span
    """By what is left."""
    verdict: Verdict

    @property
    def warns(self) -> bool:
        return self.verdict != "holds"

    def line(self) -> str:
        needed = [f"at least {_figure(self.needed.least)}"]
        if self.needed.expected is not None and self.verdict != "stops":
            needed.append(f"about {_figure(self.needed.expected)}")
        if self.verdict == "may":
            needed.append(f"at most {_figure(self.needed.most)}")
        spent = f", {_figure(self.spent)} spent before" if self.spent else ""
        told = f" (needed: {', '.join(needed)}{spent})" if self.verdict != "unknown" else ""
        return f"limits.{self.limit} = {_figure(self.value)} {_SAID[self.verdict]}{told}"

    def to_json(self) -> dict[str, Json]:
        return {
            "limit": self.limit,
            "value": plain(self.value),
            "spent": plain(self.spent),
            "needed": self.needed.to_json(),
            "verdict": self.verdict,
        }


def ceilings(
    limits: Limits, needed: Estimate, least_seconds: float, calls: int = 0, tokens: int = 0, usd: float = 0.0
) -> Iterator[Ceiling]:
    """One for each ceiling that is set. `calls`, `tokens` and `usd` are what earlier sittings spent."""
    if limits.max_calls is not None:
        yield _ceiling("max_calls", limits.max_calls, calls, needed.calls)
    if limits.max_tokens is not None:
        yield _ceiling("max_tokens", limits.max_tokens, tokens, needed.input_tokens + needed.output_tokens)
    if limits.max_usd is not None:
        if needed.unpriced:
            yield Ceiling("max_usd", limits.max_usd, usd, needed.cost, "unknown")
        else:
            yield _ceiling("max_usd", limits.max_usd, usd, needed.cost)
    if limits.max_seconds is not None:
        # The least is all that is known of the time: nothing bounds it from above.
        span = Span(least_seconds, None, least_seconds)
        yield _ceiling("max_seconds", limits.max_seconds, 0.0, span)


def _ceiling(limit: str, value: float, spent: float, needed: Span) -> Ceiling:
    verdict: Verdict = "holds"
    if not at_most(spent + needed.least, value):
        verdict = "stops"
    elif needed.expected is not None and not at_most(spent + needed.expected, value):
        verdict = "likely"
    elif not at_most(spent + needed.most, value):
        verdict = "may"
    return Ceiling(limit, value, spent, needed, verdict)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or float(value).is_integer() else f"{value:.3g}"
