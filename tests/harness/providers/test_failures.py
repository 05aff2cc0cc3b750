"""Every exception a call can end in is mapped on purpose: both SDKs', httpx2's, aiohttp's, the standard library's."""

from __future__ import annotations

import errno
import importlib
import json
import pickle
import re
import socket
import ssl
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import aiohttp
import anthropic
import httpx2
import openai
import pydantic
import pytest

from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.errors.failures import CallFailed, as_completion, decide, qualified, verdict
from weigh.harness.providers.errors.reading import ProviderError, error_of
from weigh.harness.providers.errors.table import ANSWERED, BUGS, RULES

ENDPOINT = endpoint_for("openai:gpt-4o")
EXCEPTION = re.compile(r"^class \w+\([^)]*(Error|Exception)\b", re.M)
REQUEST = httpx2.Request("POST", "https://api.openai.com/v1/chat/completions")


def kinds(root: type[BaseException]) -> Iterator[type[BaseException]]:
    yield root
    for kind in root.__subclasses__():
        yield from kinds(kind)


def load_all(package: ModuleType) -> None:
    """Import every module of an SDK that defines an exception."""
    folder = Path(package.__path__[0])
    for path in folder.rglob("*.py"):
        if EXCEPTION.search(path.read_text(encoding="utf-8")):
            module = ".".join(path.relative_to(folder.parent).with_suffix("").parts)
            try:
                importlib.import_module(module)
            except ImportError:  # a part that needs a package which is not installed
                continue


def status_kinds() -> list[type[BaseException]]:
    return [kind for root in (openai.APIStatusError, anthropic.APIStatusError) for kind in kinds(root)]


def test_no_exception_of_either_sdk_is_missed() -> None:
    for package in (openai, anthropic):
        load_all(package)
    answered = set(status_kinds())
    for root in (openai.OpenAIError, anthropic.AnthropicError):
        for kind in kinds(root):
            named = [qualified(base) for base in kind.__mro__]
            ours = any(
                name in RULES for name in named if name not in ("openai.OpenAIError", "anthropic.AnthropicError")
            )
            known = kind in answered or ours or BUGS.intersection(named) or kind is root
            assert known, f"{kind.__module__}.{kind.__qualname__} is not decided on"


@pytest.mark.parametrize("root", [httpx2.HTTPError, aiohttp.ClientError, httpx2.InvalidURL])
def test_no_exception_of_either_transport_is_missed(root: type[BaseException]) -> None:
    without_own_rule = {httpx2.HTTPError, httpx2.HTTPStatusError, aiohttp.ClientError}
    for kind in kinds(root):
        if kind.__module__.startswith("tests") or kind in without_own_rule:
            continue
        assert any(qualified(base) in RULES for base in kind.__mro__), f"{kind} is not decided on"


def test_every_rule_and_every_bug_names_a_class_that_exists() -> None:
    for package in (openai, anthropic):
        load_all(package)
    roots = (Exception, aiohttp.ClientError, openai.OpenAIError, anthropic.AnthropicError)
    exist = {qualified(kind) for root in roots for kind in kinds(root)}
    # Raised by parts of one SDK that ask for packages not installed here.
    assert set(RULES) - exist <= {"openai.MissingDependencyError", "anthropic.MissingDependencyError"}
    assert exist >= BUGS


