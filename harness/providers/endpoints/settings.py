"""What a person may set about an endpoint: a table of a config, keyed by `provider` or `provider:model`.

Owns keys, types and bounds. What is left unset is filled in by `harness.providers.endpoints.endpoints`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Wire: TypeAlias = Literal["openai-chat", "openai-responses", "anthropic", "local"]
"""The shape of requests and answers; `local` is an embedded model that has yet to be started."""

CapField: TypeAlias = Literal["max_tokens", "max_completion_tokens"]


class Price(BaseModel):
    """US dollars per million tokens, for models that no price list knows, or knows wrongly."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """For input read from a cache; None charges it like other input."""
    cache_written: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """For input written to a cache; None charges it like other input."""


class EndpointSettings(BaseModel):
    """Overrides for one provider or one of its models. None leaves what is known of the provider."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    retired: ClassVar[Mapping[str, str]] = {"temperature": "supports_temperature", "seed": "supports_seed"}

    base_url: str | None = None
    """Up to and without the path of the API's methods, e.g. `http://127.0.0.1:8000/v1`."""
    wire: Wire | None = None
    api_key_env: str | None = None
    """The environment variable that holds the key. The key itself never stands in a config. Empty text: no key."""
    concurrency: int | None = Field(default=None, ge=1, le=10_000)
    """The most requests in flight at once."""
    transport: Literal["sdk", "lean"] | None = None
    """How calls are sent: through the provider's SDK, or on aiohttp alone with the SDK's headers, for hundreds of calls
    in flight at once."""
    requests_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    tokens_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    price: Price | None = None

    fold_system: bool | None = None
    """Put the system text at the head of the first user turn, for chat templates without a system role."""
    cap_field: CapField | None = None
    """Chat Completions only: the body field that caps generated tokens."""
    supports_temperature: bool | None = None
    """Whether the model takes a temperature."""
    supports_seed: bool | None = None
    """Whether the endpoint takes a sampling seed."""
    prompt_cache: bool | None = None
    """Anthropic only: mark prompts for caching. On unless set to false."""
    context_tokens: int | None = Field(default=None, ge=256, le=1_000_000)
    """Local models only: the longest prompt and answer together, for each request in flight."""
    threads: int | None = Field(default=None, ge=1, le=256)
    """Local models only: threads that compute. More than there are idle cores is far slower than one."""
    exact: bool | None = None
    """Local models only: whether equal requests get equal texts at temperature 0. On unless set to false, which reads
    prompts about twice as fast."""
