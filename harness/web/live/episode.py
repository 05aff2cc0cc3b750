"""One episode while it is played, as a page is told of it: the beats of every sealed step, and how moves came about.

Owns what may be told when: a step's moves, its calls and its pictures are here once the step was played, and calls of
an open round are held back. Pictures are drawn when somebody looks, by whoever asks for them; to be told of a step
costs its episode a list entry. Not thread-safe by itself: `harness.web.live.feed` holds the lock around what changes
it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weigh.games.game import Json, Move, Seat, State
from weigh.harness.run.episode import Table
from weigh.harness.store.calls import Call, Void
from weigh.harness.store.record import Decision, Record
from weigh.harness.web.viewer.conduct import Attempts, conduct_of
from weigh.harness.web.viewer.episode_data import episode_data
from weigh.harness.web.viewer.frames import spectator_names
from weigh.harness.web.viewer.scene import Moment
from weigh.harness.web.viewer.scenes import scene_of
from weigh.harness.web.viewer.seat_marks import COLOURS, marks
from weigh.harness.web.viewer.told import told_beats
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
    """Calls of the open round, told to nobody."""
    record: Record | None = None
    void: Void | None = None
    drawn: Drawn | None = None
    """Its pictures, once somebody has looked."""

    @property
    def key(self) -> str:
        return self.table.key

    def seal(self, state: State, moves: Mapping[Seat, Move], decisions: tuple[Decision, ...]) -> tuple[Call, ...]:
        """A step was played. Returns its calls, which may be told from now on."""
        calls, self.held = tuple(self.held), []
        self.steps.append(Step(dict(moves), state, decisions, calls))
        return calls

    def attempts(self) -> Attempts:
        """The calls of all sealed steps by step and seat."""
        found: defaultdict[tuple[int, int], list[Call]] = defaultdict(list)
        for step in tuple(self.steps):
            for call in step.calls:
                found[call.key.step, call.key.seat].append(call)
        return found


class Drawn:
    """An episode's pictures and moves as a page holds them, each made once for all pages. For one thread."""

    def __init__(self, episode: LiveEpisode) -> None:
        """Raises NoPictures for a game that has none."""
        self.episode = episode
        self.beats: list[Json] = []
        self.steps: list[Json] = []
        self._scene = scene_of(episode.table.game.name)
        self._names = spectator_names(_so_far(episode.table))
        self._last: State | None = None
        self._said: list[Mapping[Seat, str]] = []
        self._ending: dict[str, Json] | None = None

    def catch_up(self) -> None:
        """Draw what was sealed since."""
        table, played = self.episode.table, tuple(self.episode.steps)
        if self._last is None:
            self._last = table.game.start(table.config, table.deal)
            self._draw(Moment(table.game, table.config, self._names, -1, None, {}, self._last))
        since = len(self.steps)
        for number, step in enumerate(played[since:], start=since):
            moment = Moment(table.game, table.config, self._names, number, self._last, step.moves, step.after)
            self._draw(moment, step.decisions)
            before = self._last
            self._said.append({seat: self._scene.said(before, seat, move) for seat, move in step.moves.items()})
            self._last = step.after
        if since < len(played):
            self.steps += _conduct(table, played, since, self._said)

    def _draw(self, moment: Moment, decisions: tuple[Decision, ...] = ()) -> None:
        for beat in told_beats(self._scene, moment, decisions, self.episode.table.fallback.name):
            told = beat.to_json()
            parts = (told[name] for name in ("kind", "label", "picture", "feed", "counts", "banner", "flags"))
            self.beats.append([moment.step, *parts])

    def opening(self) -> dict[str, Json]:
        """The episode as the page's script opens it, with everything drawn so far."""
        table = self.episode.table
        found = marks(self._names)
        return {
            "key": one_line(table.key, _NAME),
            "game": table.game.name,
            "title": table.game.title,
            "facts": [["block", one_line(table.block, _NAME)], ["config", one_line(_settings(table), 1_000)]],
            "warnings": [],
            "seats": [
                {
                    "mark": found[seat],
                    "colour": seat % COLOURS,
                    "alias": one_line(table.aliases[seat], _NAME),
                    "entrant": one_line(policy.name, _NAME),
                    "model": None if policy.model is None else one_line(policy.model, _NAME),
                    "score": None,
                    "exact": None,
                    "value": None,
                    "fallbacks": 0,
                }
                for seat, policy in enumerate(table.policies)
            ],
            "shared": [],
            "beats": [*self.beats],
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


class Telling:
    """What one page was told of one episode, and what is new since. For the thread that draws."""

    def __init__(self, episode: LiveEpisode) -> None:
        """Raises NoPictures for a game that has none."""
        if episode.drawn is None:
            episode.drawn = Drawn(episode)
        self._drawn = episode.drawn
        self._ended = False
        self._beats = self._steps = 0

    def opening(self) -> dict[str, Json]:
        """The episode with everything sealed so far."""
        self._drawn.catch_up()
        self._beats, self._steps = len(self._drawn.beats), len(self._drawn.steps)
        return self._drawn.opening()

    def news(self) -> dict[str, Json] | None:
        """The beats since the last telling, None without any."""
        drawn, beats, steps = self._drawn, self._beats, self._steps
        drawn.catch_up()
        self._beats, self._steps = len(drawn.beats), len(drawn.steps)
        if self._beats == beats:
            return None
        return {"from": beats, "beats": drawn.beats[beats:], "steps": drawn.steps[steps:]}

    def ending(self) -> dict[str, Json] | None:
        """Once, when the episode has ended: its record as the page shows it, or why there is none."""
        ending = None if self._ended else self._drawn.ending()
        self._ended = self._ended or ending is not None
        return ending


def _conduct(table: Table, played: tuple[Step, ...], since: int, said: Sequence[Mapping[Seat, str]]) -> list[Json]:
    """How the moves of the steps from `since` on came about."""
    calls: defaultdict[tuple[int, int], list[Call]] = defaultdict(list)
    decisions: list[Decision] = []
    for step in played[since:]:
        decisions += step.decisions
        for call in step.calls:
            calls[call.key.step, call.key.seat].append(call)
    seats = range(len(table.policies))
    moves = tuple(tuple(step.moves.get(seat) for seat in seats) for step in played)
    return conduct_of(_so_far(table, moves, tuple(decisions)), calls, said)[since:]


def _so_far(table: Table, moves: tuple[tuple[Move, ...], ...] = (), decisions: tuple[Decision, ...] = ()) -> Record:
    """What there is of a record before its end, for those who show one. It has no events, no scores and no ending."""
    return Record.model_construct(
        key=table.key,
        aliases=table.aliases,
        entrants=table.entrants,
        fallback=table.fallback.name,
        moves=moves,
        decisions=decisions,
    )


def _settings(table: Table) -> str:
    config = table.config.model_dump(mode="json")
    return ", ".join(f"{key} {value}" for key, value in config.items())
