"""A model server that costs nothing: OpenAI- and Anthropic-shaped, reproducible, and faulty on demand.

Rehearse a ladder on it, or script any behaviour of a provider and see what a client makes of it. The answers to a
request are a function of the server's seed and of the request, never of time or order; only the fault plan counts.

`Options` sets it up, `MockServer` runs it in an event loop, `MockServerProcess` in a process, `serve` until a signal.
"""

from weigh.harness.providers.mock_server.actions import (
    Cut,
    Drip,
    ErrorIn200,
    GzipCut,
    Hang,
    Html,
    Limit,
    Malformed,
    NullChoices,
    Reply,
    Respond,
)
from weigh.harness.providers.mock_server.child import MockServerProcess
from weigh.harness.providers.mock_server.faults import parse_faults
from weigh.harness.providers.mock_server.latency import parse_latency
from weigh.harness.providers.mock_server.options import Options
from weigh.harness.providers.mock_server.plan import Plan, Rule
from weigh.harness.providers.mock_server.plan_file import load_plan, read_plan
from weigh.harness.providers.mock_server.running import Addresses, CannotListen, MockServer, serve

__all__ = [
    "Addresses",
    "CannotListen",
    "Cut",
    "Drip",
    "ErrorIn200",
    "GzipCut",
    "Hang",
    "Html",
    "Limit",
    "Malformed",
    "MockServer",
    "MockServerProcess",
    "NullChoices",
    "Options",
    "Plan",
    "Reply",
    "Respond",
    "Rule",
    "load_plan",
    "parse_faults",
    "parse_latency",
    "read_plan",
    "serve",
]
