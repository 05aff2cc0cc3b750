"""The page of outputs: JSON documents with every key, columns of exports, kinds of warnings, exit codes.

Keys come from documents that were made (`tests.docs.samples`), their meaning from the string below the field of the
same name in the dataclass that a JSON object was made from: the one that has the most of its keys. `MEANINGS` has the
words for keys that no class owns.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from typing import Any

import weigh.harness
from tests.docs.meanings import BY_NAME, COLUMNS, ELSEWHERE, MEANINGS
from tests.docs.reference import attribute_docs, page, table
from tests.docs.samples import documents
from weigh.harness import errors
from weigh.harness.results import rows
from weigh.harness.results.measures import MEASURES
from weigh.harness.results.ranking.standings import Reliability
from weigh.harness.store.usage import Usage

NONE = re.compile(r"\bNone\b")
TABLES = {
    "seats": rows.SEATS,
    "decisions": rows.DECISIONS,
    "calls": {**rows.CALLS, **rows.TEXTS},
    "voids": rows.VOIDS,
    "accounts": rows.ACCOUNTS,
    "measures": MEASURES,
}


@cache
def classes() -> tuple[type, ...]:
    """Every dataclass and every model of the harness, by module and name."""
    found: dict[str, type] = {}
    for module in pkgutil.walk_packages(weigh.harness.__path__, "weigh.harness."):
        for name, kind in inspect.getmembers(import_module(module.name), inspect.isclass):
            if kind.__module__.startswith("weigh.") and (is_dataclass(kind) or hasattr(kind, "model_fields")):
                found[f"{kind.__module__}.{name}"] = kind
    return tuple(found[name] for name in sorted(found))


@cache
def _fields(kind: type) -> frozenset[str]:
    return frozenset(getattr(kind, "model_fields", None) or getattr(kind, "__dataclass_fields__", {}))


@cache
def docs_of(kind: type) -> Mapping[str, str]:
    return attribute_docs(kind)


def home_of(keys: Sequence[str]) -> type | None:
    """The class with the most of these keys among its fields, at least two fifths; of equals the smallest."""
    best = max(classes(), key=lambda kind: (len(_fields(kind).intersection(keys)), -len(_fields(kind))))
    return best if len(_fields(best).intersection(keys)) >= 0.4 * len(keys) else None


def kind_of(values: Sequence[Any], annotated: str) -> str:
    """The JSON types that were seen, or that the field's annotation names; null last."""
    words = {bool: "true or false", int: "number", float: "number", str: "text", list: "list", dict: "object"}
    seen = {words[type(value)] for value in values if value is not None}
    if not seen:
        names = {"bool": "true or false", "int": "number", "float": "number", "str": "text", "tuple": "list"}
        seen = {word for name, word in names.items() if re.search(rf"^{name}\b", annotated)}
    null = "None" in annotated or any(value is None for value in values)
    return " or ".join([*sorted(seen), *(["null"] if null else [])])


def objects(path: str, values: Sequence[Any]) -> Iterator[tuple[str, dict[str, list[Any]]]]:
    """Every kind of object in these values: its path and, by key, all values that were found there.

    Lists add `[]` to the path. Objects whose keys are names (of entrants, games, faults) add `{}`.
    """
    below: dict[str, list[Any]] = {}
    for value in values:
        if isinstance(value, dict):
            for key, item in value.items():
                below.setdefault(key, []).append(item)
    items = [item for value in values if isinstance(value, list) for item in value]
    if items:
        yield from objects(f"{path}[]", items)
    if not below:
        return
    if path.endswith(BY_NAME):
        yield from objects(f"{path}{{}}", [item for found in below.values() for item in found])
        return
    yield path, below
    for key, found in below.items():
        if f"{path}.{key}" not in ELSEWHERE:
            yield from objects(f"{path}.{key}", found)


