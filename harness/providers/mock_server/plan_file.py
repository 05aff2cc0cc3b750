"""Fault plans as people write them: TOML or JSON, a flat table per rule.

    [[rules]]
    name = "busy at first"
    nth = "1-3"
    do = "respond"
    status = 429
    retry_after = "2s"

Owns that form and its error lines. The conditions of a rule are the fields of `Rule`; `do` names the action, and every
other key is one of its settings.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from weigh.harness.providers.mock_server.actions import ACTIONS, AnyAction
from weigh.harness.providers.mock_server.plan import Plan, Rule
from weigh.harness.words import did_you_mean

_CONDITIONS = frozenset(Rule.model_fields) - {"action"}
_ACTION: TypeAdapter[AnyAction] = TypeAdapter(AnyAction)


def load_plan(path: Path) -> Plan:
    """The plan in a `.toml` or `.json` file. Raises ValueError: one line with the file, the place and the mistake."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read the fault plan {path}: {error}") from error
    try:
        document = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        return read_plan(document)
    except ValueError as error:  # also what both parsers raise
        raise ValueError(f"fault plan {path}: {error}") from error


def read_plan(document: object) -> Plan:
    """The plan in a parsed document: `{"rules": [{...}, ...]}`. Raises ValueError with one line."""
    if not isinstance(document, Mapping):
        raise ValueError("a plan is a table with a list 'rules'")
    for key in document:
        if key != "rules":
            raise ValueError(f"unknown key {key!r} beside the rules{did_you_mean(str(key), ['rules'])}")
    rules = document.get("rules", [])
    if not isinstance(rules, list):
        raise ValueError("'rules' must be a list of tables")
    return Plan(rules=tuple(_rule(rule, number) for number, rule in enumerate(rules, 1)))


def plan_document(plan: Plan) -> dict[str, Any]:
    """The plan as `read_plan` takes it; JSON throughout."""
    rules = []
    for rule in plan.rules:
        conditions = rule.model_dump(mode="json", exclude={"action"}, exclude_defaults=True)
        settings = rule.action.model_dump(mode="json", exclude={"do"}, exclude_unset=True)
        rules.append({**conditions, "do": rule.action.do, **settings})
    return {"rules": rules}


def _rule(written: object, number: int) -> Rule:
    if not isinstance(written, Mapping):
        raise ValueError(f"rule {number} must be a table")
    where = f"rule {number}" + (f" ({written['name']})" if isinstance(written.get("name"), str) else "")
    word = written.get("do")
    if not isinstance(word, str) or word not in ACTIONS:
        said = "has no 'do'" if word is None else f"cannot do {word!r}"
        raise ValueError(f"{where} {said}{did_you_mean(str(word), ACTIONS)}")
    settings = frozenset(ACTIONS[word].model_fields)
    for key in written:
        if key not in _CONDITIONS | settings:
            raise ValueError(
                f"{where}: unknown key {key!r} with do = {word!r}{did_you_mean(key, _CONDITIONS | settings)}"
            )
    try:
        action = _ACTION.validate_python({key: value for key, value in written.items() if key in settings})
        return Rule(action=action, **{key: value for key, value in written.items() if key in _CONDITIONS})
    except ValidationError as error:
        raise ValueError(f"{where}: {first_mistake(error)}") from error


def first_mistake(error: ValidationError) -> str:
    """The first mistake that pydantic found, in one line."""
    first = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"] if part not in ACTIONS)
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
