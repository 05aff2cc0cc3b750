"""`--serve`: the live page beside whatever else shows what is being played.

Owns the option and the port. The server's modules are imported where somebody asks for
it, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated

import typer

from weigh.games.values import quote
from weigh.harness.cli.options import whole
from weigh.harness.cli.output import print_note
from weigh.harness.errors import Refused

if TYPE_CHECKING:
    from weigh.harness.run.events import Progress
    from weigh.harness.run.play.followers import Watching
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
        raise Refused(
            f"--serve {following}: PORT is a whole number from 0 to 65535; without one, {error}", kind="bad-port"
        ) from error


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
        raise Refused(
            f"--serve {port}: {error.strerror or error}; leave out PORT for any free one", kind="port-taken"
        ) from None
    with server:
        yield server


@contextmanager
def followed(display: Progress, server: LiveServer | None, name: str) -> Iterator[tuple[Progress, Watching]]:
    """Who is told of a run, and who watches its episodes: `display` alone, or the live page as well."""
    if server is None:
        with display:
            yield display, lambda table: None
        return
    from weigh.harness.run.play.followers import Together
    from weigh.harness.web.live.feed import Feed
    from weigh.harness.web.live.pages import SpectatorPage

    feed = Feed()
    print_note(f"live: {server.add(SpectatorPage(feed, name))}")
    with Together(display, feed) as both:
        yield both, feed.watch
