"""What a model takes in a request: declared where it is known, learned from the first refusal where it is not.

Owns the table of models, and the reading of an "unsupported parameter" error. What was learned is kept by the client
for as long as it is open, and reported: a request may lose a parameter that the model does not have, never silently.
Structured output is not among what may be dropped: without it, another answer style would be measured than was ordered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from weigh.harness.providers.endpoints.endpoints import Endpoint
from weigh.harness.providers.endpoints.settings import CapField
from weigh.harness.providers.errors.reading import ProviderError

NO_TEMPERATURE = "the temperature asked for is not sent: the model takes none and keeps its default"
NO_SEED = "the sampling seed asked for is not sent: the endpoint takes none"

Field: TypeAlias = Literal["cap_field", "temperature", "seed", "system", "tuples"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What may stand in a request's body."""

    cap_field: CapField = "max_tokens"
    """Chat Completions only; the other wire shapes have one name for it."""
    temperature: bool = True
    seed: bool = True
    system: bool = True
    """False folds the system text into the first user turn."""
    tuples: bool = True
    """The OpenAI APIs only: whether a schema may say what stands at each place of a list (`prefixItems`). Where not,
    `harness.providers.wire.body` writes it in a weaker way."""


@dataclass(frozen=True, slots=True)
class Learned:
    """One thing a model turned out not to take."""

    field: Field
    value: CapField | bool
    note: str
    """For people: what is done from now on."""

    def applied(self, to: Capabilities) -> Capabilities:
        change: dict[str, Any] = {self.field: self.value}
        return replace(to, **change)


# By provider and the beginning of the model's name; the first row that fits decides. OpenAI takes max_completion_tokens
# for every chat model it serves, and its reasoning models take no temperature; behind OpenRouter, OpenAI's models keep
# that habit and the router drops what does not fit.
_TABLE = (
    (
        "openai",
        r"(o\d|gpt-[5-9]|gpt-\d\d|codex)(?!.*-chat)",
        Capabilities("max_completion_tokens", temperature=False, tuples=False),
    ),
    ("openai", r"", Capabilities("max_completion_tokens", tuples=False)),
    ("openrouter", r"", Capabilities(tuples=False)),  # it passes schemas on to providers such as these
    # Anthropic's models from Opus 4.7 on, and all of generation 5, refuse sampling parameters; none takes a seed.
    ("anthropic", r"claude-[a-z]+-(4-[7-9]|[5-9])(?!\d)", Capabilities(temperature=False, seed=False)),
    ("anthropic", r"", Capabilities(seed=False)),
)


def declared(endpoint: Endpoint) -> Capabilities:
    """What is known of a model before the first call; the endpoint's own settings go first."""
    found = next(
        (
            takes
            for provider, model, takes in _TABLE
            if provider == endpoint.provider and re.match(model, endpoint.model)
        ),
        Capabilities(),
    )
    if endpoint.wire == "openai-responses":
        found = replace(found, seed=False)  # the Responses API has none
    return replace(
        found,
        cap_field=endpoint.cap_field or found.cap_field,
        temperature=found.temperature if endpoint.supports_temperature is None else endpoint.supports_temperature,
        seed=found.seed if endpoint.supports_seed is None else endpoint.supports_seed,
        system=not endpoint.fold_system,
    )


_UNSUPPORTED_NAMES = frozenset((
    "unsupported_parameter", "unsupported_value", "unknown_parameter", "unrecognized_parameter", "extra_forbidden"
))  # fmt: skip
_UNSUPPORTED_WORDS = (
    r"unsupported|(?:not|isn't|no longer) (?:supported|permitted|allowed|accepted)"
    r"|does(?: not|n't) (?:support|allow|accept)"
    r"|deprecated|unrecogni[sz]ed|unknown (?:parameter|field|argument)|extra inputs|unexpected keyword"
    r"|may only be set to|only the default"
)
# Turns go out in strict alternation, so a template that finds fault with that counts the system turn as one of them.
_SYSTEM_WORDS = (
    r"system (?:role|message|prompt|instruction)s?\b.*not (?:supported|enabled|allowed)"
    r"|only user and assistant roles|roles must alternate"
)

# OpenAI's words for a list whose places are given one by one, and what others say of the keyword.
_TUPLE_WORDS = r"prefixItems|array schema missing items"


def learn(error: ProviderError, sent: Capabilities) -> Learned | None:
    """What an error teaches about a request that was written under `sent`; None when it is about something else."""
    if error.status not in (400, 422, 500):
        return None
    if sent.system and _found(_SYSTEM_WORDS, error.excerpt):
        return Learned(
            "system", False, "the system text now stands in the first user turn: the model takes no system role"
        )
    if error.status == 500:
        return None
    if sent.tuples and _found(_TUPLE_WORDS, error.excerpt):
        return Learned("tuples", False, "schemas no longer say what stands where in a list: the endpoint refuses that")
    if not (error.names & _UNSUPPORTED_NAMES or _found(_UNSUPPORTED_WORDS, error.excerpt)):
        return None
    about = error.param or error.message
    if _speaks_of(sent.cap_field, about):
        other: CapField = "max_tokens" if sent.cap_field == "max_completion_tokens" else "max_completion_tokens"
        return Learned("cap_field", other, f"the cap on tokens is now sent as {other}: {sent.cap_field} is refused")
    if sent.temperature and _speaks_of("temperature", about):
        return Learned("temperature", False, NO_TEMPERATURE)
    if sent.seed and _speaks_of("seed", about):
        return Learned("seed", False, NO_SEED)
    return None


def _found(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _speaks_of(parameter: str, text: str) -> bool:
    return re.search(rf"(?<![a-z_]){parameter}(?![a-z_])", text) is not None
