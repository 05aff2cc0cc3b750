"""One request from arrival to the last byte: read it, ask the plan, compose the answer, deliver it, count it.

Owns that order and the server's state (plan at work, counters). Knows no routes and opens no socket.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from weigh.harness.providers.mock_server import actions
from weigh.harness.providers.mock_server.answers import compose
from weigh.harness.providers.mock_server.apis import Api, request_id
from weigh.harness.providers.mock_server.counters import GONE, UNREADABLE, Counters, log_entry
from weigh.harness.providers.mock_server.delivery import Sent, cut_off, dripping, gzip_cut_off, silence, whole
from weigh.harness.providers.mock_server.dice import Dice
from weigh.harness.providers.mock_server.edits import PathMissing, edited
from weigh.harness.providers.mock_server.exchange import Asked, RequestRefused
from weigh.harness.providers.mock_server.options import Options
from weigh.harness.providers.mock_server.plan import Plan
from weigh.harness.providers.mock_server.schema_values import SchemaUnsupported
from weigh.harness.providers.mock_server.script import Script, Verdict
from weigh.harness.providers.mock_server.usage import told

_ORDINARY = actions.Reply()


class Serving:
    """The state of one server, and its answer to a request."""

    def __init__(self, options: Options, clock: Callable[[], float]) -> None:
        self._options = options
        self._clock = clock
        self._latency = options.parsed_latency
        self._faults = options.parsed_faults
        self._manner = options.manner
        self._plan = options.plan
        self._script = self._fresh_script()
        self.counters = Counters(options.log_size)

    def follow(self, plan: Plan) -> None:
        """Follow another plan from now on; its clock and counts start at zero."""
        self._plan = plan
        self._script = self._fresh_script()

    def reset(self) -> None:
        """As if just started: statistics, log, and the plan's clock and counts."""
        self._script = self._fresh_script()
        self.counters.reset()

    def _fresh_script(self) -> Script:
        rules = (*self._options.ceiling_rules(), *self._plan.rules, *self._faults.rules)
        return Script(Plan(rules=rules), self._options.seed, self._clock())

    async def answer(self, request: web.Request, api: Api) -> web.StreamResponse:
        """Answer one request. Everything is sent, or the connection has ended, when this returns."""
        tag = request.match_info.get("tag", "")
        self.counters.came(api.wire, tag)
        outcome = GONE
        try:
            sent = await self._heard(request, api, tag)
            outcome = sent.outcome
            return sent.response
        except ConnectionResetError:
            return web.StreamResponse()  # the client left while the response was written: nobody reads this one
        except Exception:
            outcome = "500"  # what aiohttp makes of a mistake of ours
            raise
        finally:
            self.counters.left(outcome)

    async def _heard(self, request: web.Request, api: Api, tag: str) -> Sent:
        """Read the request, and answer it if it can be read."""
        try:
            asked = api.read(await request.read())
        except RequestRefused as refused:
            status, body = 400, api.error(400, refused.message, request_id(""), refused.param, refused.code)
        except web.HTTPRequestEntityTooLarge as refused:
            status, body = 413, api.error(413, refused.text or "the request is too large", request_id(""))
        else:
            return await self._answer(request, api, asked, tag)
        self.counters.understood(UNREADABLE, None)
        return await whole(request, status, _encoded(body), {})

    async def _answer(self, request: web.Request, api: Api, asked: Asked, tag: str) -> Sent:
        verdict = self._script.decide(asked, tag, self._clock(), self.counters.busy)
        self.counters.understood(asked.model, verdict.rule)
        counted = not isinstance(verdict.action, actions.Limit)
        if counted:
            self.counters.begin(asked.model)
        outcome = GONE
        try:
            sent = await self._perform(request, api, asked, verdict)
            outcome = sent.outcome
            return sent
        finally:
            if counted:
                self.counters.end(asked.model)
            self.counters.log.append(log_entry(asked, tag, verdict.rule, outcome))

    async def _perform(self, request: web.Request, api: Api, asked: Asked, verdict: Verdict) -> Sent:
        """Do what the verdict says."""
        headers = {api.request_id_header: request_id(asked.digest), **verdict.headers}
        action = verdict.action
        if action is None and self._options.only_listed and asked.model not in self._options.models:
            return await whole(request, 404, _encoded(api.no_such_model(asked)), headers)
        if isinstance(action, actions.Limit):
            body = api.error(429, "Rate limit reached: too many requests", headers[api.request_id_header])
            return await whole(request, 429, _encoded(body), headers)
        if isinstance(action, actions.Respond):
            return await _respond(request, api, action, headers)
        if isinstance(action, actions.Html):
            await _pause(action.delay)
            return await whole(request, action.status, _page(action), headers, "text/html; charset=utf-8")
        if isinstance(action, actions.ErrorIn200):
            await _pause(action.delay)
            error = {"error": {"code": action.code, "message": action.message}}
            return await whole(request, 200, _encoded(error), headers)
        if isinstance(action, actions.Hang):
            await _pause(action.delay)
            return await silence(request, headers, action)
        return await self._reply(request, api, asked, action or _ORDINARY, headers, by_plan=action is not None)

    async def _reply(
        self,
        request: web.Request,
        api: Api,
        asked: Asked,
        action: actions.Action,
        headers: Mapping[str, str],
        *,
        by_plan: bool,
    ) -> Sent:
        """Compose an answer and deliver it the way the action says."""
        dice = Dice(self._options.seed, asked.digest)
        reply = action if isinstance(action, actions.Reply) else _ORDINARY
        fault = None if by_plan or not self._faults.replies else self._faults.reply(dice.fraction("fault"))
        if fault == "timed_out":
            return await silence(request, headers, actions.Hang())
        try:
            answer = compose(asked, dice, self._manner, fault or reply.kind, reply.text)
            body = edited(api.render(asked, answer), put=reply.set, nullify=reply.nullify, drop=reply.drop)
        except SchemaUnsupported as error:
            refusal = api.error(400, f"Invalid schema: {error}", request_id(asked.digest))
            return await whole(request, 400, _encoded(refusal), headers)
        except PathMissing as error:
            mistake = api.error(500, f"the fault plan cannot be followed: {error}", request_id(asked.digest))
            return await whole(request, 500, _encoded(mistake), headers)
        delay = self._latency.seconds(dice.fraction("latency")) if action.delay is None else action.delay
        await _pause(delay)
        sent = await _deliver(request, body, headers, action)
        if sent.outcome == "200":
            readable = isinstance(action, (actions.Reply, actions.Drip))
            self.counters.answered(asked.digest, told(api.wire, body) if readable else None)
        return sent


