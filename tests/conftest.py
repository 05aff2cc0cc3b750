"""For every test: one mock server, and how many examples a property is tried with.

`make test` leaves out what is marked slow, and tries each property 20 times; any other choice of tests, `make test-all`
among them, tries it 100 times. The examples are the same in every run, so that a red test is red again; they grow from
the same sequence, and 100 hold more than 20."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from weigh.harness.providers.mock_server import MockServerProcess

settings.register_profile("ci", max_examples=20, deadline=None, derandomize=True)
settings.register_profile("all", parent=settings.get_profile("ci"), max_examples=100)


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("ci" if "not slow" in config.option.markexpr else "all")


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """The first strategy of text in a fresh checkout makes a table of characters, which takes seconds. Made here,
    before there are workers, it lies on the disk for each of them. (Hypothesis forbids it until its own start is over;
    xdist's start comes last too, and is registered later.)"""
    if not hasattr(session.config, "workerinput"):
        st.characters(codec="utf-8").validate()


@pytest.fixture(scope="session")
def mock_server() -> Iterator[MockServerProcess]:
    """One for each process of the tests. What a module before has asked for may still be in it: see `server`."""
    from weigh.harness.providers.mock_server import MockServerProcess

    with MockServerProcess() as going:
        yield going


@pytest.fixture(scope="module")
def server(mock_server: MockServerProcess) -> MockServerProcess:
    """The mock server as it is at its start: no plan, nothing counted."""
    from weigh.harness.providers.mock_server import Plan

    mock_server.follow(Plan())
    mock_server.reset()
    return mock_server
