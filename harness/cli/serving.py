"""`--serve`: the live page beside whatever else shows what is being played.

Owns the option, the port, and that a run tells two at once. The server's modules are imported where somebody asks for
it, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from weigh.games.values import quote
from weigh.harness.cli.options import whole
from weigh.harness.cli.output import print_note
from weigh.harness.errors import Refused

if TYPE_CHECKING:
    from weigh.games.game import Move, Seat, State
    from weigh.harness.run.episode import Table, Watch
    from weigh.harness.run.events import Closing, Plan, Progress
    from weigh.harness.run.runner import Onlooker
    from weigh.harness.store.calls import Call, Void
    from weigh.harness.store.record import Decision, Record
    from weigh.harness.web.live.server import LiveServer

ServeOption = Annotated[
    int | None,
    typer.Option(
        "--serve",
        metavar="[PORT]",
        parser=whole(0, 65535),
        help="Show it in a browser too, on 127.0.0.1, while it is played; any free port without PORT.",
    ),
]


@contextmanager
def port_misread(words: Sequence[str]) -> Iterator[None]:
    """A refusal of the word that follows a bare `--serve` in a command line names the option too: the word was read as
    what it is elsewhere, for it is no port."""
    from weigh.harness.errors import ConfigError

    try:
        yield
    except (ValueError, ConfigError) as error:
        following = next((after for word, after in pairwise(words) if word == "--serve"), "")
        if not following or following.isdigit() or quote(following) not in str(error):
            raise
        raise Refused(f"--serve {following}: PORT is a whole number from 0 to 65535; without one, {error}") from error


@contextmanager
def served(port: int | None) -> Iterator[LiveServer | None]:
    """The server of live pages, for the length of the block; None without a port.

    Raises Refused when the port cannot be had.
    """
    if port is None:
        yield None
        return
    from weigh.harness.web.live.server import LiveServer

    try:
        server = LiveServer(port)
    except OSError as error:
        raise Refused(f"--serve {port}: {error.strerror or error}; leave out PORT for any free one") from None
    with server:
        yield server


@contextmanager
def followed(
    display: Progress, server: LiveServer | None, name: str
) -> Iterator[tuple[Progress, Callable[[Table], Watch | None]]]:
    """Who is told of a run, and who watches its episodes: `display` alone, or the live page as well."""
    if server is None:
        with display:
            yield display, lambda table: None
        return
    from weigh.harness.web.live.feed import Feed
    from weigh.harness.web.live.pages import SpectatorPage

    feed = Feed()
    print_note(f"live: {server.add(SpectatorPage(feed, name))}")
    with Together(display, feed) as both:
        yield both, feed.watch


@dataclass(frozen=True, slots=True)
class Onlookers:
    """Several onlookers of one run, told in this order."""

    each: tuple[Onlooker, ...]

    def episode_started(self, key: str, entrants: Sequence[str]) -> None:
        for one in self.each:
            one.episode_started(key, entrants)

    def episode_finished(self, record: Record) -> None:
        for one in self.each:
            one.episode_finished(record)

    def episode_void(self, void: Void) -> None:
        for one in self.each:
            one.episode_void(void)

    def call_finished(self, call: Call) -> None:
        for one in self.each:
            one.call_finished(call)

    def note(self, line: str) -> None:
        for one in self.each:
            one.note(line)


class Together(Onlookers):
    """The same for all that a `harness.run.events.Progress` is told. The first is entered first and left last."""

    __slots__ = ()

    def __init__(self, first: Progress, second: Progress) -> None:
        super().__init__((first, second))

    def __enter__(self) -> Self:
        for one in self._each():
            one.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in reversed(self._each()):
            one.__exit__(kind, error, trace)

    def run_started(self, plan: Plan) -> None:
        for one in self._each():
            one.run_started(plan)

    def run_finished(self, closing: Closing) -> None:
        for one in self._each():
            one.run_finished(closing)

    def _each(self) -> Sequence[Any]:
        return self.each


@dataclass(frozen=True, slots=True)
class Watches:
    """Several watches of one episode, told in this order."""

    each: tuple[Watch, ...]

    def step_played(self, state: State, moves: Mapping[Seat, Move], decisions: tuple[Decision, ...]) -> None:
        for one in self.each:
            one.step_played(state, moves, decisions)
