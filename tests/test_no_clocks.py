"""No test asserts how long something takes: machines differ, and a busy one is no fault of the code.

Count work (`tests.work`), give the code a clock, run it on a loop whose clock jumps (`tests.jumping_time`), or assert
the order in which things happen; what must be timed is a bench. A guard against waiting for ever may read a clock
(`tests.waiting`): it raises, far above what anything takes, and asserts nothing of the time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
_OF_TIME = ("perf_counter", "process_time", "thread_time", "monotonic", "time")
CLOCKS = frozenset((*_OF_TIME, *(f"{name}_ns" for name in _OF_TIME), "getrusage", "now", "utcnow"))
"""Functions of `time`, `resource`, `datetime` and event loops that read the machine's clock."""
_SUSPECT = re.compile(rf"import time|from time|\b(?:{'|'.join(sorted(CLOCKS))})\(|\.latency|\.seconds")
"""In a file without any of it there is nothing to follow."""
IN_A_PAGE = ("performance.now", "Date.now")


class Clocks(ast.NodeVisitor):
    """What in one function, or at the top of one file, comes from a clock: names are followed through assignments,
    into containers and out of functions, not into other files."""

    def __init__(self, clocks: frozenset[str]) -> None:
        self.clocks = set(clocks)
        """Names that read a clock when they are called."""
        self.timed: set[str] = set()
        """Names of what was read, or computed from it."""

    def follow(self, tree: ast.AST) -> None:
        known = -1
        while known != len(self.clocks) + len(self.timed):
            known = len(self.clocks) + len(self.timed)
            self.visit(tree)

    def has(self, node: ast.AST | None) -> bool:
        return node is not None and any(self._reads(each) for each in ast.walk(node))

    def _reads(self, node: ast.AST) -> bool:
        match node:
            case ast.Name(name, ast.Load()):
                return name in self.timed
            case ast.Call(ast.Name(name)):
                return name in self.clocks
            case ast.Call(ast.Attribute(_, name)):
                return name in CLOCKS
            case ast.Compare(left, operators, others) if any(
                isinstance(each, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for each in operators
            ):
                return any(map(_measured, (left, *others)))
        return False

    def _take(self, target: ast.AST) -> None:
        self.timed |= {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}

    def visit_Assign(self, node: ast.Assign) -> None:
        if self.has(node.value):
            for target in node.targets:
                self._take(target)
        elif isinstance(node.value, ast.Attribute) and node.value.attr in CLOCKS:
            self.clocks |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if self.has(node.value):
            self._take(node.target)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if self.has(node.value):
            self._take(node.target)
        self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        if self.has(node.value):
            self._take(node.target)
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        if self.has(node.iter):
            self._take(node.target)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        match node.func:
            case ast.Attribute(ast.Name(name), "append" | "add" | "extend") if any(map(self.has, node.args)):
                self.timed.add(name)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if any(self.has(each.value) for each in ast.walk(node) if isinstance(each, ast.Return | ast.Yield)):
            self.clocks.add(node.name)
        self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef


def _measured(node: ast.AST) -> bool:
    """Fields of records and calls that the run measured: `call.latency`, `record.times.seconds`."""
    match node:
        case ast.Attribute(_, "latency") | ast.Attribute(ast.Attribute(_, "times"), "seconds"):
            return True
    return False


def timed_asserts(source: str) -> Iterator[int]:
    """The lines of the asserts in a file that depend on a clock of the machine."""
    if not _SUSPECT.search(source):
        return
    tree = ast.parse(source)
    imported = frozenset(
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in ("time", "resource")
        for alias in node.names
        if alias.name in CLOCKS
    )
    whole = Clocks(imported)
    whole.follow(ast.Module([node for node in tree.body if not _is_test(node)], []))
    for node in tree.body:
        inside = Clocks(frozenset(whole.clocks))
        inside.timed |= whole.timed
        inside.follow(node)
        yield from (each.lineno for each in ast.walk(node) if isinstance(each, ast.Assert) and inside.has(each.test))


def _is_test(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")


def test_no_assert_reads_a_clock() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")}
    assert {str(path): found for path, source in sources.items() if (found := list(timed_asserts(source)))} == {}
    del sources[Path(__file__).resolve()]
    assert [str(path) for path, source in sources.items() if any(name in source for name in IN_A_PAGE)] == []


@pytest.mark.parametrize(
    "source",
    [
        "began = time.perf_counter()\nplay()\nassert time.perf_counter() - began < 2",
        "from time import process_time as cpu\nbegan = cpu()\nused = cpu() - began\nassert used < 2",
        "def took():\n    began = time.monotonic()\n    return time.monotonic() - began\nassert took() < 2",
        "def test():\n    spans = []\n    spans.append(time.time() - began)\n    assert max(spans) < 2",
        "async def test():\n    loop = asyncio.get_running_loop()\n    assert loop.time() < 2",
        "import time\nclock = time.monotonic\nbegan = clock()\nassert clock() - began < 1",
        "for span in spans(time.perf_counter()):\n    assert span < 1",
        "assert all(call.latency < 0.5 for call in calls)",
        "assert 8.0 <= record.times.seconds < 9.5",
        "assert datetime.now(UTC) < later",
        "used = resource.getrusage(resource.RUSAGE_SELF).ru_utime\nassert used < 3",
    ],
)
def test_an_assert_on_a_clock_is_found(source: str) -> None:
    assert len(list(timed_asserts(source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "end = time.monotonic() + 60\nif time.monotonic() > end:\n    raise AssertionError\nassert done",
        "assert call.latency == 1.5",
        "display = Display(clock=time.monotonic)\nassert display.lines == []",
        "from tests.jumping_time import now\nasync def test():\n    assert now() == 5.0",
        "clock = Clock()\nclock.now += 5\nassert clock.now == 5",
    ],
)
def test_guards_injected_clocks_and_recorded_figures_are_let_through(source: str) -> None:
    assert list(timed_asserts(source)) == []