@cache
def shapes() -> tuple[dict[str, list[tuple[str, dict[str, list[Any]]]]], dict[str, str]]:
    """The objects of every document, by heading; and of those whose keys were described before, where that was."""
    told: dict[frozenset[str], str] = {}
    kept: dict[str, list[tuple[str, dict[str, list[Any]]]]] = {}
    again: dict[str, str] = {}
    for heading, values in documents_once().items():
        kept[heading] = []
        if heading in ELSEWHERE:
            continue
        for path, below in objects(heading, values):
            keys = frozenset(below)
            if any(path.startswith((f"{other}.", f"{other}[", f"{other}{{")) for other in again):
                continue
            if len(keys) > 1 and keys in told:
                again[path] = told[keys]
                continue
            told[keys] = path
            kept[heading].append((path, below))
    return kept, again


def rows_of(heading: str) -> Iterator[tuple[str, str, str]]:
    """Path of a key, what it holds, and its meaning, in the order of the document."""
    kept, again = shapes()
    for path, below in kept[heading]:
        home = home_of(list(below))
        for key, values in below.items():
            whole = f"{path}.{key}"
            text = meaning(whole, key, home)
            for end in ("", "[]", "{}", "[]{}", "{}[]"):
                if f"{whole}{end}" in again:
                    text = f"{text.removesuffix('.')}; keys as of `{again[whole + end]}`"
            yield whole.removeprefix(heading).lstrip(".[]"), kind_of(values, annotation(home, key)), text


def meaning(path: str, key: str, home: type | None) -> str:
    parent = path.split(".")[-2].removesuffix("[]").removesuffix("{}")
    text = ELSEWHERE.get(path) or MEANINGS.get(path) or MEANINGS.get(f"{parent}.{key}")
    text = text or (docs_of(home).get(key) if home else None) or MEANINGS.get(key, "")
    return NONE.sub("null", text)


def annotation(home: type | None, key: str) -> str:
    return "" if home is None else str(inspect.get_annotations(home).get(key, ""))


@cache
def documents_once() -> Mapping[str, list[Any]]:
    return documents()


def undocumented() -> list[str]:
    """Keys and columns without a meaning."""
    headings = [heading for heading in documents_once() if heading not in ELSEWHERE]
    keys = [f"{heading}: {key}" for heading in headings for key, _, text in rows_of(heading) if not text]
    return keys + [f"{name}: {column}" for name in TABLES for column in TABLES[name] if not column_meaning(column)]


def column_meaning(column: str) -> str:
    for words in (COLUMNS, docs_of(Usage), docs_of(Reliability), MEANINGS):
        if column in words:
            return NONE.sub("null", words[column])
    return ""


def exit_codes() -> list[str]:
    """The table that stands in the docstring of harness/errors.py."""
    body = inspect.cleandoc(errors.__doc__ or "").split("Exit codes are a contract\n")[1]
    lines = [line.split(maxsplit=1) for line in body.splitlines() if line.strip()[:1].isdigit()]
    return table(("code", "meaning"), lines)


def output_page() -> str:
    lines = [
        "What `--json` prints, and what `weigh export` writes. In a path, `[]` stands for each item of a list and `{}`",
        "for each key that is a name. `null` means: not known or not applicable, never 0. Intervals are `[low, high]`,",
        "95 %. Records (`weigh play --json`) are in [records.md](records.md).",
        "",
        "## Exit codes",
        "",
        *exit_codes(),
    ]
    for heading in documents_once():
        lines += [f"## weigh {heading}", ""]
        if heading in ELSEWHERE:
            lines += [f"{ELSEWHERE[heading].capitalize()}.", ""]
            continue
        lines += table(("key", "value", "meaning"), ((f"`{key}`", kind, text) for key, kind, text in rows_of(heading)))
    lines += ["## Columns of exports", "", "`weigh export --dataset NAME`, and the frames of `weigh.load`.", ""]
    for name, columns in TABLES.items():
        lines += [f"### {name}", ""]
        told = ((f"`{column}`", kind, column_meaning(column)) for column, kind in columns.items())
        lines += table(("column", "value", "meaning"), told)
    return page("Outputs", "documents that commands made, and the classes they come from", lines)
