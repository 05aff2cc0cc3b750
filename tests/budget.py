"""How much processor time the tests take, room by room: `pytest -p tests.budget` prints it, and every file with it.

Counted is what the process and its ended children used, user and system, for setup, call and teardown of each test;
what a fixture of a wider scope takes falls to the test that asked first. It is a report and decides nothing: a busy
machine changes it little, a slower one a lot. The limits are for the quick tier (`make test`) on the two cores that
CI has; `tests/README.md` says what to do where a room is over its own.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import pytest

BUDGET = {
    "collection": 20,
    "games and policies": 40,
    "providers and mock": 50,
    "store, run, stats, gate": 60,
    "cli": 70,
    "web and report": 30,
    "e2e": 30,
}
"""CPU seconds at most; together 300, which two cores do in two and a half minutes."""

_ROOMS = (
    ("tests/games", "games and policies"),
    ("tests/policies", "games and policies"),
    ("tests/prompts", "games and policies"),
    ("tests/harness/providers", "providers and mock"),
    ("tests/harness/web", "web and report"),
    ("tests/harness/report", "web and report"),
    ("tests/browser", "web and report"),
    ("tests/harness", "store, run, stats, gate"),
    ("tests/cli", "cli"),
    ("tests/e2e", "e2e"),
    ("tests/local_model", "e2e"),
    ("tests/reported", "cli"),
    ("tests/docs", "cli"),
    ("tests", "store, run, stats, gate"),
)
"""The first that a test's path begins with."""


def room(nodeid: str) -> str:
    """The row of the table that a test belongs to."""
    return next(name for start, name in _ROOMS if nodeid.startswith(f"{start}/"))


def used() -> float:
    """CPU seconds of this process and of its ended children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Budget:
    """Runs in every process of the tests; the one that prints hears of each test once."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.tests: Counter[str] = Counter()
        """CPU seconds by node id, sub-tests together."""
        self.collections: list[float] = []
        """CPU seconds from the start of each worker to the end of its collection."""
        self._began = 0.0

    def pytest_collection_finish(self) -> None:
        taken = used()
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["collection"] = taken
        else:
            self.collections.append(taken)

    def pytest_testnodedown(self, node: object) -> None:
        self.collections.append(getattr(node, "workeroutput", {}).get("collection", 0.0))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        report = yield
        now = used()
        report.cpu = now - self._began if self._began else 0.0
        self._began = now
        return report

    def pytest_runtest_logstart(self) -> None:
        self._began = self._began or used()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.tests[report.nodeid] += getattr(report, "cpu", 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if hasattr(self.config, "workerinput"):
            return
        rooms: Counter[str] = Counter({"collection": sum(self.collections)})
        files: Counter[str] = Counter()
        for nodeid, seconds in self.tests.items():
            rooms[room(nodeid)] += seconds
            files[nodeid.partition("::")[0]] += seconds
        write = terminalreporter.write_line
        terminalreporter.section("processor time")
        write(f"{'room':24} {'CPU s':>7} {'budget':>7}")
        for name, limit in BUDGET.items():
            write(f"{name:24} {rooms[name]:7.1f} {limit:7d}{'  OVER' if rooms[name] > limit else ''}")
        write(f"{'all':24} {rooms.total():7.1f} {sum(BUDGET.values()):7d}")
        for title, rows in (("files", files.most_common(40)), ("tests", self.tests.most_common(40))):
            write("")
            write(f"the most expensive {title}, CPU s")
            for name, seconds in rows:
                write(f"{seconds:7.2f} {name}")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Budget(config), "budget-of-rooms")
