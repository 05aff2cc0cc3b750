"""Would the tests see a wrong line? Thirty mutants, drawn with a seed among lines that tests run.

`python -m benches.mutants` copies the tree, traces which test runs which line of SOURCES, changes one expression at a
time and runs the tests that run its line. A mutant is caught when one of them fails. Goal: at least 29 of 30,
equivalents apart (EQUIVALENT names each, and why no test could see it). It takes minutes, so it is run by hand and
before a release, never by `.ci/run`.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType

import pytest

TraceFunction = Callable[[FrameType, str, object], object]
ROOT = Path(__file__).resolve().parent.parent
# What is mutated, and the tests that are traced over it: rules, store, replies, statistics.
SOURCES = {
    "games": ["tests/games"],
    "harness/store": ["tests/harness/store"],
    "policies/reply.py": [
        "tests/policies/test_reply.py",
        "tests/policies/test_reply_cases.py",
        "tests/reported/test_reply.py",
    ],
    "harness/stats": ["tests/harness/stats", "tests/harness/results", "tests/harness/gate"],
}
# Mutants that change nothing a caller can see: the line, what is done to it, and why no test could notice.
EQUIVALENT: dict[tuple[str, str], str] = {
    (
        "size = max(2, int((distance * sd / effect) ** 2))",
        "Div->Mult",
    ): "where a search begins that goes up and down to its one end",
    ("count = 1", "1->2"): "where a doubling begins whose end is then sought by halves",
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
}


@dataclass(frozen=True)
class Mutant:
    """One changed expression: file, line (from 1), what was done, and its place in the walk of the file's tree."""

    path: str
    line: int
    text: str
    kind: str
    place: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.kind}"


def changed(node: ast.AST) -> tuple[str, ast.AST] | None:
    """The kind of the change and the changed node, or None for a node that is left alone."""
    match node:
        case ast.Compare(ops=[op, *rest]) if type(op) in COMPARISONS:
            other = COMPARISONS[type(op)]
            return f"{type(op).__name__}->{other.__name__}", ast.Compare(node.left, [other(), *rest], node.comparators)
        case ast.BinOp(op=op) if type(op) in OPERATORS and not isinstance(node.left, ast.Constant | ast.JoinedStr):
            other_op = OPERATORS[type(op)]
            return f"{type(op).__name__}->{other_op.__name__}", ast.BinOp(node.left, other_op(), node.right)
        case ast.BoolOp(op=ast.And()):
            return "and->or", ast.BoolOp(ast.Or(), node.values)
        case ast.BoolOp(op=ast.Or()):
            return "or->and", ast.BoolOp(ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not()):
            return "not dropped", node.operand
        case ast.Constant(value=bool(value)):
            return f"{value}->{not value}", ast.Constant(not value)
        case ast.Constant(value=int(number)):
            return f"{number}->{number + 1}", ast.Constant(number + 1)
        case ast.IfExp():
            return "branches swapped", ast.IfExp(node.test, node.orelse, node.body)
    return None


