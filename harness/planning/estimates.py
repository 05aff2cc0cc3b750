"""Calls, tokens and dollars of a schedule, from what one seat-episode takes.

Owns the three figures of everything: the least, what is expected, and the most, and what each assumes. Knows neither
where measures come from nor how they are shown. What is not known is None, never 0.

    least     the fewest decisions that the rules allow, one attempt at each, the shortest legal answers, no notes
    expected  games as long as was measured, else as the pilots are in the mean; the share of second attempts, and the
              tokens of an answer, that were measured or given
    most      the most decisions that the rules allow, two attempts at each, every answer at its cap, prompts with full
              notes and the longest hints

No episode that ends by itself has fewer calls than the least or more than the most, HTTP retries aside.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from weigh.games.game import Json
from weigh.harness.planning.pilots import Length, Sizes
from weigh.harness.providers.endpoints.endpoints import Endpoint
from weigh.harness.providers.endpoints.prices import cost_of
from weigh.policies.contract import Usage
from weigh.policies.reply import NOTES_LIMIT

CHARACTERS_PER_TOKEN = 4.0
"""Where nothing was measured: what `harness.run.concurrency` counts with too."""


@dataclass(frozen=True, slots=True)
class Span:
    """One figure from below, as expected, from above."""

    least: float = 0.0
    expected: float | None = 0.0
    most: float = 0.0

    def __add__(self, other: Span) -> Span:
        known = self.expected is not None and other.expected is not None
        expected = (self.expected or 0.0) + (other.expected or 0.0) if known else None
        return Span(self.least + other.least, expected, self.most + other.most)

    def __mul__(self, factor: float) -> Span:
        return Span(self.least * factor, None if self.expected is None else self.expected * factor, self.most * factor)

    def to_json(self) -> dict[str, Json]:
        return {"least": plain(self.least), "expected": plain(self.expected), "most": plain(self.most)}


def plain(value: float | None) -> Json:
    """A whole number as one, any other rounded to what an estimate can bear."""
    if value is None:
        return None
    return int(value) if float(value).is_integer() else round(value, 6)


@dataclass(frozen=True, slots=True)
class Rates:
    """What one model call of an entrant takes, next to its prompt, and where each number is from: the kind of place
    that measured it (see `harness.planning.past`), `given` on the command line, or None for an assumption."""

    decisions: float | None = None
    """Of a seat-episode; None: as in the pilots."""
    decisions_from: str | None = None
    characters_per_token: float = CHARACTERS_PER_TOKEN
    characters_per_token_from: str | None = None
    output_tokens: float | None = None
    """Expected of an answer, reasoning included; None: not known."""
    output_tokens_from: str | None = None
    retry_share: float = 0.0
    """Second attempts for each first one."""
    retry_share_from: str | None = None
    latency_seconds: float = 0.0
    """Of one call."""
    latency_from: str | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a number of seat-episodes take. Every field can be added up."""

    episodes: float = 0
    """Seat-episodes."""
    decisions: float = 0.0
    """Expected, of models."""
    calls: Span = Span()
    input_tokens: Span = Span()
    output_tokens: Span = Span()
    cost: Span = Span()
    """US dollars of the models with a price."""
    unpriced: tuple[str, ...] = ()
    """Models without one: with any of them the cost is a lower bound only of what is known, and shown as unknown."""
    at_cap: float = 0.0
    """The tokens that limits per minute count for the expected calls: prompt and output cap."""
    per_output_token: float = 0.0
    """US dollars more for each output token that an expected call's answer is longer."""
    at_none: float = 0.0
    """US dollars of the expected calls' prompts alone."""

    def __add__(self, other: Estimate) -> Estimate:
        sums = {each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)}
        return Estimate(**(sums | {"unpriced": tuple(dict.fromkeys((*self.unpriced, *other.unpriced)))}))

    def __mul__(self, factor: float) -> Estimate:
        """The same for `factor` times as many episodes."""
        scaled = {each.name: getattr(self, each.name) * factor for each in fields(self) if each.name != "unpriced"}
        return Estimate(unpriced=self.unpriced, **scaled)

    def cost_at(self, output: float) -> float:
        """US dollars when the expected calls' answers take `output` tokens each."""
        return self.at_none + self.per_output_token * output

    def to_json(self) -> dict[str, Json]:
        return {
            "seat_episodes": plain(self.episodes),
            "decisions": plain(self.decisions),
            "calls": self.calls.to_json(),
            "input_tokens": self.input_tokens.to_json(),
            "output_tokens": self.output_tokens.to_json(),
            "cost_usd": None if self.unpriced else self.cost.to_json(),
            "cost_known_usd": self.cost.to_json(),
            "unpriced_models": list(self.unpriced),
        }


