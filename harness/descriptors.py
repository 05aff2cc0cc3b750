"""How many connections to models this process may have open at once.

Owns the arithmetic on the limit on open files, which a shell may have set low: every connection takes one. Beyond the
limit a connection fails as if the provider were down, so calls at once are held below it from the start. Opens nothing.
"""

from __future__ import annotations

import resource
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from harness.providers.endpoints import Endpoint

RESERVED: Final = 48
"""Files for everything else: the run's database and its logs, the terminal, the event loop, certificates."""


def fitted(endpoints: Mapping[str, Endpoint], calls: int | None = None) -> dict[str, Endpoint]:
    """`endpoints` with no more calls at once, all together, than there is room for; each model gets an even share.

    `calls` is the most that the run makes at once, where it is known. The process's own limit is raised first, as far
    as it may be.
    """
    wanted = sum(endpoint.concurrency for endpoint in endpoints.values())
    room = _room(wanted if calls is None else min(wanted, calls))
    if room is None:
        return dict(endpoints)
    share = max(1, room // max(1, len(endpoints)))
    return {
        model: replace(endpoint, concurrency=min(endpoint.concurrency, share)) for model, endpoint in endpoints.items()
    }


def shortage(endpoints: Mapping[str, Endpoint], calls: int | None = None) -> str | None:
    """One line when `fitted` takes something away: what, and how to get it back. None when all fits."""
    held = fitted(endpoints, calls)
    fewer = [model for model, endpoint in endpoints.items() if held[model].concurrency < endpoint.concurrency]
    if not fewer:
        return None
    most = max(held[model].concurrency for model in fewer)
    return (
        f"this process may open few files (ulimit -n), so at most {most} calls at once go to each of "
        f"{', '.join(fewer)}: raise the limit, as with `ulimit -n 4096`"
    )


def _room(connections: int) -> int | None:
    """How many of so many connections can be open at once; None when all can."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections + RESERVED
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return None
    raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        soft = raised
    except (ValueError, OSError):  # some systems allow less than they say
        pass
    return None if soft >= needed else max(1, soft - RESERVED)
