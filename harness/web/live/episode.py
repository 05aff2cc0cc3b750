"""One episode while it is played, as a page is sent it: the frames of every sealed step, and how moves came about.

Owns what may be sent when: a step's moves, its calls and its pictures are here once the step was played, and calls of
an open round are held back. Pictures are drawn when a page asks, by the thread of the server; to seal a step costs its
episode a list entry. Not thread-safe by itself: `harness.web.live.feed` holds the lock around what changes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weigh.games.game import Json, Move, Seat, State
from weigh.harness.run.episode import Table
from weigh.harness.store.calls import Call, Void
from weigh.harness.store.record import Decision, Record
from weigh.harness.web.scene import Moment, frames_of_moment
from weigh.harness.web.scenes import board_view
from weigh.harness.web.viewer.episode import Attempts, attempts_of, episode_data, move_data, seat_data
from weigh.harness.web.viewer.frames import spectator_names
from weigh.policies.show import one_line

_NAME = 200


@dataclass(frozen=True, slots=True)
class Step:
    """One step that was played."""

    moves: Mapping[Seat, Move]
    after: State
    decisions: tuple[Decision, ...]
    calls: tuple[Call, ...]


@dataclass(slots=True)
class LiveEpisode:
    """What is known of one episode so far."""

    table: Table
    steps: list[Step] = field(default_factory=list)
    """Only grows."""
    held: list[Call] = field(default_factory=list)
    """Calls of the open round, sent to no page."""
    record: Record | None = None
    void: Void | None = None
    drawn: Drawn | None = None
    """Its pictures, once a page has asked."""

    @property
    def key(self) -> str:
        return self.table.key

    def seal(self, state: State, moves: Mapping[Seat, Move], decisions: tuple[Decision, ...]) -> tuple[Call, ...]:
        """A step was played. Returns its calls, which may be sent from now on."""
        calls, self.held = tuple(self.held), []
        self.steps.append(Step(dict(moves), state, decisions, calls))
        return calls

    def attempts(self) -> Attempts:
        """The calls of all sealed steps by step and seat."""
        return attempts_of(call for step in tuple(self.steps) for call in step.calls)


class Drawn:
    """An episode's frames and moves as a page holds them, each made once for all pages. For one thread."""

    def __init__(self, episode: LiveEpisode) -> None:
        """Raises NoPictures for a game that has none."""
        self.episode = episode
        self.frames: list[Json] = []
        self.steps: list[Json] = []
        self._view = board_view(episode.table.game.name)
        self._names = spectator_names(episode.table.aliases, episode.table.entrants)
        self._last: State | None = None
        self._ending: dict[str, Json] | None = None

    def catch_up(self) -> None:
        """Draw what was sealed since."""
        table = self.episode.table
        if self._last is None:
            self._last = table.game.start(table.config, table.deal)
            self._draw(Moment(self._names, -1, None, {}, self._last))
        for number, step in enumerate(self.episode.steps[len(self.steps) :], start=len(self.steps)):
            before, self._last = self._last, step.after
            fallback, calls = table.fallback.name, attempts_of(step.calls)
            self._draw(Moment(self._names, number, before, step.moves, step.after, step.decisions, fallback))
            words = {seat: self._view.words(before, seat, move) for seat, move in step.moves.items()}
            moves: list[Json] = [
                move_data(each, words[each.seat], calls.get((number, each.seat), ()), fallback)
                for each in step.decisions
            ]
            self.steps.append(moves)

    def _draw(self, moment: Moment) -> None:
        self.frames += [frame.to_json(frame.picture.to_json()) for frame in frames_of_moment(self._view, moment)]

    def opening(self) -> dict[str, Json]:
        """The episode as the page's script opens it, with everything drawn so far."""
        table = self.episode.table
        settings = ", ".join(f"{key} {value}" for key, value in table.config.model_dump(mode="json").items())
        return {
            "key": one_line(table.key, _NAME),
            "game": table.game.name,
            "title": table.game.title,
            "facts": [["block", one_line(table.block, _NAME)], ["config", one_line(settings, 1_000)]],
            "warnings": [],
            "seats": [
                seat_data(self._names, seat, table.aliases[seat], policy.name, policy.model, None, 0)
                for seat, policy in enumerate(table.policies)
            ],
            "shared": [],
            "frames": [*self.frames],
            "steps": [*self.steps],
            "calls": True,
        }

    def ending(self) -> dict[str, Json] | None:
        """The record as the page shows it, or why there is none; None while the episode goes on."""
        record, void = self.episode.record, self.episode.void
        if self._ending is None and record is not None:
            self._ending = episode_data(record, self.episode.attempts())
        elif self._ending is None and void is not None:
            cause = one_line(f"void at step {void.step}: {void.cause}", 600)
            self._ending = {"key": one_line(self.episode.key, _NAME), "cause": cause}
        return self._ending


class Subscription:
    """What one page was sent of one episode, and what is new since. For the thread that draws."""

    def __init__(self, episode: LiveEpisode) -> None:
        """Raises NoPictures for a game that has none."""
        if episode.drawn is None:
            episode.drawn = Drawn(episode)
        self._drawn = episode.drawn
        self._ended = False
        self._frames = self._steps = 0

    def opening(self) -> dict[str, Json]:
        """The episode with everything sealed so far."""
        self.news()
        return self._drawn.opening()

    def news(self) -> dict[str, Json] | None:
        """The frames since the last call, None without any."""
        drawn, frames, steps = self._drawn, self._frames, self._steps
        drawn.catch_up()
        self._frames, self._steps = len(drawn.frames), len(drawn.steps)
        if self._frames == frames:
            return None
        return {"from": frames, "frames": drawn.frames[frames:], "steps": drawn.steps[steps:]}

    def ending(self) -> dict[str, Json] | None:
        """Once, when the episode has ended: its record as the page shows it, or why there is none."""
        ending = None if self._ended else self._drawn.ending()
        self._ended = self._ended or ending is not None
        return ending
