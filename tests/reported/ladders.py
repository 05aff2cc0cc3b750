"""One small ladder of a model at the mock server against a scripted policy, for cases that need the whole way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.cli.runner import Said, weigh
from weigh.harness.providers.mock_server import MockServerProcess, read_plan
from weigh.harness.store.store import Store

ORDER = """\
name = "small"
seed = 3
baselines = false
[games.oshi_zumo]
coins = 4
blocks = 1
[entrants]
plain = "match"
asked = {{ prompt = "oshi_zumo/plain.md", model = "mock:m"{sampling} }}
[models.mock]
base_url = "{url}"
[limits]
decision_timeout = 8.0
replays = 0
episodes_in_flight = 1
{limits}
"""
"""Two episodes; a model that plays on makes eight calls."""


def play(
    folder: Path,
    server: MockServerProcess,
    *rules: Mapping[str, Any],
    sampling: str = "",
    limits: str = "",
) -> Said:
    """Play the ladder in `folder` while the server follows the rules, from its first request on."""
    server.follow(read_plan({"rules": list(rules)}))
    server.reset()
    order = folder / "small.toml"
    order.write_text(ORDER.format(url=server.openai_url, sampling=sampling, limits=limits), encoding="utf-8")
    return weigh("ladder", order)


def kept(folder: Path) -> Store:
    """The run that `play` made."""
    return Store.open(folder / "results" / "small", readonly=True)
