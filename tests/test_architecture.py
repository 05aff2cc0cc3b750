"""The arrows between the packages and between the rooms of harness/, the size of the rooms, and what is imported."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from weigh import games, harness, policies, prompts

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("games", "policies", "harness", "prompts")
IO = {"asyncio", "time", "datetime", "os", "socket", "secrets", "logging", "pathlib", "io", "subprocess", "sqlite3"}
IO |= {"urllib", "threading", "tempfile", "shutil"}
SDKS = {"anthropic", "openai", "xllamacpp"}
GROUND = {"errors", "seeds", "words"}
ROOMS: Mapping[str, set[str]] = {
    "stats": set(),
    "store": GROUND,
    "providers": GROUND,
    "config": {"providers", "store", *GROUND},
    "audit": {"config", "store", "stats", *GROUND},
    "run": {"audit", "config", "providers", "store", *GROUND},
    "results": {"audit", "config", "store", "stats", *GROUND},
    "web": {"audit", "run", "store", *GROUND},
    "gate": {"results", "audit", "run", "config", "providers", "store", "stats", *GROUND},
    "planning": {"results", "run", "config", "providers", "store", "stats", *GROUND},
    "report": {"planning", "gate", "web", "results", "audit", "store", "stats", *GROUND},
}
"""The rooms of harness/, from the ground up, and the rooms that each may import. `cli` may import them all."""
LONGEST = 500
CROWDED = {
    "harness/cli/commands": 17,
}
"""Folders over twelve files, and how many they hold."""
RESERVED = {"utils", "common", "helpers", "util", "misc"}


def sources(*folders: str) -> list[Path]:
    found = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    assert found
    return found


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All that stands in a file. Four tests ask, and it is read once."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imported(path: Path) -> Iterator[str]:
    """The full names of everything a file imports, anywhere in it."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def parts(name: str) -> tuple[str, str, str]:
    """The package, the room and whose they are: ("weigh", "harness", "store") of `weigh.harness.store.record`."""
    first, second, third, *_ = [*name.split("."), "", "", ""]
    return first, second, third


def test_rules_import_neither_policies_nor_harness_nor_io() -> None:
    may = sys.stdlib_module_names - IO | {"pydantic", "numpy"}
    for path in sources("games"):
        for name in imported(path):
            first, package, _ = parts(name)
            assert first in may or (first, package) == ("weigh", "games"), f"{path} imports {name}"


def test_policies_import_no_harness_and_do_no_io() -> None:
    for path in sources("policies"):
        for name in imported(path):
            first, package, _ = parts(name)
            assert first not in (IO - {"asyncio", "io", "threading"}) | SDKS, f"{path} imports {name}"
            assert (first, package) != ("weigh", "harness"), f"{path} imports {name}"


def test_arrows_between_rooms_go_one_way() -> None:
    homes = {path.relative_to(ROOT / "harness").parts[0] for path in sources("harness")}
    rooms = {home for home in homes if not home.endswith(".py")}
    assert rooms == {*ROOMS, "cli"}
    seen: set[str] = set()
    for room, below in ROOMS.items():
        assert below <= seen | GROUND, f"{room} stands on a room above it: the table itself has a circle"
        seen.add(room)
    for path in sources("harness"):
        room = path.relative_to(ROOT / "harness").parts[0].removesuffix(".py")
        for name in imported(path):
            first, package, target = parts(name)
            if (first, package) != ("weigh", "harness") or target == room or room == "cli":
                continue
            assert target in ROOMS.get(room, GROUND), f"{path} imports {name}"


def test_only_providers_import_the_sdks_of_providers() -> None:
    for path in sources("harness"):
        if path.relative_to(ROOT / "harness").parts[0] != "providers":
            for name in imported(path):
                assert parts(name)[0] not in SDKS, f"{path} imports {name}"


def test_no_files_import_each_other_in_a_circle() -> None:
    files = {".".join(("weigh", *path.relative_to(ROOT).with_suffix("").parts)): path for path in sources(*PACKAGES)}
    graph = {
        name: {
            target
            for found in imported(path)
            for target in (found, found.rpartition(".")[0])
            if target in files and target != name
        }
        for name, path in files.items()
    }
    while leaves := {name for name, below in graph.items() if not below & graph.keys()}:
        graph = {name: below for name, below in graph.items() if name not in leaves}
    assert not graph, f"import each other, or stand on files that do: {sorted(graph)}"


def test_a_room_is_small_enough_to_be_read() -> None:
    for path in sources(*PACKAGES):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST, f"{path} has more than one thought in it"
        assert path.stem not in RESERVED, f"{path} is named after nothing"
    for folder in (ROOT / "harness", *(ROOT / "harness").rglob("*")):
        if folder.is_dir():
            files = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
            assert len(files) <= CROWDED.get(folder.relative_to(ROOT).as_posix(), 12), f"{folder} is crowded"


def test_nothing_uses_the_process_wide_generator() -> None:
    for path in sources("games", "policies", "harness"):
        for node in nodes(path):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "random":
                assert node.attr in ("Random", "SystemRandom"), f"{path}:{node.lineno} uses random.{node.attr}"


def test_the_imported_packages_are_ours_and_typed() -> None:
    homes = {Path(module.__file__ or "").resolve().parent.parent for module in (games, policies, harness, prompts)}
    assert homes == {ROOT}
    assert (ROOT / "weigh" / "py.typed").is_file()
