"""The routes of the mock server.

`POST /v1/chat/completions`, `/v1/responses` and `/v1/messages` answer as the providers do; `GET /v1/models` lists the
models in the form the client's headers ask for. `GET /health`, `/stats`, `/log` and `POST /reset`, `/plan` are the
server's own. Every provider route also exists below `/tag/NAME`, so that clients can be counted apart by their base URL
alone.

Owns the routes and the models list. What happens to a question is in `handling`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from aiohttp import web

from weigh.harness.providers.mock_server.handling import Handling
from weigh.harness.providers.mock_server.options import Options
from weigh.harness.providers.mock_server.rules import read_plan
from weigh.harness.providers.mock_server.wire import APIS, EPOCH, anthropic_error, openai_error

_LARGEST_REQUEST = 32 * 1024**2
"""Bytes of a request body; larger ones are answered with 413."""


def build_app(options: Options, handling: Handling, connections: Callable[[], int]) -> web.Application:
    """The application. `connections` tells how many are open now."""

    async def models(request: web.Request) -> web.Response:
        data = [_listed(request, name) for name in options.models]
        if _anthropic(request):
            ends = {"first_id": options.models[0], "last_id": options.models[-1]}
            return web.json_response({"data": data, "has_more": False, **ends})
        return web.json_response({"object": "list", "data": data})

    async def model(request: web.Request) -> web.Response:
        name = request.match_info["model"]
        if options.only_listed and name not in options.models:
            return _not_found(request, f"model: {name}")
        return web.json_response(_listed(request, name))

    async def health(request: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def stats(request: web.Request) -> web.Response:
        # The connection that asks is not one of those asked about.
        return web.json_response(handling.counters.snapshot(max(0, connections() - 1)))

    async def log(request: web.Request) -> web.Response:
        return web.json_response(list(handling.counters.log))

    async def reset(request: web.Request) -> web.Response:
        handling.reset()
        return await health(request)

    async def plan(request: web.Request) -> web.Response:
        try:
            handling.follow(read_plan(json.loads(await request.read())))
        except ValueError as error:
            return web.json_response(openai_error(400, str(error)), status=400)
        return await health(request)

    async def other(request: web.Request) -> web.Response:
        return _not_found(request, f"Invalid URL ({request.method} {request.path})")

    app = web.Application(client_max_size=_LARGEST_REQUEST)
    for prefix in ("", "/tag/{tag}"):
        for api in APIS:
            app.router.add_post(prefix + api.path, partial(handling.answer, api=api))
        app.router.add_get(f"{prefix}/v1/models", models)
        app.router.add_get(f"{prefix}/v1/models/{{model:.+}}", model)
    app.router.add_get("/health", health)
    app.router.add_get("/stats", stats)
    app.router.add_get("/log", log)
    app.router.add_post("/reset", reset)
    app.router.add_post("/plan", plan)
    app.router.add_route("*", "/{path:.*}", other)
    return app


def _anthropic(request: web.Request) -> bool:
    """Both providers serve `/v1/models`; Anthropic's clients say which version of the API they speak."""
    return "anthropic-version" in request.headers


def _listed(request: web.Request, name: str) -> dict[str, Any]:
    if _anthropic(request):
        created = datetime.fromtimestamp(EPOCH, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {"type": "model", "id": name, "display_name": name, "created_at": created, "lifecycle": "active"}
    return {"id": name, "object": "model", "created": EPOCH, "owned_by": "mock-server"}


def _not_found(request: web.Request, message: str) -> web.Response:
    body = anthropic_error(404, message) if _anthropic(request) else openai_error(404, message)
    return web.json_response(body, status=404)
