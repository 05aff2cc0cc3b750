"""Numbers, intervals, shares, times, money, foreign text and wrong values as short words: one notation each.

Owns formatting only. Knows nothing of runs, and no terminal but its encoding. Names are suggested in messages only:
nothing is ever looked up by likeness.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time
from typing import Final, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from weigh.games.values import nearest, quote
from weigh.policies.contract import Fault
from weigh.policies.show import one_line


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'match'?` for a near miss, else `; known: hoard, match`; empty when nothing is known."""
    words = sorted(known)
    return nearest(word, words) or (f"; known: {', '.join(words)}" if words else "")


def shown(text: str, encoding: str = "utf-8", limit: int = 300) -> str:
    """`text` on one line, harmless to a terminal, cut to about `limit` characters, and writable in `encoding`."""
    line = text if len(text) <= limit and text.isascii() and text.isprintable() else one_line(text, limit)
    return line.encode(encoding, "backslashreplace").decode(encoding)


def count(number: int) -> str:
    """A count in at most five characters up to a billion: 812, 8.1k, 812k, 1.2M."""
    if number < 1000:
        return str(number)
    if number < 9_950:
        return f"{number / 1000:.1f}k"
    if number < 999_500:
        return f"{number / 1000:.0f}k"
    if number < 9_950_000:
        return f"{number / 1_000_000:.1f}M"
    return f"{number / 1_000_000:.0f}M"


def duration(seconds: float) -> str:
    """Whole seconds as 0:42, 12:05, 3:07:59 or 2d 03:15."""
    whole = max(0, int(seconds))
    days, rest = divmod(whole, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, second = divmod(rest, 60)
    if days:
        return f"{days}d {hours:02}:{minutes:02}"
    if hours:
        return f"{hours}:{minutes:02}:{second:02}"
    return f"{minutes}:{second:02}"


def money(dollars: float, unpriced: int = 0) -> str:
    """US dollars; `unpriced` calls whose cost nobody knows make it a lower bound, or `unknown` when nothing else is."""
    if unpriced and dollars == 0:
        return "unknown"
    exact = f"${dollars:.2f}" if dollars >= 1 or dollars == 0 else f"${dollars:.4f}"
    return f">={exact}" if unpriced else exact


def tokens(value: int | None, uncounted: int = 0) -> str:
    """A count of tokens: `-` where nobody told; `>=` when some calls could not be counted."""
    return "-" if value is None else (">=" if uncounted else "") + count(value)


def tokens_in_out(read: int | None, written: int | None, uncounted: int = 0) -> str:
    """`12k tokens in, 340 out`."""
    return f"{tokens(read, uncounted)} tokens in, {tokens(written, uncounted)} out"


def score(value: float | None) -> str:
    """A mean score with its sign: +0.123, -1.000, 0.000; `-` where there is none."""
    if value is None:
        return "-"
    text = f"{value:+.3f}"
    return "0.000" if float(text) == 0 else text


def interval(ends: Sequence[float] | None, form: Callable[[float], str] = score) -> str:
    """`[-0.069, +0.075]`, the ends as `form` writes them; `-` where there is none."""
    return "-" if ends is None else f"[{form(ends[0])}, {form(ends[1])}]"


def share(value: float | None) -> str:
    """In per cent, `2.6%`; never `0.0%` for something that happened, nor `100.0%` for nearly all; `-` for None."""
    if value is None:
        return "-"
    if 0 < value < 0.001:
        return "<0.1%"
    if 0.999 < value < 1:
        return ">99.9%"
    return f"{value:.1%}"


def fault_counts(faults: dict[Fault, int]) -> str:
    """Faults by kind, the commonest first: `truncated 12, illegal 3`; empty for none."""
    ranked = sorted(faults.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{kind} {number}" for kind, number in ranked)


def plural(number: int, one: str, many: str | None = None) -> str:
    """`1 call`, `2 calls`; `many` where an s is not enough."""
    return f"{number} {one if number == 1 else many or one + 's'}"


_DEMANDS: Final[Mapping[str, str]] = {
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be above {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be below {lt}",
}
"""What a value should have been, by the type of pydantic's error and with its bounds."""


def in_words(details: ErrorDetails, section: type[BaseModel]) -> str:
    """One of pydantic's errors about a `section`: what the value must be, and what it is."""
    kind, value, bounds, key = details["type"], details["input"], details.get("ctx", {}), str(details["loc"][-1])
    if kind == "extra_forbidden":
        table = _table_of(details, section)
        now = getattr(table, "retired", {}).get(key)
        return f"is called {now} now" if now else f"unknown key{did_you_mean(key, table.model_fields)}"
    if kind == "missing":
        field = _table_of(details, section).model_fields.get(key)
        return f"missing: {field.description}" if field is not None and field.description else "missing"
    if kind == "literal_error":
        known = [word.strip("' ") for word in re.split(r",| or ", str(bounds["expected"]))]
        near = did_you_mean(value, known) if isinstance(value, str) else f"; known: {', '.join(known)}"
        return f"{as_written(value)} is no choice{near}"
    if kind == "value_error":
        demand = str(bounds["error"]).removeprefix("it ")
        return f"{demand}, not {as_written(value)}" if isinstance(value, int | float) else demand
    unquoted = kind == "string_type" and isinstance(value, int | float | date | time)
    demand = _DEMANDS[kind].format_map(bounds) if kind in _DEMANDS else details["msg"][:1].lower() + details["msg"][1:]
    return f"{demand}, not {as_written(value)}{'; put it in quotes' if unquoted else ''}"


def _table_of(details: ErrorDetails, section: type[BaseModel]) -> type[BaseModel]:
    """The section, below `section`, that the last key of an error's path belongs to."""
    for key in details["loc"][:-1]:
        field = section.model_fields.get(str(key))
        kinds = (field.annotation, *get_args(field.annotation)) if field is not None else ()
        section = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), section)
    return section


def as_written(value: object) -> str:
    """A TOML value in a message: its kind where the text alone would mislead."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value)
        case str():
            return f"the text {quote(value)}"
        case Mapping():
            return "a table"
        case list():
            return f"the list {quote(value)}"
        case datetime() | date() | time():
            return f"the date or time {value.isoformat()}"
        case _:
            return quote(value)
