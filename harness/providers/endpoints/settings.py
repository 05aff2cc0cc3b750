"""What a person may set about an endpoint: a table of a config, keyed by `provider` or `provider:model`.

Owns keys, types and bounds. What is left unset is filled in by `harness.providers.endpoints.endpoints`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, field_validator

Wire: TypeAlias = Literal["openai-chat", "openai-responses", "anthropic", "local"]
"""The shape of requests and answers; `local` is an embedded model that has yet to be started."""

CacheTtl: TypeAlias = Literal["5m", "1h"]
CapField: TypeAlias = Literal["max_tokens", "max_completion_tokens"]


HeaderName: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]
"""A token of RFC 9110, section 5.6.2."""
LEAST_PRICE = 0.001
"""US dollars per million tokens: a fifth of what the cheapest models cost, and more than the dearest
cost per token."""


class Price(BaseModel):
    """US dollars per million tokens, for models that no price list knows, or knows wrongly."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    input: float = Field(ge=0, allow_inf_nan=False)
    """For prompt tokens."""
    output: float = Field(ge=0, allow_inf_nan=False)
    """For generated tokens, reasoning included."""
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """For input read from a cache; None charges it like other input."""
    cache_written: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """For input written to a cache; None charges it like other input."""
    tiers: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(default_factory=dict)
    """By service tier, in the provider's lower-case word: what it costs for each dollar of the ordinary one."""

    @field_validator("input", "output", "cached", "cache_written")
    @classmethod
    def _is_per_million(cls, value: float | None) -> float | None:
        if value is not None and 0.0 < value < LEAST_PRICE:
            raise ValueError(f"it looks like dollars per token: write {value * 1e6:g}, in dollars per million tokens")
        return value


class EndpointSettings(BaseModel):
    """Overrides for one provider or one of its models. None leaves what is known of the provider."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    retired: ClassVar[Mapping[str, str]] = {"temperature": "supports_temperature", "seed": "supports_seed"}

    base_url: str | None = None
    """Up to and without the path of the API's methods, e.g. `http://127.0.0.1:8000/v1`."""
    wire: Wire | None = None
    """The shape of requests and answers."""
    api_key_env: str | None = None
    """The environment variable that holds the key. The key itself never stands in a config. Empty text: no key."""
    headers: dict[HeaderName, str] | None = None
    """Headers for every request, each with the environment variable that holds its value: `{ X-Team = "TEAM_KEY" }`."""
    query: dict[str, str] | None = None
    """Parameters for the end of every address, as in `{ api-version = "2025-04-01-preview" }`. No place for a key."""

    @field_validator("api_key_env")
    @classmethod
    def _is_a_name(cls, value: str | None) -> str | None:
        # Not quoted: what is no name here is mostly the key itself.
        random = len(value or "") >= 20 and re.search(r"\d", value or "") and not re.search(r"^[A-Z\d]+_", value or "")
        if value and (random or re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", value) is None):
            raise ValueError("it must name an environment variable that holds the key, and is no name of one")
        return value

    concurrency: int | None = Field(default=None, ge=1, le=10_000)
    """The most requests in flight at once."""
    transport: Literal["sdk", "lean"] | None = None
    """How calls are sent: through the provider's SDK, or on aiohttp alone with the SDK's headers, for hundreds of calls
    in flight at once."""
    requests_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """The most calls that leave in any minute."""
    tokens_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """The most tokens in any minute, prompts and the caps of answers together."""
    price: Price | None = None
    """US dollars per million tokens; None looks it up in a price list."""

    fold_system: bool | None = None
    """Put the system text at the head of the first user turn, for chat templates without a system role."""
    cap_field: CapField | None = None
    """Chat Completions only: the body field that caps generated tokens."""
    supports_temperature: bool | None = None
    """Whether the model takes a temperature."""
    supports_seed: bool | None = None
    """Whether the endpoint takes a sampling seed."""
    prompt_cache: bool | None = None
    """Mark the parts of prompts that come again, for Claude and for those of OpenAI's models that take marks. On unless
    set to false."""
    cache_ttl: CacheTtl | None = None
    """Claude only: how long a cache keeps them. Unset: an hour where a decision may take longer than five minutes."""
    context_tokens: int | None = Field(default=None, ge=256, le=1_000_000)
    """Local models only: the longest prompt and answer together, for each request in flight."""
    threads: int | None = Field(default=None, ge=1, le=256)
    """Local models only: threads that compute. More than there are idle cores is far slower than one."""
    exact: bool | None = None
    """Local models only: whether equal requests get equal texts at temperature 0. On unless set to false, which reads
    prompts about twice as fast."""
