"""How a mock server is set up, as values and as the words of a command line.

Owns the settings, their defaults and their checks: a wrong word raises ValueError with one clear line. Starts nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, get_args

from weigh.harness.providers.mock_server.actions import Limit
from weigh.harness.providers.mock_server.answers import AnswerStyle, Manner
from weigh.harness.providers.mock_server.faults import Faults, parse_faults
from weigh.harness.providers.mock_server.latency import Latency, parse_latency
from weigh.harness.providers.mock_server.plan import Plan, Rule
from weigh.harness.providers.mock_server.plan_file import plan_document, read_plan
from weigh.harness.words import did_you_mean


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of one server. Raises ValueError when one of them is wrong."""

    host: str = "127.0.0.1"
    """The address to listen on. Another one makes the server reachable from outside this machine."""
    port: int = 0
    """0 takes a free port."""
    seed: int = 0
    """Of every draw. Answers are a function of it and of the request."""
    models: tuple[str, ...] = ("mock-small", "mock-large", "mock-first", "mock-last")
    """What `GET /v1/models` lists. Names ending in `-first` and `-last` play the first and the last legal move."""
    only_listed: bool = False
    """Whether other models are answered with 404; otherwise any name is served."""
    latency: str = "0"
    """`200ms`, `uniform:50-400ms` or `lognormal:MEDIAN,SIGMA`."""
    faults: str = ""
    """Shares of faults: `illegal=0.1,empty=0.02,429=0.05`."""
    plan: Plan = field(default_factory=Plan)
    """Scripted faults, asked before `faults`."""
    requests_per_minute: float | None = None
    """A ceiling for all models together, answered with 429 above it; asked before `plan`."""
    answer_style: AnswerStyle = "reason-then-json"
    notes_share: float = 0.25
    """Share of the free answers that carry private notes."""
    constant: str = '{"move": 0}'
    """The answer, a JSON object, to a request that has neither a schema nor an example of an answer."""
    log_size: int = 0
    """How many of the last requests `GET /log` shows, with their bodies and without their headers."""

    parsed_latency: Latency = field(init=False, repr=False, compare=False)
    parsed_faults: Faults = field(init=False, repr=False, compare=False)
    manner: Manner = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65_535:
            raise ValueError(f"port {self.port} is not between 0 and 65535")
        if not 0 <= self.notes_share <= 1:
            raise ValueError(f"notes share {self.notes_share} is not between 0 and 1")
        if self.log_size < 0:
            raise ValueError(f"log size {self.log_size} is negative")
        if self.requests_per_minute is not None and not 0 < self.requests_per_minute < float("inf"):
            raise ValueError(f"requests per minute must be above 0, not {self.requests_per_minute}")
        if not self.models or not all(self.models):
            raise ValueError("name at least one model, and none with an empty name")
        styles = get_args(AnswerStyle)
        if self.answer_style not in styles:
            raise ValueError(
                f"no answer style is called {self.answer_style!r}{did_you_mean(self.answer_style, styles)}"
            )
        manner = Manner(self.answer_style, self.notes_share, _object(self.constant))
        object.__setattr__(self, "parsed_latency", parse_latency(self.latency))
        object.__setattr__(self, "parsed_faults", parse_faults(self.faults))
        object.__setattr__(self, "manner", manner)

    def ceiling_rules(self) -> tuple[Rule, ...]:
        """The rule that `requests_per_minute` stands for."""
        if self.requests_per_minute is None:
            return ()
        return (Rule(name="requests-per-minute", action=Limit(requests_per_minute=self.requests_per_minute)),)

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON; `from_json` reads them back."""
        written = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        return {**written, "models": list(self.models), "plan": plan_document(self.plan)}

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Options:
        """Settings from JSON; those left out keep their defaults. Raises ValueError."""
        known = {f.name for f in fields(cls) if f.init}
        for name in written:
            if name not in known:
                raise ValueError(f"unknown setting {name!r}{did_you_mean(name, known)}")
        values = dict(written)
        if "models" in values:
            values["models"] = tuple(values["models"])
        if "plan" in values:
            values["plan"] = read_plan(values["plan"])
        try:
            return cls(**values)
        except TypeError as error:
            raise ValueError(f"a setting has the wrong type: {error}") from error


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ValueError(f"the constant answer must be a JSON object, not {text!r}")
    return value
