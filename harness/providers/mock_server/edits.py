"""Changing a response body by path: `choices.0.message.role`.

Owns the paths. A path that leads nowhere is an error, so that a plan never silently does nothing.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from typing import Any


class PathMissing(ValueError):
    """A path does not lead to a place in this body."""


def edited(
    body: Mapping[str, Any], *, put: Mapping[str, Any], nullify: Collection[str] = (), drop: Collection[str] = ()
) -> dict[str, Any]:
    """A copy of `body` with values put, made null and left out. New keys may be put into objects, not into lists.

    Raises PathMissing.
    """
    if not (put or nullify or drop):
        return dict(body)
    changed: dict[str, Any] = copy.deepcopy(dict(body))
    for path, value in [*put.items(), *((path, None) for path in nullify)]:
        parent, last = _parent(changed, path)
        parent[last] = value
    for path in drop:
        parent, last = _parent(changed, path)
        if isinstance(parent, dict) and last not in parent:
            raise PathMissing(f"{path!r}: there is no {last!r} in the response")
        del parent[last]
    return changed


def _parent(body: Any, path: str) -> tuple[Any, Any]:
    """The container that the path's last step is in, and that step as a key or an index."""
    *steps, last = path.split(".")
    for step in steps:
        body = body[_key(body, step, path)]
    return body, _key(body, last, path, new=True)


def _key(container: Any, step: str, path: str, *, new: bool = False) -> Any:
    if isinstance(container, dict) and (new or step in container):
        return step
    if isinstance(container, list) and step.isascii() and step.isdigit() and int(step) < len(container):
        return int(step)
    raise PathMissing(f"{path!r}: there is no {step!r} in the response")
