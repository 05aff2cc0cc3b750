"""Every provider word over its real SDK and real HTTP: the address, the proof of who asks, the body, the price."""

from __future__ import annotations

import asyncio
import importlib.util
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from anthropic.resources.messages import DEPRECATED_MODELS
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter

from tests.harness.providers.raw_server import Received, answer_for, request, serving
from weigh.harness.errors import EndpointInvalid
from weigh.harness.providers.client import client_for, retired
from weigh.harness.providers.endpoints.endpoints import Endpoint, endpoint_for, unusable_proxy, unused_address
from weigh.harness.providers.endpoints.known import FREE, KNOWN
from weigh.harness.providers.endpoints.prices import price_known
from weigh.harness.providers.wire.capabilities import declared

KEY = "key-5d1f0c77ab"
VERTEX = "/projects/lab/locations/us-east5"
CHAT = tuple(word for word, known in KNOWN.items() if known.wire == "openai-chat" and word != "azure")
AT_VENDORS = {"azure": "https://lab.openai.azure.com/openai/v1",
              "bedrock": "https://bedrock-runtime.eu-west-1.amazonaws.com",
              "vertex": f"https://us-east5-aiplatform.googleapis.com/v1{VERTEX}"}  # fmt: skip


def asked(
    word: str, path: str = "", model: str = "m-1", environ: dict[str, str] | None = None, **more: Any
) -> Received:
    """The one request that a client of the word sends, taken by a server on this machine."""

    async def ask() -> Received:
        async with serving(answer_for(KNOWN[word].wire)) as raw:
            settings = {"base_url": raw.url + path, "api_key_env": "THE_KEY", **more}
            client = client_for(endpoint_for(f"{word}:{model}", {word: settings}), {"THE_KEY": KEY, **(environ or {})})
            try:
                completion = await client.complete(request(schema={"type": "object"}))
            finally:
                await client.aclose()
            assert completion.text == '{"bid": 7}'
            assert len(raw.received) == 1
            return raw.received[0]

    return asyncio.run(ask())


def fits(params: Any, body: dict[str, Any]) -> None:
    """The body is one that the SDK's own types take, and names nothing they do not know."""
    TypeAdapter(params).validate_python(body)
    assert body.keys() <= params.__required_keys__ | params.__optional_keys__


@pytest.mark.parametrize("word", CHAT)
def test_a_compatible_provider_gets_a_bearer_and_a_body_of_the_sdks_types(word: str) -> None:
    got = asked(word, "/v1")
    assert got.path == "/v1/chat/completions"
    assert got.headers["authorization"] == f"Bearer {KEY}"
    fits(CompletionCreateParamsNonStreaming, got.body)


@pytest.mark.parametrize("path", ["/openai/v1", "/openai/deployments/gpt-5-mini"])
def test_azure_gets_its_own_header_and_the_version_of_its_interface(path: str) -> None:
    got = asked("azure", path, query={"api-version": "2025-04-01-preview"})
    assert got.path == f"{path}/chat/completions?api-version=2025-04-01-preview"
    assert got.headers["api-key"] == KEY
    assert "authorization" not in got.headers


@pytest.mark.parametrize("transport", ["sdk", "lean"])
def test_azure_is_asked_in_the_same_way_by_both_senders(transport: str) -> None:
    got = asked("azure", "/openai/v1", query={"api-version": "preview"}, transport=transport)
    assert (got.path, got.headers["api-key"]) == ("/openai/v1/chat/completions?api-version=preview", KEY)
    assert "authorization" not in got.headers


def test_anthropic_gets_a_body_of_its_sdks_types() -> None:
    got = asked("anthropic", model="claude-opus-4-8")
    assert (got.path, got.headers["authorization"]) == ("/v1/messages", f"Bearer {KEY}")
    fits(MessageCreateParamsNonStreaming, got.body)


def test_bedrock_is_asked_by_the_sdks_own_client_with_the_model_in_the_address() -> None:
    got = asked("bedrock", model="us.anthropic.claude-opus-4-8-v1:0")
    assert got.path.replace("%3A", ":") == "/model/us.anthropic.claude-opus-4-8-v1:0/invoke"
    assert got.headers["authorization"] == f"Bearer {KEY}"
    assert "model" not in got.body
    assert got.body["anthropic_version"]


