"""JSON Schemas as an endpoint takes them: games write full JSON Schema, and some providers enforce a part of it.

Owns the weaker writing of what a provider does not take. Knows no game. A weaker schema admits more than the rules do;
what comes back is put to the rules either way.
"""

from __future__ import annotations

from collections.abc import Mapping

from games.game import Json


def without_tuples(schema: Mapping[str, Json]) -> dict[str, Json]:
    """`schema` with every `prefixItems` written as `items`: each place of such a list takes what any of them takes.

    Bounds on the length stay, so a list keeps its number of items and loses their order.
    """
    weaker = {key: _weakened(value) for key, value in schema.items() if key != "prefixItems"}
    places = schema.get("prefixItems")
    if isinstance(places, list | tuple):
        options: list[Json] = []
        for place in map(_weakened, places):
            if place not in options:
                options.append(place)
        weaker["items"] = options[0] if len(options) == 1 else {"anyOf": options}
    return weaker


def _weakened(value: Json) -> Json:
    if isinstance(value, Mapping):
        return without_tuples(value)
    if isinstance(value, list | tuple):
        return [_weakened(item) for item in value]
    return value