def total(estimates: Iterable[Estimate]) -> Estimate:
    return sum(estimates, Estimate())


def estimate(
    length: Length, sizes: Sizes, rates: Rates, endpoint: Endpoint, episodes: int, cap: int, notes: bool
) -> Estimate:
    """What `episodes` seat-episodes of one entrant take. `cap`: its `max_tokens`; `notes`: whether it may keep any."""
    first = episodes * (length.expected if rates.decisions is None else rates.decisions)
    fewest, most = episodes * length.fewest, episodes * length.most
    second = first * rates.retry_share
    ratio = rates.characters_per_token
    room = NOTES_LIMIT if notes else 0
    output = None if rates.output_tokens is None else min(rates.output_tokens, cap)
    shortest = min(cap, math.ceil(sizes.answer_characters / ratio))
    asked = first * sizes.characters + second * sizes.retry_characters
    calls = Span(fewest, first + second, 2 * most)
    read = Span(
        fewest * sizes.characters / ratio,
        asked / ratio,
        most * (sizes.characters + sizes.retry_characters + 2 * room) / ratio,
    )
    wrote = Span(fewest * shortest, None if output is None else (first + second) * output, 2 * most * cap)
    expected_calls, expected_read = first + second, asked / ratio
    costs = (
        dollars(endpoint, calls.least, read.least, wrote.least),
        dollars(endpoint, expected_calls, expected_read, wrote.expected or 0.0),
        dollars(endpoint, calls.most, read.most, wrote.most),
        dollars(endpoint, expected_calls, expected_read, 0.0),
        dollars(endpoint, expected_calls, expected_read, expected_calls * (output or cap / 2)),
    )
    found = Estimate(
        episodes=episodes,
        decisions=first,
        calls=calls,
        input_tokens=read,
        output_tokens=wrote,
        at_cap=asked / CHARACTERS_PER_TOKEN + expected_calls * cap,
    )
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return replace(found, unpriced=(endpoint.name,))
    least, expected, dearest, prompts, longer = known
    free = longer == prompts  # then the length of answers does not matter
    return replace(
        found,
        cost=Span(least, expected if wrote.expected is not None or free else None, dearest),
        per_output_token=(longer - prompts) / (output or cap / 2),
        at_none=prompts,
    )


def dollars(endpoint: Endpoint, calls: float, read: float, wrote: float) -> float | None:
    """US dollars for `calls` alike calls that read and write so many tokens in all, nothing cached; None: no price.

    Priced at the mean size of a call, since some price lists have steps; each part is then scaled to its exact mean.
    """
    if not calls:
        return 0.0 if cost_of(endpoint, Usage(input=1, output=1)) is not None else None
    mean_read, mean_wrote = read / calls, wrote / calls
    size, reply = max(1, round(mean_read)), max(1, round(mean_wrote))
    prompt = cost_of(endpoint, Usage(input=size, output=0))
    both = cost_of(endpoint, Usage(input=size, output=reply))
    if prompt is None or both is None:
        return None
    return calls * (prompt * mean_read / size + (both - prompt) * mean_wrote / reply)
