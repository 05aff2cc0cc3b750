"""Endpoints: where a model named `provider:model` is asked, in which wire shape, and under which limits.

Owns the rules for keys, headers and addresses; the words for providers are in `known`. Makes no call and knows no
client. A key is read from the environment when a client is made (`harness.providers.client`) and kept nowhere else: an
endpoint holds only the name of its variable, so it may be printed and stored.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

from pydantic import ValidationError

from weigh.games.values import quote
from weigh.harness.errors import EndpointInvalid
from weigh.harness.providers.endpoints.known import KNOWN, Access, Known
from weigh.harness.providers.endpoints.settings import CacheTtl, CapField, EndpointSettings, Price, Wire
from weigh.harness.words import did_you_mean, in_words
from weigh.policies.show import one_line

__all__ = [
    "Endpoint",
    "EndpointInvalid",
    "EndpointSettings",
    "Price",
    "endpoint_for",
    "missing_key",
    "proxy_for",
    "unused_address",
]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model at one address. Equal endpoints are asked in the same way."""

    provider: str
    model: str
    """As the provider calls it; may hold colons and slashes."""
    base_url: str
    """Without a closing slash; empty for a local model that has yet to be started."""
    api_key_env: str | None
    """The environment variable of the key; None where no key is needed."""
    wire: Wire
    concurrency: int
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    price: Price | None = None
    fold_system: bool = False
    cap_field: CapField | None = None
    supports_temperature: bool | None = None
    supports_seed: bool | None = None
    prompt_cache: bool = True
    cache_ttl: CacheTtl | None = None
    transport: Literal["sdk", "lean"] = "sdk"
    context_tokens: int = 4096
    threads: int = 1
    exact: bool = True
    access: Access = "key"
    headers: tuple[tuple[str, str], ...] = ()
    """Names of headers that go with every request, each with the environment variable of its value."""
    query: tuple[tuple[str, str], ...] = ()
    """Parameters that every address ends with."""

    @property
    def name(self) -> str:
        """`provider:model`."""
        return f"{self.provider}:{self.model}"

    @property
    def loopback(self) -> bool:
        """Whether it is on this machine, where no proxy may come between."""
        return is_loopback(urlsplit(self.base_url).hostname or "")

    def at(self, base_url: str) -> Endpoint:
        """The same local model, once a server for it listens at `base_url`."""
        return replace(self, base_url=base_url, wire="openai-chat")


def endpoint_for(name: str, settings: Mapping[str, EndpointSettings | Mapping[str, object]] | None = None) -> Endpoint:
    """The endpoint of a model named `provider:model`.

    `settings` are keyed by `provider` or `provider:model`; what the latter sets goes before the former, and both before
    what is known of the provider. Raises EndpointInvalid.
    """
    settings = settings or {}
    provider, colon, model = name.partition(":")
    if not colon or not provider or not model.strip() or name != name.strip():
        raise EndpointInvalid(
            f"{quote(name)} is no model name: write provider:model, as in openai:gpt-5-mini or local:smollm2"
        )
    chosen: dict[str, object] = {}
    for key in (provider, name):
        if key in settings:
            given = _checked(key, settings[key])
            chosen |= {field: getattr(given, field) for field in given.model_fields_set}
    chosen = {field: value for field, value in chosen.items() if value is not None}

    known = KNOWN.get(provider)
    if known is None:
        if "base_url" not in chosen:
            raise EndpointInvalid(
                f"unknown provider {quote(provider)} in {quote(name)}{did_you_mean(provider, KNOWN)} "
                f'(any OpenAI-compatible server: a base_url under [models.{provider}], as in "{Known("").address}")'
            )
        known = Known("")
    wire: Wire = chosen.pop("wire", known.wire)  # type: ignore[assignment]
    base_url = str(chosen.pop("base_url", known.base_url))
    if wire == "local":
        if base_url:
            raise EndpointInvalid(f"{name}: a local model is started by the run and takes no base_url")
    elif not base_url:
        raise EndpointInvalid(f"{name}: {provider} needs a base_url in its settings, as in {known.address}")
    else:
        base_url = checked_url(base_url, wire, name)
    key_env = chosen.pop("api_key_env", known.api_key_env)
    if known.access == "vertex":
        vertex_place(base_url, name)
    concurrency = chosen.pop("concurrency", known.concurrency)
    for field in ("headers", "query"):
        if field in chosen:
            chosen[field] = tuple(chosen[field].items())  # type: ignore[attr-defined]
    return Endpoint(
        provider,
        model,
        base_url,
        str(key_env) if key_env else None,
        wire,
        concurrency,  # type: ignore[arg-type]
        access=known.access,
        **chosen,  # type: ignore[arg-type]
    )


def _checked(key: str, given: EndpointSettings | Mapping[str, object]) -> EndpointSettings:
    if isinstance(given, EndpointSettings):
        return given
    try:
        return EndpointSettings.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise EndpointInvalid(f"settings of {key}: {field}: {in_words(first, EndpointSettings)}") from None


