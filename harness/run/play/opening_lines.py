"""What a ladder says before its first episode: versions, models and where they are asked, and how balanced it is.

Owns these lines, and the refusal of a spending limit that nobody could keep.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from weigh.harness.config.balance import describe
from weigh.harness.config.schedule import follows_design
from weigh.harness.errors import Refused
from weigh.harness.run.concurrency import shortage
from weigh.harness.run.opening import calls_at_once

if TYPE_CHECKING:
    from weigh.harness.config.config import LadderConfig
    from weigh.harness.config.schedule import Episode
    from weigh.harness.providers.endpoints.endpoints import Endpoint


def opening_lines(order: LadderConfig, versions: Mapping[str, str], episodes: Sequence[Episode]) -> Iterator[str]:
    """One line each; no key, password or header is in them. `episodes` are all that the run plans."""
    yield ", ".join(f"{name} {number}" for name, number in versions.items())
    for model, endpoint in order.endpoints.items():
        yield f"{model}: {_where(endpoint)}"
    yield from unsent(order)
    short = shortage(order.endpoints, calls_at_once(order))
    if short is not None:
        yield short
    for entry in order.games:
        name = entry.game.name
        played = [episode for episode in episodes if episode.game == name]
        field = [spec.name for spec in order.playing(name)]
        yield from describe(played, field, follows_design(played, field, order.seed, entry.rows)).lines()


def unsent(order: LadderConfig) -> Iterator[str]:
    """What entrants are ordered with and their models are known not to take, one line each."""
    from weigh.harness.providers.wire.capabilities import declared

    for spec in order.entrants:
        if spec.model is None:
            continue
        takes = declared(order.endpoints[spec.model])
        asked = {
            "temperature": (spec.sampling.temperature, takes.temperature),
            "seed": (spec.sampling.seed, takes.seed),
        }
        for key, (value, taken) in asked.items():
            if value is not None and not taken:
                yield f"{spec.name}: {spec.model} takes no {key}, so {value} is not sent"


def _where(endpoint: Endpoint) -> str:
    from weigh.harness.providers.endpoints.endpoints import proxy_for
    from weigh.harness.providers.endpoints.prices import price_known

    if endpoint.wire == "local":
        return "an embedded model, started on this machine"
    parts = [f"asked at {endpoint.base_url}"]
    proxy = proxy_for(endpoint, os.environ)
    if proxy is not None:
        parts.append(f"through the proxy {proxy} (NO_PROXY leaves hosts out of it)")
    if not price_known(endpoint):
        parts.append("its price is not known, so its cost will not be either")
    return ", ".join(parts)


def require_prices(order: LadderConfig) -> None:
    """Refuse a limit in dollars where some model's calls cannot be charged for: it could never be reached."""
    if order.limits.max_usd is not None:
        require_known_prices(order.endpoints, "limits.max_usd")


def require_known_prices(endpoints: Mapping[str, Endpoint], limit: str) -> None:
    """The same of models under a limit that is named `limit`."""
    from weigh.harness.providers.endpoints.prices import price_known

    unknown = [model for model, endpoint in endpoints.items() if not price_known(endpoint)]
    if unknown:
        raise Refused(
            f"{limit} cannot be kept: the cost of {', '.join(unknown)} is not known; give a price (dollars per "
            f'million tokens), as [models."{unknown[0]}"] price = {{ input = 1.0, output = 4.0 }}, or drop '
            f"{limit.rpartition('.')[2]}",
            kind="price-unknown",
        )
