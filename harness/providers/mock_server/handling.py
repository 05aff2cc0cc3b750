"""One request from arrival to the last byte: read it, ask the plan, compose the answer, deliver it, count it.

Owns that order, the server's state (plan at work, counters), and what happens to bytes: sent whole, dripping, cut,
compressed and cut, or not at all. Knows no routes and opens no socket.

This server stands on aiohttp rather than on an ASGI application, since a fault plan needs what ASGI hides: the
connection itself to cut or reset, and bodies that are not what their headers announce.
"""

from __future__ import annotations

import asyncio
import copy
import gzip
import json
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from aiohttp import web

from weigh.harness.providers.mock_server.caches import Caches
from weigh.harness.providers.mock_server.counters import CUT, GONE, UNREADABLE, Counters
from weigh.harness.providers.mock_server.exchange import Call, Draws, RequestRefused
from weigh.harness.providers.mock_server.fault_plan import FaultPlan
from weigh.harness.providers.mock_server.options import Options, parse_faults, parse_latency
from weigh.harness.providers.mock_server.replies import compose
from weigh.harness.providers.mock_server.rules import (
    Cut,
    Drip,
    ErrorIn200,
    GzipCut,
    Hang,
    Html,
    Limit,
    Malformed,
    NullChoices,
    Plan,
    Reply,
    Respond,
    Rule,
)
from weigh.harness.providers.mock_server.wire import Api, usage_in

_JSON = "application/json"
_ORDINARY = Reply()
_DROPPED = object()
_LINGER_NOT_AT_ALL = struct.pack("ii", 1, 0)


class Sent(NamedTuple):
    """A response that has been written as far as it ever will be."""

    response: web.StreamResponse
    outcome: str
    """In the words of `counters`: its status once it is whole, or CUT or GONE."""


class Handling:
    """The state of one server, and its answer to a request."""

    def __init__(self, options: Options, clock: Callable[[], float]) -> None:
        self._options = options
        self._clock = clock
        self._latency = parse_latency(options.latency)
        self._faults = parse_faults(options.faults)
        self.counters = Counters(options.log_size)
        self._caches = Caches()
        self.follow(options.plan)

    def follow(self, plan: Plan) -> None:
        """Follow another plan from now on; its clock and counts start at zero."""
        self._plan = plan
        self._at_work = FaultPlan(self._options.all_rules(plan), self._options.seed, self._clock())

    def reset(self) -> None:
        """As if just started: statistics, log, caches, and the plan's clock and counts."""
        self.follow(self._plan)
        self.counters.reset()
        self._caches = Caches()

    async def answer(self, request: web.Request, api: Api) -> web.StreamResponse:
        """Answer one request. Everything is sent, or the connection has ended, when this returns."""
        tag = request.match_info.get("tag", "")
        self.counters.came(api.wire, tag)
        outcome = GONE
        try:
            sent = await self._read(request, api, tag)
            outcome = sent.outcome
            return sent.response
        except ConnectionResetError:
            return web.StreamResponse()  # the client left while the response was written: nobody reads this one
        except Exception:
            outcome = "500"  # what aiohttp makes of a mistake of ours
            raise
        finally:
            self.counters.left(outcome)

    async def _read(self, request: web.Request, api: Api, tag: str) -> Sent:
        """Read the request, and answer it if it can be read."""
        try:
            call = api.read(await request.read())
        except RequestRefused as error:
            refused = error
        except web.HTTPRequestEntityTooLarge as error:
            refused = RequestRefused(error.text or "the request is too large", status=413)
        else:
            return await self._decide(request, api, call, tag)
        self.counters.understood(UNREADABLE, None)
        return await _whole(request, refused.status, api.error(refused, "req_"), {})

    async def _decide(self, request: web.Request, api: Api, call: Call, tag: str) -> Sent:
        """Ask the plan, and do what it says."""
        verdict = self._at_work.decide(call, tag, self._clock(), self.counters.busy)
        self.counters.understood(call.model, verdict.name)
        headers = {api.request_id_header: call.request_id, **verdict.headers}
        busy = not isinstance(verdict.rule, Limit)
        if busy:
            self.counters.begin(call.model)
        outcome = GONE
        try:
            try:
                sent = await self._perform(request, api, call, verdict.rule, headers)
            except RequestRefused as refused:
                sent = await _whole(request, refused.status, api.error(refused, call.request_id), headers)
            outcome = sent.outcome
            return sent
        finally:
            if busy:
                self.counters.end(call.model)
            self.counters.keep(call, tag, verdict.name, outcome)

    async def _perform(
        self, request: web.Request, api: Api, call: Call, rule: Rule | None, headers: Mapping[str, str]
    ) -> Sent:
        """Do what the rule says, or answer. Raises RequestRefused."""
        if rule is None and self._options.only_listed and call.model not in self._options.models:
            says = f"The model `{call.model}` does not exist or you do not have access to it."
            raise RequestRefused(f"model: {call.model}" if api.wire == "messages" else says, status=404)
        if isinstance(rule, Limit):
            raise RequestRefused("Rate limit reached: too many requests", status=429)
        if isinstance(rule, Respond | Html | ErrorIn200 | Hang):
            await asyncio.sleep(rule.delay or 0)
            return await _respond(request, api, rule, headers)
        draws = Draws(self._options.seed, call.digest)
        reply = rule if isinstance(rule, Reply) else _ORDINARY
        kind = reply.kind if rule else self._faults.reply(draws.fraction("fault")) or reply.kind
        if kind == "timed_out":
            return await _silence(request, headers, Hang())
        used = self._caches.use(call)
        call = replace(call, cached_tokens=used.read, written_tokens=used.written)
        body = _changed(api.render(call, compose(call, self._options, kind, reply.text)), reply)
        await asyncio.sleep(
            self._latency(draws.fraction("latency")) if rule is None or rule.delay is None else rule.delay
        )
        sent = await _deliver(request, body, headers, rule)
        if sent.outcome == "200":
            readable = rule is None or isinstance(rule, Reply | Drip)
            self.counters.answered(call.digest, usage_in(body) if readable else None)
        return sent