def test_vertex_is_asked_by_the_sdks_own_client_in_the_project_and_region_of_its_address() -> None:
    got = asked("vertex", f"/v1{VERTEX}", model="claude-opus-4-8")
    assert got.path == f"/v1{VERTEX}/publishers/anthropic/models/claude-opus-4-8:rawPredict"
    assert got.headers["authorization"] == f"Bearer {KEY}"
    assert "model" not in got.body


@pytest.mark.parametrize(("word", "path"), [("bedrock", ""), ("vertex", VERTEX)])
def test_a_signing_client_without_its_library_is_refused_before_a_call(
    word: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    endpoint = endpoint_for(f"{word}:claude-opus-4-8", {word: {"base_url": f"http://127.0.0.1:1{path}"}})
    with pytest.raises(EndpointInvalid, match=rf"pip install 'anthropic\[{word}\]'"):
        client_for(endpoint, {})


@pytest.mark.parametrize("word", ["azure", "bedrock", "vertex"])
def test_a_provider_without_one_address_shows_the_form_of_it(word: str) -> None:
    with pytest.raises(EndpointInvalid, match=KNOWN[word].address):
        endpoint_for(f"{word}:m")


def test_an_address_of_vertex_names_project_and_region() -> None:
    with pytest.raises(EndpointInvalid, match="must end with /projects/PROJECT/locations/REGION"):
        endpoint_for("vertex:m", {"vertex": {"base_url": "https://us-east5-aiplatform.googleapis.com/v1"}})


@pytest.mark.parametrize("transport", ["sdk", "lean"])
@pytest.mark.parametrize("word", ["vllm", "anthropic"])
def test_headers_of_the_settings_go_along_with_the_values_of_their_variables(word: str, transport: str) -> None:
    got = asked(word, headers={"X-Team": "TEAM"}, environ={"TEAM": "blue\n"}, transport=transport)
    assert got.headers["x-team"] == "blue"


@pytest.mark.parametrize("environ", [{}, {"TEAM": ""}, {"TEAM": "blue\nred"}, {"TEAM": "bl\u00fc"}])
def test_a_header_whose_variable_cannot_be_sent_is_refused_without_its_value(environ: dict[str, str]) -> None:
    endpoint = endpoint_for("vllm:m", {"vllm": {"headers": {"X-Team": "TEAM"}}})
    with pytest.raises(EndpointInvalid) as caught:
        client_for(endpoint, environ)
    assert "the header X-Team needs the environment variable TEAM" in str(caught.value)
    assert "bl" not in str(caught.value).replace("variable", "")


def test_a_header_that_is_no_name_is_refused() -> None:
    with pytest.raises(EndpointInvalid, match="headers"):
        endpoint_for("vllm:m", {"vllm": {"headers": {"X Team:": "TEAM"}}})


@pytest.mark.parametrize("word", ["vllm", "openai", "azure", "anthropic", "bedrock"])
def test_headers_that_the_environment_gives_a_vendor_reach_nobody_else(
    word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Own: secret")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Own: secret\nX-More: secret")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "secret")
    assert not [value for value in asked(word).headers.values() if "secret" in value]


def test_openai_itself_gets_the_organisation_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")

    async def organisation() -> object:
        client = client_for(endpoint_for("openai:gpt-5-mini"), {"OPENAI_API_KEY": KEY})
        try:
            return client._sender._sdk.default_headers["OpenAI-Organization"]  # type: ignore[attr-defined]
        finally:
            await client.aclose()

    assert asyncio.run(organisation()) == "org-1"


@pytest.mark.parametrize(
    ("name", "temperature", "seed", "cap"),
    [
        ("openai:gpt-5-mini", False, True, "max_completion_tokens"),
        ("openai:gpt-5-chat-latest", True, True, "max_completion_tokens"),
        ("azure:gpt-6", False, True, "max_completion_tokens"),
        ("azure:my-deployment", True, True, "max_completion_tokens"),
        ("gateway:openai/o4-mini", False, True, "max_completion_tokens"),
        ("openrouter:openai/gpt-5", False, True, "max_tokens"),
        ("groq:openai/gpt-oss-20b", True, True, "max_tokens"),
        ("anthropic:claude-opus-4-8", False, False, "max_tokens"),
        ("anthropic:claude-opus-4-6", True, False, "max_tokens"),
        ("bedrock:us.anthropic.claude-opus-4-8-v1:0", False, False, "max_tokens"),
        ("vertex:claude-sonnet-5", False, False, "max_tokens"),
        ("openrouter:anthropic/claude-opus-4.8", False, False, "max_tokens"),
        ("mistral:mistral-large-latest", True, False, "max_tokens"),
        ("vllm:gpt-5-imitation", True, True, "max_tokens"),
        ("gemini:gemini-3-pro", True, True, "max_tokens"),
    ],
)
def test_a_familys_habits_go_with_the_model_whoever_serves_it(
    name: str, temperature: bool, seed: bool, cap: str
) -> None:
    word = name.partition(":")[0]
    own = {word: {"base_url": AT_VENDORS.get(word, "http://127.0.0.1:1/v1")}}
    takes = declared(endpoint_for(name, own))
    assert (takes.temperature, takes.seed, takes.cap_field) == (temperature, seed, cap)