async def _respond(request: web.Request, api: Api, action: actions.Respond, headers: Mapping[str, str]) -> Sent:
    await _pause(action.delay)
    content_type = action.content_type
    if action.body is None:
        body = _encoded(api.error(action.status, action.message, headers[api.request_id_header]))
    elif isinstance(action.body, str):
        body = action.body.encode()
        content_type = content_type or "text/plain; charset=utf-8"
    else:
        body = _encoded(action.body)
    return await whole(request, action.status, body, {**headers, **action.headers}, content_type or "application/json")


async def _deliver(
    request: web.Request, body: dict[str, Any], headers: Mapping[str, str], action: actions.Action
) -> Sent:
    data = _encoded(body)
    if isinstance(action, actions.NullChoices):
        return await whole(request, 200, _encoded(dict.fromkeys(body)), headers)
    if isinstance(action, actions.Malformed):
        broken = data[: len(data) // 2] if action.what == "json" else data.replace(b'"', b'"\xff', 1)
        return await whole(request, 200, broken, headers)
    if isinstance(action, actions.Drip):
        return await dripping(request, data, headers, action)
    if isinstance(action, actions.Cut):
        return await cut_off(request, data, headers, action)
    if isinstance(action, actions.GzipCut):
        return await gzip_cut_off(request, data, headers, action)
    return await whole(request, 200, data, headers)


async def _pause(seconds: float | None) -> None:
    if seconds:
        await asyncio.sleep(seconds)


def _encoded(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _page(action: actions.Html) -> bytes:
    title = "Sign in" if action.status < 400 else f"{action.status} Error"
    page = f"<!DOCTYPE html>\n<html><head><title>{title}</title></head><body><h1>{title}</h1>".encode()
    end = b"</body></html>\n"
    return page + b"<p>padding</p>\n" * (max(0, action.size - len(page) - len(end) + 14) // 15) + end
