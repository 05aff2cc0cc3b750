"""The live pages over HTTP: which address leads where, and which requests are refused.

Owns the routes. A page is found by a token in its address that cannot be guessed; without it there is nothing here
(404). A request for another host name is refused (403), so that no name that leads to this machine opens them to a
stranger's page. Nothing may be read across origins, framed, kept, or fetched from elsewhere; an address is sent nowhere
as a referrer. A move is taken only from the page itself, as JSON.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weigh.harness.web.live.seat import Closed

LARGEST_ANSWER: Final = 16_384
"""Bytes of a posted move."""

STREAMS: Final = 32
"""Open streams of one page."""

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


class Page(Protocol):
    """One page: its file, its stream, and how it takes an answer."""

    def html(self) -> tuple[str, str]:
        """The file, and the Content-Security-Policy to send with it."""

    def stream(self, episode: str | None) -> AsyncIterator[str]:
        """Server-sent events, until the end."""

    def answer(self, number: int, line: str) -> str | None:
        """Take a move; says why when it is refused. Raises Closed where no question is open."""


@dataclass(slots=True)
class Placed:
    """A page under its token."""

    token: str
    page: Page
    streams: int = 0


class Site:
    """Every page there is. Pages are added before or while it is served."""

    def __init__(self) -> None:
        self._pages: list[Placed] = []

    def add(self, page: Page) -> str:
        """Give a page a token; returns its path, `/TOKEN/`."""
        placed = Placed(secrets.token_urlsafe(24), page)
        self._pages.append(placed)
        return f"/{placed.token}/"

    @property
    def streams(self) -> int:
        """Streams that are open."""
        return sum(placed.streams for placed in self._pages)

    def app(self, hosts: tuple[str, ...]) -> ASGIApp:
        """The application, for requests to one of `hosts` (`127.0.0.1:8000`)."""
        routes = [
            Route("/{token}/", self._page, methods=["GET"]),
            Route("/{token}/events", self._events, methods=["GET"]),
            Route("/{token}/move", self._move, methods=["POST"]),
        ]
        inner = Starlette(routes=routes, exception_handlers={404: _nothing, 405: _nothing})
        inner.router.redirect_slashes = False
        return _Guard(inner, hosts)

    def _at(self, request: Request) -> Placed:
        """The page whose token the address has. Raises HTTPException (404) without one."""
        given = request.path_params["token"].encode("utf-8", "surrogateescape")
        found = None
        for placed in self._pages:  # every one is compared, so that time tells nothing
            if secrets.compare_digest(placed.token.encode(), given):
                found = placed
        if found is None:
            raise HTTPException(404)
        return found

    async def _page(self, request: Request) -> Response:
        text, policy = self._at(request).page.html()
        return Response(text, media_type="text/html", headers={"Content-Security-Policy": policy})

    async def _events(self, request: Request) -> Response:
        placed = self._at(request)
        if placed.streams >= STREAMS:
            return PlainTextResponse("too many pages are open\n", status_code=503)
        return StreamingResponse(
            _counted(placed, request.query_params.get("episode")), media_type="text/event-stream; charset=utf-8"
        )

    async def _move(self, request: Request) -> Response:
        placed = self._at(request)
        if not _own(request):
            raise HTTPException(404)
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > LARGEST_ANSWER:
                return JSONResponse({"refused": "that is too long for a move"}, status_code=413)
        try:
            given = json.loads(body)
            number, line = given["question"], given["line"]
        except (ValueError, TypeError, KeyError, RecursionError):
            number, line = None, None
        if not isinstance(number, int) or not isinstance(line, str):
            return JSONResponse({"refused": "no move can be read from that"}, status_code=400)
        try:
            refused = placed.page.answer(number, line)
        except Closed:
            return JSONResponse({"refused": "that question is not open any more"}, status_code=409)
        return JSONResponse({"refused": refused})


async def _counted(placed: Placed, episode: str | None) -> AsyncIterator[str]:
    placed.streams += 1
    try:
        async for text in placed.page.stream(episode):
            yield text
    finally:
        placed.streams -= 1


def _own(request: Request) -> bool:
    """Whether a post comes from the page itself: as JSON, which no form can send, and from no other origin."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site", "same-origin")
    return (
        kind == "application/json"
        and origin in (None, f"http://{request.headers.get('host', '')}")
        and site == "same-origin"
    )


def _nothing(request: Request, error: Exception) -> Response:
    return PlainTextResponse("there is nothing here\n", status_code=404)


@dataclass(frozen=True, slots=True)
class _Guard:
    """In front of everything: the host name a request must be for, and the headers every answer has."""

    inner: ASGIApp
    hosts: tuple[str, ...]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        names = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(names) != 1 or names[0].lower() not in self.hosts:
            refusal = PlainTextResponse("this address is for this machine alone\n", status_code=403)
            await refusal(scope, receive, _with_headers(send))
            return
        await self.inner(scope, receive, _with_headers(send))


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message["headers"]}
            added = [
                (name.encode(), value.encode())
                for name, value in HEADERS.items()
                if name.lower().encode() not in present
            ]
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return sending
