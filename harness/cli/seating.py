"""Who sits and who looks on in `weigh play`: the terminal's people, pages for people, a page for spectators.

Owns that a game with people in it has no spectators: while it goes on, each person has a seat's view and nobody has
more. Afterwards everything is shown to everybody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weigh.games.game import Json
from weigh.harness.cli.human import BrowserDesk, Lines, People, TerminalDesk
from weigh.harness.cli.output import print_note
from weigh.harness.errors import Refused
from weigh.harness.run.episode import Table, Watch
from weigh.harness.run.events import Closing, Plan
from weigh.harness.run.play.followers import Watches, Watching
from weigh.harness.run.play.single import Following, Single
from weigh.harness.store.calls import Void
from weigh.harness.store.record import Record
from weigh.harness.web.scene import score
from weigh.harness.web.viewer.episode import episode_data
from weigh.policies.show import one_line

if TYPE_CHECKING:
    from weigh.harness.web.live.server import LiveServer


def watching(own: Watch | None, other: Watching) -> Watching:
    """The watch of an episode: `own` and the other, as far as there are such."""

    def watch(table: Table) -> Watch | None:
        found = tuple(one for one in (own, other(table)) if one is not None)
        return Watches(found) if found else None

    return watch


def seating(single: Single, people: People | None, server: LiveServer | None) -> Following:
    """Sit everybody down, and say on standard error where pages are.

    Raises Refused when a person could not be asked.
    """
    if people is not None:
        return _in_person(single, people, server)
    return Following() if server is None else _watched(single, server)


def _watched(single: Single, server: LiveServer) -> Following:
    from weigh.harness.web.live.feed import Feed
    from weigh.harness.web.live.pages import SpectatorPage

    game = single.episode.game
    feed = Feed()
    feed.run_started(Plan(game, single.seed, tuple(dict.fromkeys(single.names)), {game: 1}))
    print_note(f"live: {server.add(SpectatorPage(feed, game, single=True))}")

    def ended(result: Record | Void | str) -> None:
        if isinstance(result, Record):
            feed.run_finished(Closing("complete", 1, 0, 1))
        elif isinstance(result, str):
            feed.run_finished(Closing("stopped", 0, 0, 1, result))
        else:
            feed.run_finished(Closing("stopped", 0, 1, 1, result.cause))

    return Following(watch=feed.watch, onlookers=(feed,), ended=ended)


def _in_person(single: Single, people: People, server: LiveServer | None) -> Following:
    game, config = single.division.game, single.division.config
    rules, aliases = game.rulebook(config), single.aliases
    if server is None:
        lines = Lines()
        if not lines.wait_for_some():
            raise Refused(
                "human: standard input is no terminal and holds no moves; play in a terminal, or with --serve in a "
                "browser, or pipe a line for each move",
                kind="no-input",
            )
        people.desk = TerminalDesk(aliases, people.seats, rules, lines)
        return Following()
    from weigh.harness.web.live.pages import SeatPage
    from weigh.harness.web.live.seat import SeatRoom

    rooms = {seat: SeatRoom(aliases[seat], game.title, rules) for seat in people.seats}
    people.desk = BrowserDesk(rooms)
    for seat, room in rooms.items():
        print_note(f"{aliases[seat]} (seat {seat}) plays at {server.add(SeatPage(room))}")

    def ended(result: Record | Void | str) -> None:
        ending = conclusion(result)
        for room in rooms.values():
            room.conclude(ending)

    return Following(ended=ended)


def conclusion(result: Record | Void | str) -> dict[str, Json]:
    """What a seat's page is told at the end: lines, and the whole episode where there is a record."""
    if isinstance(result, str):
        return {"lines": [one_line(f"The episode is not finished: {result}", 600)], "episode": None}
    if not isinstance(result, Record):
        return {"lines": [one_line(f"The episode is void: {result.cause}", 600)], "episode": None}
    order = sorted(range(len(result.scores)), key=lambda seat: -result.scores[seat])
    lines: list[Json] = [f"{result.reason}: {result.ending}"]
    lines += [
        one_line(f"{score(result.scores[seat])}  {result.aliases[seat]} was {result.entrants[seat]}", 200)
        for seat in order
    ]
    return {"lines": lines, "episode": episode_data(result)}