def _changed(body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    """The body with values set, made null and left out as the rule says.

    A path that leads nowhere refuses the request with 500, so that a plan never silently does nothing.
    """
    if not (reply.set or reply.nullify or reply.drop):
        return body
    changed = copy.deepcopy(body)
    edits: dict[str, Any] = {**reply.set, **dict.fromkeys(reply.nullify), **dict.fromkeys(reply.drop, _DROPPED)}
    for path, value in edits.items():
        *steps, last = path.split(".")
        try:
            place: Any = changed
            for step in steps:
                place = place[_key(place, step)]
            if value is _DROPPED:
                del place[_key(place, last)]
            else:
                place[_key(place, last)] = value
        except (LookupError, TypeError, ValueError) as error:
            says = f"the fault plan cannot be followed: there is no place {path!r} in the response"
            raise RequestRefused(says, status=500) from error
    return changed


def _key(place: Any, step: str) -> str | int:
    return int(step) if isinstance(place, list) else step


async def _respond(
    request: web.Request, api: Api, rule: Respond | Html | ErrorIn200 | Hang, headers: Mapping[str, str]
) -> Sent:
    """A response that does not depend on what was asked."""
    if isinstance(rule, Hang):
        return await _silence(request, headers, rule)
    if isinstance(rule, Html):
        return await _whole(request, rule.status, _page(rule), headers, "text/html; charset=utf-8")
    if isinstance(rule, ErrorIn200):
        return await _whole(request, 200, {"error": {"code": rule.code, "message": rule.message}}, headers)
    body: Any = rule.body
    if body is None:
        refused = RequestRefused(rule.message, status=rule.status)
        body = api.error(refused, headers[api.request_id_header])
    elif isinstance(body, str):
        body = body.encode()
    usual = "text/plain; charset=utf-8" if isinstance(body, bytes) else _JSON
    return await _whole(request, rule.status, body, {**headers, **rule.headers}, rule.content_type or usual)


async def _deliver(request: web.Request, body: dict[str, Any], headers: Mapping[str, str], rule: Rule | None) -> Sent:
    """Send the answer the way the rule says."""
    data = _encoded(body)
    match rule:
        case NullChoices():
            return await _whole(request, 200, dict.fromkeys(body), headers)
        case Malformed():
            broken = data[: len(data) // 2] if rule.what == "json" else data.replace(b'"', b'"\xff', 1)
            return await _whole(request, 200, broken, headers)
        case Drip():
            return await _dripping(request, data, headers, rule)
        case Cut():
            return await _cut_off(request, data, headers, rule)
        case GzipCut():
            # Ends too soon, in a response that is whole as far as HTTP can tell.
            packed = gzip.compress(data, mtime=0)
            cut = packed[: max(1, len(packed) - rule.missing)]
            return await _whole(request, 200, cut, {"Content-Encoding": "gzip", **headers})
        case _:
            return await _whole(request, 200, data, headers)


async def _whole(
    request: web.Request, status: int, body: Any, headers: Mapping[str, str], content_type: str = _JSON
) -> Sent:
    """The response as it should be: bytes as they are, anything else as JSON."""
    data = body if isinstance(body, bytes) else _encoded(body)
    response = web.Response(status=status, body=data, headers={"Content-Type": content_type, **headers})
    await response.prepare(request)
    await response.write_eof()
    return Sent(response, str(status))


async def _dripping(request: web.Request, body: bytes, headers: Mapping[str, str], rule: Drip) -> Sent:
    """The body a little at a time; or newlines, which JSON allows before a value, and then the body."""
    response = await _opened(request, headers)
    if rule.lasting is None:
        for start in range(0, len(body), rule.size):
            await response.write(body[start : start + rule.size])
            await asyncio.sleep(rule.interval)
    else:
        loop = asyncio.get_running_loop()
        end = loop.time() + rule.lasting
        while loop.time() < end:
            await response.write(b"\n" * rule.size)
            await asyncio.sleep(min(rule.interval, max(0.0, end - loop.time())))
        await response.write(body)
    await response.write_eof()
    return Sent(response, "200")


async def _cut_off(request: web.Request, body: bytes, headers: Mapping[str, str], rule: Cut) -> Sent:
    """The first bytes of the body under the full length, then the end of the connection."""
    response = web.StreamResponse(headers={"Content-Type": _JSON, **headers})
    if rule.after is not None:
        # Always more than is sent, or the response would be whole.
        response.content_length = max(len(body), rule.after + 1)
        await response.prepare(request)
        if rule.after:
            await response.write(body[: rule.after].ljust(rule.after))
    transport = request.transport
    if transport is not None and not transport.is_closing():
        if rule.how == "close":
            transport.close()
        else:
            if handle := transport.get_extra_info("socket"):
                # Without lingering, closing sends RST instead of FIN.
                handle.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT_AT_ALL)
            transport.abort()
    return Sent(response, CUT)


async def _silence(request: web.Request, headers: Mapping[str, str], rule: Hang) -> Sent:
    """Nothing, or nothing after the headers. Ends only by cancellation, when the client leaves or the server stops."""
    if rule.after_headers:
        await _opened(request, headers)
    await asyncio.Event().wait()
    raise AssertionError("nothing sets this event")


async def _opened(request: web.Request, headers: Mapping[str, str]) -> web.StreamResponse:
    """Status 200 and the headers of a body in chunks."""
    response = web.StreamResponse(headers={"Content-Type": _JSON, **headers})
    response.enable_chunked_encoding()
    await response.prepare(request)
    return response


def _encoded(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _page(rule: Html) -> bytes:
    title = "Sign in" if rule.status < 400 else f"{rule.status} Error"
    page = f"<!DOCTYPE html>\n<html><head><title>{title}</title></head><body><h1>{title}</h1>".encode()
    end = b"</body></html>\n"
    return page + b"<p>padding</p>\n" * (max(0, rule.size - len(page) - len(end) + 14) // 15) + end
