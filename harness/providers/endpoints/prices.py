"""What a call cost, in US dollars.

Owns the choice of the price: the endpoint's own, nothing for models on one's own machine, else the list that ships with
`genai-prices` (its data as installed; it is never updated over the network here). What is not known is None, never 0:
a sum with an unknown part must be seen to have one.
"""

from __future__ import annotations

from datetime import datetime

from weigh.harness.providers.endpoints.endpoints import Endpoint, Price, at_home
from weigh.harness.providers.endpoints.known import FREE, KNOWN
from weigh.policies.contract import Usage

ORDINARY = frozenset(("", "auto", "default", "on_demand", "standard"))
"""Words for the service tier that prices are listed for."""
TIERS = {("openai", "flex"): 0.5, ("openai", "batch"): 0.5, ("anthropic", "batch"): 0.5, ("groq", "flex"): 1.0}
"""What other tiers cost for each dollar of it, where that is the same for all models."""

_SCALE = 1_000_000


def cost_of(endpoint: Endpoint, usage: Usage, served_by: str | None = None, at: datetime | None = None) -> float | None:
    """US dollars for one answer; None when the usage was not reported in full or the price is not known.

    What the provider itself states goes before any price. `served_by` is the model the provider says it used: charged
    where the name asked for has no price of its own, as for a router's `auto`. `at` is the moment of the call, since
    prices change; None is now. Input that a provider reports without a word on caching is charged in full.
    """
    if usage.cost is not None:
        return usage.cost
    if endpoint.price is None and endpoint.provider in FREE:
        return 0.0
    factor = _factor(endpoint, usage.tier)
    if usage.input is None or usage.output is None or factor is None:
        return None
    if endpoint.price is not None:
        return factor * _at_own_price(endpoint.price, usage, usage.input, usage.output)
    if not at_home(endpoint):
        return None
    for model in (endpoint.model, served_by):
        if model:
            cost = _listed(endpoint.provider, model, usage, at)
            if cost is not None:
                return factor * cost
    return None


def _factor(endpoint: Endpoint, tier: str | None) -> float | None:
    """What a service tier costs for each dollar of the ordinary one; None where nobody knows."""
    word = (tier or "").lower()
    given = endpoint.price.tiers if endpoint.price is not None else {}
    return given.get(word, 1.0 if word in ORDINARY else TIERS.get((endpoint.provider, word)))


def price_known(endpoint: Endpoint) -> bool:
    """Whether calls to the endpoint can be charged for. A ceiling in dollars is worth nothing where this is False."""
    return cost_of(endpoint, Usage(input=1, output=1)) is not None


def _at_own_price(price: Price, usage: Usage, read: int, written: int) -> float:
    cached = min(usage.cached or 0, read)
    stored = min(usage.cache_written or 0, read - cached)
    fresh = read - cached - stored
    per_cached = price.input if price.cached is None else price.cached
    per_stored = price.input if price.cache_written is None else price.cache_written
    return (fresh * price.input + cached * per_cached + stored * per_stored + written * price.output) / _SCALE


def _listed(provider: str, model: str, usage: Usage, at: datetime | None) -> float | None:
    import genai_prices  # takes a tenth of a second, so not before a price is wanted

    given = {"input_tokens": usage.input, "output_tokens": usage.output}
    if usage.cached:
        given["cache_read_tokens"] = usage.cached
    if usage.cache_written:
        given["cache_write_tokens"] = usage.cache_written
    try:
        counts = genai_prices.Usage(**given)
        found = genai_prices.calc_price(
            counts, model_ref=model, provider_id=KNOWN[provider].prices, genai_request_timestamp=at
        )
    except (LookupError, ValueError):  # no such model; or counts that contradict each other
        return None
    return float(found.total_price)
