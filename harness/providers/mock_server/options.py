"""How a mock server is set up, as values and as the words of a command line.

Owns the settings, their defaults and their checks, and what `latency` and `faults` say. Starts nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, Json, ValidationError

from weigh.harness.providers.mock_server.rules import (
    Cut,
    Limit,
    Plan,
    Respond,
    Rule,
    checked_by,
    first_mistake,
    parse_seconds,
    parse_span,
)
from weigh.harness.words import did_you_mean
from weigh.policies.contract import FAULTS, Fault

AnswerStyle: TypeAlias = Literal["reason-then-json", "json-only"]
"""Some prose and then JSON, or JSON alone. A request with a schema always gets JSON alone."""

_LAWS = ("uniform", "lognormal")
_STATUS = re.compile(r"[45]\d\d", re.ASCII)
_STANDARD = NormalDist()


def parse_latency(text: str) -> Callable[[float], float]:
    """How long an answer takes: seconds at a quantile in [0, 1), from `200ms`, `uniform:50-400ms` or
    `lognormal:MEDIAN,SIGMA` (`lognormal:300ms,0.5`).

    Raises ValueError with one line.
    """
    try:
        return _latency(text)
    except ValueError as error:
        raise ValueError(f"latency {text!r}: {error}") from None


def _latency(text: str) -> Callable[[float], float]:
    law, colon, rest = (part.strip() for part in text.partition(":"))
    if not colon:
        constant = parse_seconds(text)
        return lambda quantile: constant
    if law == "uniform":
        start, end = parse_span(rest)
        if end is None:
            raise ValueError("write both ends, e.g. uniform:50-400ms")
        return lambda quantile: start + (end - start) * quantile
    if law == "lognormal":
        middle, _, spread = rest.partition(",")
        median, sigma = parse_seconds(middle), _number(spread)
        if median <= 0 or not 0 <= sigma < 10:
            raise ValueError("write a median above 0 and a sigma, e.g. lognormal:300ms,0.5")
        # The ends of the distribution are infinite; a draw of exactly 0 is moved off them.
        return lambda quantile: math.exp(math.log(median) + sigma * _STANDARD.inv_cdf(max(quantile, 2**-53)))
    raise ValueError(f"no distribution is called {law!r}{did_you_mean(law, _LAWS)}")


@dataclass(frozen=True, slots=True)
class Faults:
    """Which share of the requests meets which fault.

    Faults of the reply are drawn from the request alone, so a request always gets the same one. Faults of the transport
    are rules, drawn from the request and how often it was seen, so that sending it again may succeed.
    """

    replies: Mapping[Fault, float]
    rules: tuple[Cut | Respond, ...]

    def reply(self, draw: float) -> Fault | None:
        """The fault that a draw from [0, 1) stands for."""
        for name, share in self.replies.items():
            draw -= share
            if draw < 0:
                return name
        return None


def parse_faults(text: str) -> Faults:
    """Read `NAME=SHARE,...`: names are the faults of a reply, statuses from 400 to 599, and `reset`.

    A 429 or 503 announces `Retry-After: 1`. Raises ValueError with one line.
    """
    shares: dict[str, float] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, _, share = (part.strip() for part in item.partition("="))
        if not (name in FAULTS or name == "reset" or _STATUS.fullmatch(name)):
            known = (*FAULTS, "reset", "429", "500", "503")
            raise ValueError(f"faults {text!r}: no fault is called {name!r}{did_you_mean(name, known)}")
        if name in shares:
            raise ValueError(f"faults {text!r}: {name!r} is there twice")
        shares[name] = _number(share)
        if not 0 <= shares[name] <= 1:
            raise ValueError(f"faults {text!r}: {item!r} needs a share from 0 to 1, e.g. {name}=0.1")
    replies = {name: shares.pop(name) for name in FAULTS if name in shares}
    for group in (replies.values(), shares.values()):
        if sum(group) > 1 + 1e-9:
            raise ValueError(f"faults {text!r}: the shares add up to more than 1")
    return Faults(replies, tuple(_transport_faults(shares)))


def _transport_faults(shares: Mapping[str, float]) -> Iterator[Cut | Respond]:
    """Rules are asked in turn, so each share is taken of what the rules before it leave."""
    left = 1.0
    for name, share in shares.items():
        of_the_rest = min(1.0, share / left) if left > 0 else 0.0
        left -= share
        if name == "reset":
            yield Cut(name=name, share=of_the_rest, after=None)
        else:
            retry_after = "1s" if name in ("429", "503") else None
            yield Respond(name=name, share=of_the_rest, status=int(name), retry_after=retry_after)


def _number(text: str) -> float:
    """A number as written; nan, which no bound admits, for anything else."""
    try:
        return float(text)
    except ValueError:
        return math.nan


class Options(BaseModel):
    """The settings of one server. Raises pydantic's ValidationError, which is a ValueError, when one of them is wrong.

    `model_dump_json(round_trip=True)` and `model_validate_json` take them to another process and back.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = "127.0.0.1"
    """The address to listen on. Another one makes the server reachable from outside this machine."""
    port: int = Field(default=0, ge=0, le=65_535)
    """0 takes a free port."""
    seed: int = 0
    """Of every draw. Answers are a function of it and of the request."""
    models: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=("mock-small", "mock-large", "mock-first", "mock-last"), min_length=1
    )
    """What `GET /v1/models` lists. Names ending in `-first` and `-last` play the first and the last legal move."""
    only_listed: bool = False
    """Whether other models are answered with 404; otherwise any name is served."""
    latency: Annotated[str, checked_by(parse_latency)] = "0"
    """`200ms`, `uniform:50-400ms` or `lognormal:MEDIAN,SIGMA`."""
    faults: Annotated[str, checked_by(parse_faults)] = ""
    """Shares of faults: `illegal=0.1,empty=0.02,429=0.05`."""
    plan: Plan = Plan()
    """Scripted faults, asked before `faults`."""
    requests_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """A rate limit for all models together, answered with 429 above it; asked before `plan`."""
    answer_style: AnswerStyle = "reason-then-json"
    notes_share: float = Field(default=0.25, ge=0, le=1)
    """Share of the free answers that carry private notes."""
    constant: Json[dict[str, Any]] = Field(default_factory=lambda: {"move": 0})
    """The answer, JSON text of an object, to a request that has neither a schema nor an example of an answer."""
    log_size: int = Field(default=0, ge=0)
    """How many of the last requests `GET /log` shows, with their bodies and without their headers."""

    def all_rules(self, plan: Plan) -> tuple[Rule, ...]:
        """What is asked when `plan` is followed: the rate limit, the plan, the faults of the transport."""
        limits = (
            ()
            if self.requests_per_minute is None
            else (Limit(name="requests-per-minute", requests_per_minute=self.requests_per_minute),)
        )
        return (*limits, *plan.rules, *parse_faults(self.faults).rules)


def read_options(settings: Mapping[str, Any]) -> Options:
    """Settings by name; those left out keep their defaults. Raises ValueError with one line."""
    try:
        return Options.model_validate(settings)
    except ValidationError as error:
        raise ValueError(first_mistake(error, Options)) from error