def bodies(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements inside functions, docstrings and annotations apart: what runs when something is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from node.body


def line_of(node: ast.AST) -> int:
    """The line of a node that has one."""
    assert isinstance(node, ast.expr)
    return node.lineno


def mutants(path: str, source: str) -> list[Mutant]:
    """Every mutant of one file, in the order of its tree."""
    tree = ast.parse(source)
    inside = {id(below) for statement in bodies(tree) for below in ast.walk(statement)}
    annotated = {
        id(below)
        for node in ast.walk(tree)
        for note in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if note is not None
        for below in ast.walk(note)
    }
    found = []
    for place, node in enumerate(ast.walk(tree)):
        if id(node) in inside and id(node) not in annotated:
            change = changed(node)
            if change is not None:
                line = line_of(node)
                found.append(Mutant(path, line, source.splitlines()[line - 1].strip(), change[0], place))
    return found


def mutated(source: str, mutant: Mutant) -> str:
    """The file with this one change made."""
    tree = ast.parse(source)
    target = list(ast.walk(tree))[mutant.place]
    change = changed(target)
    assert change is not None
    replacement = ast.copy_location(change[1], target)

    class Put(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return replacement if node is target else self.generic_visit(node)

    return ast.unparse(ast.fix_missing_locations(Put().visit(tree)))


def copied(where: Path) -> Path:
    """A copy of the files that git knows, links kept, to be mutated."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout
    for name in filter(None, names.split("\0")):
        old, new = ROOT / name, where / name
        if old.is_symlink() or old.is_file():
            new.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(old, new, follow_symlinks=False)
    return where


def python_files(source: Path) -> list[Path]:
    """The file itself, or every Python file of a folder."""
    return [source] if source.is_file() else sorted(source.rglob("*.py"))


def tested(tree: Path, *arguments: str, trace_to: Path | None = None) -> int:
    """pytest's exit code in the copied tree; with `trace_to`, which test ran which line is written there."""
    env = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    if trace_to is not None:
        env["WEIGH_TRACE_TO"] = str(trace_to)
        arguments = (*arguments, "-p", "benches.mutants")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-m",
        "not slow",
        "--timeout=120",
        *arguments,
    ]
    return subprocess.run(command, cwd=tree, env=env, capture_output=True, check=False).returncode


# As a pytest plugin (`-p benches.mutants`): which test runs which line.
_lines: dict[str, set[str]] = {}
_current = ""


@cache
def _mutated_file(name: str) -> str | None:
    """The path from the root of a file that SOURCES names; None for every other file."""
    named = any(f"/weigh/{source}" in name for source in SOURCES)
    return os.path.relpath(os.path.realpath(name), ROOT) if named else None


def _tracer(frame: FrameType, _event: str, _arg: object) -> TraceFunction | None:
    path = _mutated_file(frame.f_code.co_filename)
    if path is None:
        return None

    def local(inner: FrameType, kind: str, _given: object) -> TraceFunction:
        if kind == "line":
            _lines.setdefault(f"{path}:{inner.f_lineno}", set()).add(_current)
        return local

    return local


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Lines that run from here on are of this test."""
    global _current
    if "WEIGH_TRACE_TO" in os.environ:
        _current = item.nodeid
        sys.settrace(_tracer)  # type: ignore[arg-type]  # typeshed names the protocol, and exports it for stubs alone


def pytest_sessionfinish() -> None:
    """Write what was seen."""
    if "WEIGH_TRACE_TO" in os.environ:
        sys.settrace(None)
        Path(os.environ["WEIGH_TRACE_TO"]).write_text(json.dumps({line: sorted(of) for line, of in _lines.items()}))


def drawn(tree: Path, count: int, seed: int) -> list[tuple[Mutant, list[str]]]:
    """`count` mutants of covered lines with the tests that run them, as many from each of SOURCES as from the next."""
    rng = random.Random(seed)
    chosen: list[tuple[Mutant, list[str]]] = []
    for nth, (source, tests) in enumerate(SOURCES.items()):
        seen = tree / f"trace-{nth}.json"
        if tested(tree, *tests, trace_to=seen) != 0:
            sys.exit(f"{source}: its tests do not pass unchanged; run {' '.join(tests)} first")
        covered: dict[str, list[str]] = json.loads(seen.read_text())
        every = [
            mutant
            for file in python_files(tree / source)
            for mutant in mutants(str(file.relative_to(tree)), file.read_text())
            if f"{mutant.path}:{mutant.line}" in covered and (mutant.text, mutant.kind) not in EQUIVALENT
        ]
        share = count // len(SOURCES) + (nth < count % len(SOURCES))
        chosen += [(mutant, covered[f"{mutant.path}:{mutant.line}"]) for mutant in rng.sample(every, share)]
    return chosen


def caught(tree: Path, mutant: Mutant, tests: list[str]) -> bool:
    """Whether one of the tests that run the changed line fails (or does not end)."""
    file = tree / mutant.path
    source = file.read_text()
    try:
        file.write_text(mutated(source, mutant))
        return tested(tree, "-x", *tests) != 0
    finally:
        file.write_text(source)


def main() -> int:
    """Print each mutant's fate and the count; exit 0 when all but one at most were caught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="weigh-mutants-") as folder:
        tree = copied(Path(folder).resolve())
        missed = 0
        for mutant, tests in drawn(tree, asked.count, asked.seed):
            found = caught(tree, mutant, tests)
            missed += not found
            print(f"{'caught' if found else 'MISSED'}  {mutant}  ({len(tests)} tests run it)", flush=True)
    print(f"{asked.count - missed} of {asked.count} caught (seed {asked.seed})")
    return 0 if missed <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
