"""Model names, settings, keys, proxies: what is accepted, and the line that helps where it is not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from weigh.harness.errors import EndpointInvalid
from weigh.harness.providers.client import client_for
from weigh.harness.providers.endpoints.endpoints import (
    Endpoint,
    EndpointSettings,
    endpoint_for,
    is_loopback,
    missing_key,
    proxy_for,
)
from weigh.harness.providers.endpoints.known import KNOWN

OWN = {"base_url": "http://127.0.0.1:8000/v1"}


@pytest.mark.parametrize(
    ("name", "base_url", "wire", "key"),
    [
        ("openai:gpt-5-mini", "https://api.openai.com/v1", "openai-chat", "OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-4-6", "https://api.anthropic.com", "anthropic", "ANTHROPIC_API_KEY"),
        ("openrouter:openai/gpt-5:free", "https://openrouter.ai/api/v1", "openai-chat", "OPENROUTER_API_KEY"),
        ("ollama:llama3:8b", "http://127.0.0.1:11434/v1", "openai-chat", None),
        ("vllm:Qwen/Qwen3-8B", "http://127.0.0.1:8000/v1", "openai-chat", None),
        ("lmstudio:m", "http://127.0.0.1:1234/v1", "openai-chat", None),
        ("llamacpp:m", "http://127.0.0.1:8080/v1", "openai-chat", None),
        ("local:smollm2", "", "local", None),
        ("local:models/a b.gguf", "", "local", None),
    ],
)
def test_known_providers(name: str, base_url: str, wire: str, key: str | None) -> None:
    endpoint = endpoint_for(name)
    assert (endpoint.name, endpoint.base_url, endpoint.wire, endpoint.api_key_env) == (name, base_url, wire, key)


def test_a_models_settings_go_before_its_providers_and_both_before_what_is_known() -> None:
    settings = {
        "openai": EndpointSettings(concurrency=10, requests_per_minute=60, wire="openai-responses"),
        "openai:gpt-5": {"concurrency": 3, "price": {"input": 1, "output": 2}},
    }
    assert endpoint_for("openai:gpt-5", settings).concurrency == 3
    assert endpoint_for("openai:gpt-5", settings).requests_per_minute == 60
    assert endpoint_for("openai:gpt-5", settings).wire == "openai-responses"
    assert endpoint_for("openai:gpt-5", settings).price is not None
    assert endpoint_for("openai:gpt-4o", settings).concurrency == 10
    assert endpoint_for("anthropic:x", settings).concurrency == KNOWN["anthropic"].concurrency


def test_a_server_of_ones_own_needs_an_address_and_may_have_a_key() -> None:
    settings = {"lab": {"base_url": "https://models.lab.example/v1/", "api_key_env": "LAB_KEY"}}
    endpoint = endpoint_for("lab:meta/llama", settings)
    assert (endpoint.base_url, endpoint.api_key_env) == ("https://models.lab.example/v1", "LAB_KEY")


def test_a_key_can_be_set_aside() -> None:
    assert endpoint_for("openai:m", {"openai": {**OWN, "api_key_env": ""}}).api_key_env is None


@pytest.mark.parametrize(
    ("name", "settings", "line"),
    [
        ("gpt-5", {}, '"gpt-5" is no model name: write provider:model'),
        (":gpt-5", {}, "is no model name"),
        ("openai:", {}, "is no model name"),
        (" openai:x", {}, "is no model name"),
        ("opnai:gpt-5", {}, 'unknown provider "opnai" in "opnai:gpt-5"; did you mean \'openai\'?'),
        ("zzz:gpt-5", {}, "known: anthropic, azure, bedrock,"),
        ("mock:m", {}, "mock:m: mock needs a base_url in its settings"),
        ("local:smollm2", {"local": OWN}, "takes no base_url"),
        ("vllm:m", {"vllm": {"base_url": "127.0.0.1:8000/v1"}}, "must begin with http:// or https://"),
        ("vllm:m", {"vllm": {"base_url": "ftp://x/v1"}}, "must begin with http:// or https://"),
        ("vllm:m", {"vllm": {"base_url": "http://:8000/v1"}}, "name a host"),
        ("vllm:m", {"vllm": {"base_url": "http://x:port/v1"}}, "base_url is no address"),
        ("vllm:m", {"vllm": {"base_url": "http://x/v1/chat/completions"}}, "must stop before /chat/completions"),
        (
            "vllm:m",
            {"vllm": {"concurency": 3}},
            "vllm: concurency: unknown key; did you mean 'concurrency'?",
        ),
        ("vllm:m", {"vllm": {"concurrency": 0}}, "settings of vllm: concurrency: must be at least 1, not 0"),
        ("vllm:m", {"vllm:m": {"price": {"input": -1, "output": 1}}}, "settings of vllm:m: price.input:"),
    ],
)
def test_what_is_wrong_gets_one_line_that_says_what_to_write(name: str, settings: dict[str, object], line: str) -> None:
    with pytest.raises(EndpointInvalid) as caught:
        endpoint_for(name, settings)  # type: ignore[arg-type]
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://me:hunter2hunter2@x/v1", "https://x/v1?api_key=hunter2hunter2", "http://x/#hunter2"]
)
def test_an_address_with_a_key_in_it_is_refused_without_quoting_it(url: str) -> None:
    with pytest.raises(EndpointInvalid) as caught:
        endpoint_for("vllm:m", {"vllm": {"base_url": url}})
    assert "hunter2" not in str(caught.value)
    assert "api_key_env" in str(caught.value)


def test_the_version_in_anthropics_address_is_the_sdks_own() -> None:
    assert endpoint_for("anthropic:m", {"anthropic": {"base_url": "http://x:1/v1/"}}).base_url == "http://x:1"
    assert endpoint_for("openai:m", {"openai": {"base_url": "http://x:1/v1/"}}).base_url == "http://x:1/v1"


@pytest.mark.parametrize("environ", [{}, {"OPENAI_API_KEY": ""}, {"OPENAI_API_KEY": " \n"}])
def test_a_missing_key_names_its_variable(environ: dict[str, str]) -> None:
    endpoint = endpoint_for("openai:gpt-5")
    line = "openai:gpt-5 needs a key: set the environment variable OPENAI_API_KEY"
    assert missing_key(endpoint, environ) == line
    with pytest.raises(EndpointInvalid, match=line):
        client_for(endpoint, environ)


def test_servers_without_keys_miss_none() -> None:
    assert missing_key(endpoint_for("ollama:m"), {}) is None
    assert missing_key(endpoint_for("local:smollm2"), {}) is None


def test_a_key_may_end_in_a_line_break_as_files_do() -> None:
    assert missing_key(endpoint_for("openai:m"), {"OPENAI_API_KEY": "sk-abc\n"}) is None


@pytest.mark.parametrize("key", ["sk-abc\nsk-def", "sk-abc…", "sk abc", "“sk-abc”"])
def test_what_cannot_be_a_key_is_not_quoted(key: str) -> None:
    line = missing_key(endpoint_for("openai:m"), {"OPENAI_API_KEY": key})
    assert line is not None
    assert "OPENAI_API_KEY holds more than a key" in line
    assert "abc" not in line


@pytest.mark.parametrize(
    ("environ", "proxy"),
    [
        ({}, None),
        ({"HTTPS_PROXY": "http://10.0.0.1:3128"}, "http://10.0.0.1:3128"),
        ({"https_proxy": "http://me:pw@10.0.0.1:3128"}, "http://10.0.0.1:3128"),
        ({"ALL_PROXY": "socks5://10.0.0.1:1080"}, "socks5://10.0.0.1:1080"),
        ({"ALL_PROXY": "me:pw@10.0.0.1:1080"}, "http://10.0.0.1:1080"),
        ({"HTTP_PROXY": "http://10.0.0.1:3128"}, None),
        ({"HTTPS_PROXY": "http://10.0.0.1:3128", "NO_PROXY": "api.openai.com"}, None),
        ({"HTTPS_PROXY": "http://10.0.0.1:3128", "no_proxy": "*"}, None),
        ({"HTTPS_PROXY": "http://10.0.0.1:3128", "NO_PROXY": "example.org"}, "http://10.0.0.1:3128"),
    ],
)
def test_P46_the_proxy_in_use_can_be_shown_without_its_password(environ: dict[str, str], proxy: str | None) -> None:
    assert proxy_for(endpoint_for("openai:m"), environ) == proxy


def test_P46_this_machine_is_never_asked_through_a_proxy() -> None:
    environ = {"HTTP_PROXY": "http://10.0.0.1:3128", "ALL_PROXY": "http://10.0.0.1:3128"}
    for host in ("127.0.0.1", "localhost", "[::1]", "127.3.4.5", "LOCALHOST"):
        endpoint = endpoint_for("vllm:m", {"vllm": {"base_url": f"http://{host}:8000/v1"}})
        assert endpoint.loopback
        assert proxy_for(endpoint, environ) is None
    assert not is_loopback("10.0.0.1")
    assert not is_loopback("localhost.example.org")


def test_a_local_model_has_no_client_before_it_is_started() -> None:
    endpoint = endpoint_for("local:smollm2")
    with pytest.raises(EndpointInvalid, match="is not running"):
        client_for(endpoint, {})
    running = endpoint.at("http://127.0.0.1:5000/v1")
    assert (running.name, running.wire, running.base_url) == (
        "local:smollm2", "openai-chat", "http://127.0.0.1:5000/v1"
    )  # fmt: skip


def test_endpoints_are_values() -> None:
    assert endpoint_for("openai:m") == endpoint_for("openai:m")
    assert isinstance(endpoint_for("openai:m"), Endpoint)
    with pytest.raises(AttributeError):
        endpoint_for("openai:m").model = "other"  # type: ignore[misc]


def test_naming_endpoints_loads_no_sdk() -> None:
    code = (
        "import sys; from weigh.harness.providers.endpoints.endpoints import endpoint_for, missing_key\n"
        "import weigh.harness.providers.errors.failures, weigh.harness.run.concurrency\n"
        "import weigh.harness.providers.endpoints.prices\n"
        "missing_key(endpoint_for('openai:m'), {})\n"
        "print([m for m in ('openai', 'anthropic', 'httpx2', 'aiohttp', 'genai_prices') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"


@pytest.mark.parametrize(("name", "absent"), [("openai:m", "anthropic"), ("anthropic:m", "openai")])
@pytest.mark.slow
def test_a_client_loads_its_own_sdk_only(name: str, absent: str) -> None:
    code = (
        "import sys\nfrom weigh.harness.providers.client import client_for\n"
        "from weigh.harness.providers.endpoints.endpoints import endpoint_for\n"
        f"client_for(endpoint_for({name!r}), {{'OPENAI_API_KEY': 'k', 'ANTHROPIC_API_KEY': 'k'}})\n"
        f"print({absent!r} in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "False"


@pytest.mark.parametrize(
    "key",
    ["sk-proj-hunter2hunter2", "sk_live_hunter2hunter2hunter2", "AIzaSyHunter2hunter2Hunter2", "0123456789abcdef",
     "AKIAHUNTER2HUNTER2HU", "a b"],
)  # fmt: skip
def test_a_key_in_the_place_of_its_variable_is_refused_without_quoting_it(key: str) -> None:
    with pytest.raises(EndpointInvalid) as caught:
        endpoint_for("vllm:m", {"vllm": {"base_url": "http://x/v1", "api_key_env": key}})
    assert key not in str(caught.value)
    assert "environment variable" in str(caught.value)


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "my_key", "_K2", "TEAM_2_OPENAI_KEY_FOR_EVALUATION"])
def test_a_name_of_a_variable_is_taken(name: str) -> None:
    assert endpoint_for("openai:m", {"openai": {"api_key_env": name}}).api_key_env == name
