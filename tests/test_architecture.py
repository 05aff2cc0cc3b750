"""The arrows between the packages, the size of the rooms, and what the installed packages are."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import games
import harness
import policies
import prompts

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("games", "policies", "harness", "prompts")
RULES_MAY_USE = {"pydantic", "numpy"}
READS_RECORDS_ONLY = [
    "accounts",
    "aligned",
    "amendments",
    "blend",
    "board_sheets",
    "caveats",
    "clusters",
    "cycles",
    "designs",
    "encounters",
    "export",
    "flags",
    "gate",
    "holm",
    "kinds_of_run",
    "ladder_rows",
    "league_board",
    "lottery",
    "markdown",
    "measures",
    "pair_blocks",
    "pair_sheets",
    "paired_plot",
    "pairs",
    "places",
    "planning/past",
    "planning/power",
    "prompt_diff",
    "rank_draws",
    "rating_rows",
    "ratings",
    "rematch",
    "rematch_effects",
    "rematch_lines",
    "result_rows",
    "results",
    "schedule",
    "schedule_report",
    "seatings",
    "sheets",
    "standings",
    "table_columns",
    "table_notes",
    "tables",
    "tallies",
    "verify",
    "verify_decisions",
    "verify_evidence",
    "verify_run",
    "verify_schedule",
    "diagnostics",
    "experiments",
    "audits",
    "report",
    "viewer",
]
LONGEST = 400
RESERVED = {"utils", "common", "helpers", "util", "misc"}


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """The full names of everything a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def top(name: str) -> str:
    return name.partition(".")[0]


@pytest.mark.parametrize("path", sources("games"), ids=str)
def test_rules_import_neither_policies_nor_harness_nor_io(path: Path) -> None:
    forbidden = {"policies", "harness", "prompts", "asyncio", "time", "datetime", "os", "socket", "secrets", "logging"}
    forbidden |= {"pathlib", "io", "subprocess", "sqlite3", "urllib", "threading", "tempfile", "shutil"}
    for name in imported(path):
        assert top(name) not in forbidden, f"{path} imports {name}"
        assert top(name) in sys.stdlib_module_names | RULES_MAY_USE | {"games"}, f"{path} imports {name}"
        assert name != "random.random", f"{path} uses the process-wide generator"


@pytest.mark.parametrize("path", sources("policies"), ids=str)
def test_policies_import_no_harness_and_do_no_io(path: Path) -> None:
    forbidden = {"harness", "time", "datetime", "os", "socket", "pathlib", "secrets", "logging", "anthropic", "openai"}
    for name in imported(path):
        assert top(name) not in forbidden, f"{path} imports {name}"


OUTSIDE_THE_ROOT = [
    path for path in sources("harness") if path.relative_to(ROOT / "harness").parts[0] not in ("cli", "providers")
]


@pytest.mark.parametrize("path", OUTSIDE_THE_ROOT, ids=str)
def test_only_the_composition_root_names_concrete_providers(path: Path) -> None:
    allowed = {
        "harness.providers.failures",
        "harness.providers.endpoints",
        "harness.providers.settings",
        "harness.providers.capabilities",
        "harness.providers.finish_reasons",
    }
    for name in imported(path):
        if name.startswith("harness.providers"):
            assert any(name.startswith(module) for module in allowed), f"{path} imports {name}"
        assert top(name) not in ("anthropic", "openai", "xllamacpp"), f"{path} imports {name}"
        assert not name.startswith("harness.cli"), f"{path} imports {name}"


@pytest.mark.parametrize("room", READS_RECORDS_ONLY)
def test_what_reads_records_imports_no_provider_and_no_run(room: str) -> None:
    place = ROOT / "harness" / room
    paths = sorted(place.glob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    assert paths
    for path in paths:
        for name in imported(path):
            assert not name.startswith(("harness.providers", "harness.line", "harness.run", "harness.orchestrate")), (
                f"{path} imports {name}"
            )


@pytest.mark.parametrize("path", sources(*PACKAGES), ids=str)
def test_files_are_small_and_named_for_what_they_hold(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST, f"{path} has more than one room in it"
    assert path.stem not in RESERVED
    assert path.stem not in sys.stdlib_module_names, f"{path} shadows the library"


@pytest.mark.parametrize("path", sources("games", "policies", "harness"), ids=str)
def test_nothing_uses_the_process_wide_generator(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "random":
            assert node.attr in ("Random", "SystemRandom"), f"{path}:{node.lineno} uses random.{node.attr}"


def test_the_imported_packages_are_ours() -> None:
    homes = {Path(module.__file__ or "").resolve().parent.parent for module in (games, policies, harness, prompts)}
    assert homes == {ROOT}


def test_the_packages_say_that_they_are_typed() -> None:
    for package in PACKAGES:
        assert (ROOT / package / "py.typed").is_file()
