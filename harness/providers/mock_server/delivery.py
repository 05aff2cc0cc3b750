"""Putting a response on the wire: whole, dripping, cut, compressed and cut, or not at all.

Owns what happens to bytes. Knows neither models nor the fault plan's conditions.
"""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web

from weigh.harness.providers.mock_server.actions import Cut, Drip, GzipCut, Hang
from weigh.harness.providers.mock_server.counters import CUT

JSON_TYPE = "application/json"
_LINGER_NOT_AT_ALL = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Sent:
    """A response that has been written as far as it ever will be."""

    response: web.StreamResponse
    outcome: str
    """In the words of `counters`: its status once it is whole, or CUT or GONE."""


async def whole(
    request: web.Request, status: int, body: bytes, headers: Mapping[str, str], content_type: str = JSON_TYPE
) -> Sent:
    """The response as it should be."""
    response = web.Response(status=status, body=body, headers={"Content-Type": content_type, **headers})
    await response.prepare(request)
    await response.write_eof()
    return Sent(response, str(status))


async def dripping(request: web.Request, body: bytes, headers: Mapping[str, str], action: Drip) -> Sent:
    """The body a little at a time; or newlines, which JSON allows before a value, and then the body."""
    response = web.StreamResponse(headers={"Content-Type": JSON_TYPE, **headers})
    response.enable_chunked_encoding()
    await response.prepare(request)
    if action.lasting is None:
        for start in range(0, len(body), action.size):
            await response.write(body[start : start + action.size])
            await asyncio.sleep(action.interval)
    else:
        loop = asyncio.get_running_loop()
        end = loop.time() + action.lasting
        while loop.time() < end:
            await response.write(b"\n" * action.size)
            await asyncio.sleep(min(action.interval, max(0.0, end - loop.time())))
        await response.write(body)
    await response.write_eof()
    return Sent(response, "200")


async def cut_off(request: web.Request, body: bytes, headers: Mapping[str, str], action: Cut) -> Sent:
    """The first bytes of the body under the full length, then the end of the connection."""
    response = web.StreamResponse(headers={"Content-Type": JSON_TYPE, **headers})
    if action.after is not None:
        # Always more than is sent, or the response would be whole.
        response.content_length = max(len(body), action.after + 1)
        await response.prepare(request)
        if action.after:
            await response.write(body[: action.after].ljust(action.after))
    end_connection(request, reset=action.how == "reset")
    return Sent(response, CUT)


async def gzip_cut_off(request: web.Request, body: bytes, headers: Mapping[str, str], action: GzipCut) -> Sent:
    """A compressed body that ends too soon, in a response that is whole as far as HTTP can tell."""
    packed = gzip.compress(body, mtime=0)
    cut = packed[: max(1, len(packed) - action.missing)]
    return await whole(request, 200, cut, {"Content-Encoding": "gzip", **headers})


async def silence(request: web.Request, headers: Mapping[str, str], action: Hang) -> Sent:
    """Nothing, or nothing after the headers. Ends only by cancellation, when the client leaves or the server stops."""
    if action.after_headers:
        response = web.StreamResponse(headers={"Content-Type": JSON_TYPE, **headers})
        response.enable_chunked_encoding()
        await response.prepare(request)
    await asyncio.Event().wait()
    raise AssertionError("nobody sets this event")


def end_connection(request: web.Request, *, reset: bool) -> None:
    """Close the request's connection, in order or with a reset."""
    transport = request.transport
    if transport is None or transport.is_closing():
        return
    if not reset:
        transport.close()
        return
    handle = transport.get_extra_info("socket")
    if handle is not None:
        # Without lingering, closing sends RST instead of FIN.
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT_AT_ALL)
    transport.abort()
