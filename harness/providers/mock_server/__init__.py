"""A model server that costs nothing: OpenAI- and Anthropic-shaped, reproducible, and faulty on demand.

Rehearse a ladder on it, or script any behaviour of a provider and see what a client makes of it. The answers to a
request are a function of the server's seed and of the request, never of time or order; only the fault plan counts.

`Options` sets it up, `MockServer` runs it in an event loop, `MockServerProcess` in a process, `serve` until a signal.
The kinds of rules of a fault plan are in `rules`.
"""

from weigh.harness.providers.mock_server.options import Options, read_options
from weigh.harness.providers.mock_server.process import Addresses, CannotListen, MockServer, MockServerProcess, serve
from weigh.harness.providers.mock_server.rules import Plan, load_plan, read_plan

__all__ = [
    "Addresses",
    "CannotListen",
    "MockServer",
    "MockServerProcess",
    "Options",
    "Plan",
    "load_plan",
    "read_options",
    "read_plan",
    "serve",
]
