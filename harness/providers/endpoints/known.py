"""Providers known by a word: where they answer, in which shape, with which key, and whose price list holds for them.

Owns one table. A model family's habits (what may stand in a body) are not the provider's but the model's: they are in
`harness.providers.wire.capabilities`. Addresses and names of keys are those of the vendors' documents (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weigh.harness.providers.endpoints.settings import Wire
from weigh.policies.contract import Sampling

Access: TypeAlias = Literal["key", "azure", "bedrock", "vertex"]
"""How a request proves who sends it: by a key in the usual header, in Azure's, or signed by the SDK's own client."""


@dataclass(frozen=True, slots=True)
class Known:
    """What one provider word stands for."""

    base_url: str
    """Empty where each customer has an address of its own; `address` then shows its form."""
    wire: Wire = "openai-chat"
    api_key_env: str | None = None
    concurrency: int = 64
    prices: str | None = None
    """The provider in the list of `genai-prices`; None where nothing is charged by the token, or nothing is known."""
    home: str = ""
    """The domain that is the provider's own: the list's prices hold there only. Empty on one's own machine."""
    access: Access = "key"
    address: str = "http://127.0.0.1:8000/v1"
    """An example of a `base_url`, for those who must give one."""


# Servers on one's own machine start with few requests in flight: each one more takes memory from the others, and most
# of them queue beyond four anyway. vLLM batches.
KNOWN: Mapping[str, Known] = {
    "openai": Known("https://api.openai.com/v1", api_key_env="OPENAI_API_KEY", prices="openai", home="openai.com"),
    "anthropic": Known(
        "https://api.anthropic.com",
        wire="anthropic",
        api_key_env="ANTHROPIC_API_KEY",
        prices="anthropic",
        home="anthropic.com",
    ),
    "openrouter": Known(
        "https://openrouter.ai/api/v1", api_key_env="OPENROUTER_API_KEY", prices="openrouter", home="openrouter.ai"
    ),
    "gemini": Known(
        "https://generativelanguage.googleapis.com/v1beta/openai",
        api_key_env="GEMINI_API_KEY",
        prices="google",
        home="googleapis.com",
    ),
    "xai": Known("https://api.x.ai/v1", api_key_env="XAI_API_KEY", prices="x-ai", home="x.ai"),
    "deepseek": Known(
        "https://api.deepseek.com/v1", api_key_env="DEEPSEEK_API_KEY", prices="deepseek", home="deepseek.com"
    ),
    "mistral": Known("https://api.mistral.ai/v1", api_key_env="MISTRAL_API_KEY", prices="mistral", home="mistral.ai"),
    "groq": Known("https://api.groq.com/openai/v1", api_key_env="GROQ_API_KEY", prices="groq", home="groq.com"),
    "together": Known(
        "https://api.together.xyz/v1", api_key_env="TOGETHER_API_KEY", prices="together", home="together.xyz"
    ),
    "fireworks": Known(
        "https://api.fireworks.ai/inference/v1",
        api_key_env="FIREWORKS_API_KEY",
        prices="fireworks",
        home="fireworks.ai",
    ),
    "azure": Known(
        "",
        api_key_env="AZURE_OPENAI_API_KEY",
        prices="azure",
        home="azure.com",
        access="azure",
        address="https://RESOURCE.openai.azure.com/openai/v1",
    ),
    "bedrock": Known(
        "",
        wire="anthropic",
        api_key_env="AWS_BEARER_TOKEN_BEDROCK",
        prices="aws",
        home="amazonaws.com",
        access="bedrock",
        address="https://bedrock-runtime.REGION.amazonaws.com",
    ),
    "vertex": Known(
        "",
        wire="anthropic",
        prices="google",
        home="googleapis.com",
        access="vertex",
        address="https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION",
    ),
    "ollama": Known("http://127.0.0.1:11434/v1", concurrency=4),
    "vllm": Known("http://127.0.0.1:8000/v1"),
    "lmstudio": Known("http://127.0.0.1:1234/v1", concurrency=4),
    "llamacpp": Known("http://127.0.0.1:8080/v1", concurrency=4),
    "local": Known("", wire="local", concurrency=2),
    "mock": Known("", concurrency=1000),
}
"""Providers by word. Any other word works too, once its settings give a `base_url`."""

FREE = frozenset(word for word, known in KNOWN.items() if known.prices is None)
"""Providers without a charge by the token, unless their settings give a price."""

_THINKS = re.compile(
    r"(?:^|[/.])(?:o\d|gpt-[5-9]|gpt-\d\d|codex|gpt-oss|claude-[a-z]+-[5-9](?!\d)|gemini-(?:2[.]5|[3-9])|deepseek-"
    r"|grok-[4-9]|magistral|qwq)(?!.*(?<![a-z])(?:chat|lite))"
)
THINKING_CAP = 8_192
"""Tokens of one reply, thinking included, of a model that thinks unless it is told not to."""


def default_cap(name: str) -> int:
    """The cap on the tokens of one reply of the model `provider:model`, where nobody set one.

    By the model's family, whoever sells it. On a machine of one's own a name may stand for anything, and thinking for
    minutes: there the plain cap holds.
    """
    provider, _, model = name.partition(":")
    return THINKING_CAP if provider not in FREE and _THINKS.search(model) else Sampling().max_tokens