def checked_url(base_url: str, wire: Wire, name: str) -> str:
    """`base_url` without a closing slash. Raises EndpointInvalid for what no SDK can use, or what would show a key."""
    try:
        parts = urlsplit(base_url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise EndpointInvalid(f"{name}: base_url is no address: {error}") from None
    if "@" in parts.netloc:
        raise EndpointInvalid(f"{name}: base_url holds a name or password; put the key into a variable (api_key_env)")
    if parts.query or parts.fragment:
        raise EndpointInvalid(
            f"{name}: base_url goes on with ? or #; a key belongs into a variable (api_key_env), the rest into query"
        )
    if parts.scheme not in ("http", "https") or not host:
        raise EndpointInvalid(f"{name}: base_url {quote(base_url)} must begin with http:// or https:// and name a host")
    path = parts.path.rstrip("/")
    for method in ("/chat/completions", "/responses", "/messages"):
        if path.endswith(method):
            raise EndpointInvalid(f"{name}: base_url must stop before {method}, which is added to it")
    if wire == "anthropic":
        path = path.removesuffix("/v1")  # its SDK adds it
    return f"{parts.scheme}://{parts.netloc}{path}"


def vertex_place(base_url: str, name: str) -> tuple[str, str, str]:
    """The address of Vertex's API, the project and the region that a `base_url` names. Raises EndpointInvalid."""
    found = re.fullmatch(r"(.+)/projects/([^/]+)/locations/([^/]+)", base_url)
    if found is None:
        raise EndpointInvalid(
            f"{name}: base_url must end with /projects/PROJECT/locations/REGION, as in {KNOWN['vertex'].address}"
        )
    return found[1], found[2], found[3]


def header_values(endpoint: Endpoint, environ: Mapping[str, str]) -> dict[str, str]:
    """The headers of the endpoint's settings with their values, which `missing_header` has found none amiss with."""
    return {header: environ[variable].strip() for header, variable in endpoint.headers}


def missing_header(endpoint: Endpoint, environ: Mapping[str, str]) -> str | None:
    """What to do about a header whose variable is unset, or cannot be sent; None when all is well. Quotes no value."""
    for header, variable in endpoint.headers:
        value = environ.get(variable, "").strip()
        if not value or not value.isprintable() or not value.isascii():
            amiss = "holds more than a header can" if value else "is not set"
            return f"{endpoint.name}: the header {header} needs the environment variable {variable}, which {amiss}"
    return None


def at_home(endpoint: Endpoint, provider: str | None = None) -> bool:
    """Whether an endpoint is the provider's own, by default that of its word: behind another address the provider's
    prices and names need not hold."""
    known = KNOWN.get(provider or endpoint.provider)
    host = urlsplit(endpoint.base_url).hostname or ""
    return known is not None and bool(known.home) and f".{host}".endswith(f".{known.home}")


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def key_of(endpoint: Endpoint, environ: Mapping[str, str]) -> str:
    """The key, white space around it dropped; empty when there is none."""
    return environ.get(endpoint.api_key_env, "").strip() if endpoint.api_key_env else ""


def missing_key(endpoint: Endpoint, environ: Mapping[str, str]) -> str | None:
    """What to do about a key that is not set, or cannot be one; None when all is well. Never quotes the key."""
    if endpoint.api_key_env is None:
        return None
    key = key_of(endpoint, environ)
    if not key and endpoint.access == "bedrock":
        return None  # its SDK finds AWS's own credentials
    if not key:
        return f"{endpoint.name} needs a key: set the environment variable {endpoint.api_key_env}"
    if not key.isascii() or not key.isprintable() or " " in key:
        return (
            f"{endpoint.api_key_env} holds more than a key (a space, a line break or a character no key has): "
            "set it to the key alone"
        )
    return None


def proxy_for(endpoint: Endpoint, environ: Mapping[str, str]) -> str | None:
    """The proxy that requests to the endpoint go through, without its password; None for a direct connection."""
    proxy = proxy_address(endpoint, environ)
    return proxy and re.sub(r"^([a-z0-9+.-]+://)?.*@", r"\1", proxy, flags=re.IGNORECASE | re.DOTALL)


def proxy_address(endpoint: Endpoint, environ: Mapping[str, str]) -> str | None:
    """The same with its password, for the connection.

    The variables are those that curl and both SDKs read. An endpoint on this machine is always asked directly.
    """
    proxy = proxy_with_password(endpoint, environ)
    if proxy is None:
        return None
    return re.sub(r"^([a-z0-9+.-]+://)?.*@", r"\1", proxy, flags=re.IGNORECASE | re.DOTALL)


def proxy_with_password(endpoint: Endpoint, environ: Mapping[str, str]) -> str | None:
    """The same as it is used, never to be shown."""
    if endpoint.loopback or not endpoint.base_url:
        return None
    parts = urlsplit(endpoint.base_url)
    found = {name.lower(): value for name, value in environ.items() if value}
    proxy = found.get(f"{parts.scheme}_proxy") or found.get("all_proxy")
    if not proxy or proxy_bypass_environment(parts.netloc, {"no": found.get("no_proxy", "")}):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def unusable_proxy(endpoint: Endpoint, environ: Mapping[str, str]) -> str | None:
    """What to do about a proxy that neither SDK's transport speaks to; None when all is well."""
    proxy = proxy_for(endpoint, environ)
    if proxy is None or urlsplit(proxy).scheme.lower() in ("http", "https"):
        return None
    return (
        f"{endpoint.name} would be asked through {one_line(proxy)}, and only http:// and https:// proxies can be used: "
        "unset the variable that names it (HTTPS_PROXY, HTTP_PROXY or ALL_PROXY), or name the host in NO_PROXY"
    )


def unused_address(endpoint: Endpoint, environ: Mapping[str, str]) -> str | None:
    """The variable that gives a vendor's SDK another address, where the config gives none: it is not used here, since a
    run must not change with the shell it is started from. None where there is no such variable."""
    variable = f"{endpoint.provider.upper()}_BASE_URL"
    known = KNOWN.get(endpoint.provider)
    told = known is not None and known.base_url == endpoint.base_url and environ.get(variable)
    return variable if told else None