@pytest.mark.parametrize(
    "name",
    [
        "openai:gpt-5-mini",
        "anthropic:claude-opus-4-8",
        "openrouter:openai/gpt-5",
        "gemini:gemini-2.5-pro",
        "xai:grok-4.7",
        "deepseek:deepseek-v4-pro",
        "mistral:mistral-large-latest",
        "groq:openai/gpt-oss-20b",
        "together:zai-org/GLM-5.3",
        "fireworks:accounts/fireworks/models/qwen3p8-max",
        "azure:gpt-5-mini",
        "bedrock:us.anthropic.claude-opus-4-6-v1:0",
        "vertex:claude-opus-4-6",
    ],
)
def test_the_price_list_knows_models_of_every_paid_word_at_its_own_address(name: str) -> None:
    word = name.partition(":")[0]
    own = {word: {"base_url": AT_VENDORS[word]}} if word in AT_VENDORS else {}
    assert price_known(endpoint_for(name, own))
    assert not price_known(endpoint_for(name, {word: {"base_url": f"http://127.0.0.1:1/v1{VERTEX}"}}))


@pytest.mark.parametrize(
    ("day", "base_url", "refused"),
    [
        (date(2026, 11, 30), "https://api.anthropic.com", True),
        (date(2026, 11, 29), "https://api.anthropic.com", False),
        (date(2026, 12, 1), "https://gateway.example", False),
    ],
)
def test_a_model_that_its_vendor_retired_is_refused_before_a_call(day: date, base_url: str, refused: bool) -> None:
    gone = next(name for name, last in DEPRECATED_MODELS.items() if last == "November 30th, 2026")
    found = retired(endpoint_for(f"anthropic:{gone}", {"anthropic": {"base_url": base_url}}), day)
    assert (found is not None) == refused
    assert found is None or (gone in found and "November 30th, 2026" in found)


def test_every_day_in_the_sdks_list_of_retired_models_can_be_read() -> None:
    for name in DEPRECATED_MODELS:
        assert retired(endpoint_for(f"anthropic:{name}"), date(2100, 1, 1)) is not None


def test_N14_a_proxy_of_another_scheme_is_refused_before_a_call_and_its_password_kept() -> None:
    environ = {"OPENAI_API_KEY": KEY, "ALL_PROXY": "socks5://me:hunter2@127.0.0.1:1080"}
    endpoint = endpoint_for("openai:gpt-5-mini")
    line = unusable_proxy(endpoint, environ)
    assert line is not None and "socks5://127.0.0.1:1080" in line and "hunter2" not in line
    with pytest.raises(EndpointInvalid):
        client_for(endpoint, environ)
    assert unusable_proxy(endpoint, {"ALL_PROXY": "http://127.0.0.1:1080"}) is None
    assert unusable_proxy(endpoint_for("vllm:m"), environ) is None


def test_N16_a_password_in_netrc_is_not_sent_in_place_of_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("default login u password p\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setattr(Endpoint, "loopback", property(lambda _self: False))
    for transport in ("sdk", "lean"):
        assert asked("vllm", transport=transport).headers["authorization"] == f"Bearer {KEY}"


def test_N20_an_address_in_the_environment_that_is_not_used_is_named() -> None:
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    assert unused_address(endpoint_for("openai:gpt-5-mini"), environ) == "OPENAI_BASE_URL"
    own = {"openai": {"base_url": "http://127.0.0.1:1/v1"}}
    assert unused_address(endpoint_for("openai:gpt-5-mini", own), environ) is None
    assert unused_address(endpoint_for("openai:gpt-5-mini"), {}) is None


def test_only_servers_of_ones_own_are_free() -> None:
    assert {"local", "mock", "ollama", "vllm", "lmstudio", "llamacpp"} == FREE