@pytest.mark.parametrize("kind", status_kinds(), ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_status_class_gets_the_verdict_of_its_status(kind: type[BaseException]) -> None:
    status = getattr(kind, "status_code", None)
    if not isinstance(status, int):
        status = {"APIStatusError": 418, "InternalServerError": 500}[kind.__name__]
    code = getattr(kind, "__annotations__", {}).get("error_code", "")
    name = code.partition('"')[2].partition('"')[0] if isinstance(code, str) else ""
    error = error_of(status, {}, json.dumps({"error": {"message": "m", "details": {"error_code": name}}}).encode())
    if as_completion(error) is not None:
        assert status == 413
        return
    decided = verdict(error, ENDPOINT).decision
    if name in ("contract_spend_limit_reached", "enforced_spend_limit_reached"):
        assert decided == "fatal"
    elif name in ("beta_request_body_timeout", "thread_continue_in_flight"):
        assert decided == "wait"
    else:
        waits = status in (408, 409, 425, 429, 499) or (status >= 500 and status != 501)
        assert decided == ("wait" if waits else "fatal")


def test_every_row_decides_some_error_and_names_its_source() -> None:
    words = ("", "flagged by", "prompt is too long", "credit balance", "roles must alternate", "request too large for",
             "json_schema", "unexpected endpoint or method", "free-models-per-day")  # fmt: skip
    codes = ("", *(min(row.codes) for row in ANSWERED if row.codes))
    errors = (
        ProviderError(status, text, code, html=page, inside_200=inside)
        for status in range(300, 530)
        for text in words
        for code in codes
        for page in (False, True)
        for inside in (False, True)
    )
    deciding = {next(row for row in ANSWERED if row.fits(error)) for error in errors}
    assert deciding == set(ANSWERED)
    assert all(row.source for row in ANSWERED)


def chained(*links: BaseException) -> BaseException:
    """The first exception, raised from the second, and so on."""
    for outer, inner in pairwise(links):
        outer.__cause__ = inner
    return links[0]


def validation_error() -> pydantic.ValidationError:
    try:
        pydantic.TypeAdapter(int).validate_python("x")
    except pydantic.ValidationError as error:
        return error
    raise AssertionError


CASES = [
    (chained(openai.APITimeoutError(REQUEST), httpx2.ConnectTimeout("t")), "wait", "none", "connect timeout"),
    (chained(openai.APITimeoutError(REQUEST), httpx2.ReadTimeout("t")), "wait", "unknown", "went silent"),
    (openai.APITimeoutError(REQUEST), "wait", "unknown", "timed out"),
    (anthropic.APITimeoutError(REQUEST), "wait", "unknown", "timed out"),
    (openai.APIConnectionError(request=REQUEST), "wait", "unknown", "failed"),
    (chained(anthropic.APIConnectionError(request=REQUEST), httpx2.ReadError("x")), "wait", "unknown", "cut off"),
    # What aiohttp's transport calls a connect timeout is a refused or broken connection below it.
    (
        chained(openai.APITimeoutError(REQUEST), httpx2.ConnectTimeout("t"), ConnectionRefusedError(111, "no")),
        "wait",
        "none",
        "nothing listens there",
    ),
    (
        chained(openai.APITimeoutError(REQUEST), httpx2.ConnectTimeout("t"), aiohttp.ServerDisconnectedError()),
        "wait",
        "unknown",
        "hung up",
    ),
    (
        chained(openai.APITimeoutError(REQUEST), httpx2.ConnectTimeout("t"), socket.gaierror(-2, "Name not known")),
        "wait",
        "none",
        "cannot be resolved",
    ),
    (
        chained(openai.APITimeoutError(REQUEST), httpx2.ConnectError("c"), ssl.SSLCertVerificationError("x")),
        "fatal",
        "none",
        "SSL_CERT_FILE",
    ),
    (json.JSONDecodeError("x", "y", 0), "wait", "unknown", "decoded"),
    (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), "wait", "unknown", "decoded"),
    (validation_error(), "wait", "unknown", "shape"),
    (ConnectionResetError(errno.ECONNRESET, "reset"), "wait", "unknown", "cut off"),
    (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), "wait", "none", "nothing listens"),
    (OSError(errno.EMFILE, "Too many open files"), "wait", "none", "Too many open files"),
    (TimeoutError(), "wait", "unknown", "timed out"),
    (RecursionError(), "wait", "unknown", "nested too deeply"),
    (httpx2.DecodingError("bad gzip"), "wait", "unknown", "decoded"),
    (httpx2.UnsupportedProtocol("x"), "fatal", "none", "no http address"),
    (httpx2.PoolTimeout("x"), "wait", "none", "no free connection"),
    (anthropic.CredentialsError("none"), "fatal", "none", "credentials"),
    (anthropic.RetryableError("again"), "wait", "unknown", "another try"),
    (openai.OpenAIError("Missing credentials"), "fatal", "none", "Missing credentials"),
    (openai.APIError("in a stream", REQUEST, body=None), "wait", "unknown", "reported an error"),
]  # fmt: skip


@pytest.mark.parametrize(("exc", "decision", "billing", "words"), CASES, ids=lambda value: type(value).__name__)
def test_each_exception_means_one_thing(exc: BaseException, decision: str, billing: str, words: str) -> None:
    failed = decide(exc, ENDPOINT)
    assert failed is not None
    assert (failed.decision, failed.billing, failed.limited) == (decision, billing, False)
    assert words in failed.cause
    assert ENDPOINT.base_url in failed.cause
    assert "\n" not in failed.cause


@pytest.mark.parametrize(
    "exc",
    [
        TypeError("a bug"),
        KeyError("choices"),
        AttributeError("x"),
        ValueError("x"),
        openai.WebSocketQueueFullError("x"),
        anthropic._response.StreamAlreadyConsumed(),
    ],
)
def test_a_bug_is_no_provider_failure(exc: Exception) -> None:
    assert decide(exc, ENDPOINT) is None


def test_a_bug_while_a_failure_is_handled_is_still_a_bug() -> None:
    bug = TypeError("a bug")
    bug.__context__ = ConnectionResetError()
    assert decide(bug, ENDPOINT) is None


def test_a_secret_in_an_exception_is_blotted_out() -> None:
    failed = decide(OSError(errno.EIO, "cannot send abc-very-secret"), ENDPOINT, secret="abc-very-secret")
    assert failed is not None
    assert "very" not in failed.cause
    assert "[key]" in failed.cause


def test_a_failure_is_read_only_and_travels_between_processes() -> None:
    failed = CallFailed("wait", "busy", wait=1.5, billing="none", status=429)
    again = pickle.loads(pickle.dumps(failed))
    for name in ("decision", "cause", "wait", "limited", "billing", "status"):
        assert getattr(again, name) == getattr(failed, name)
        with pytest.raises(AttributeError):
            setattr(failed, name, None)
    assert str(again) == "busy"
