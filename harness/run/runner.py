"""A run: every episode of a schedule, played several at once, each kept as it ends.

Owns which episode is played when, what happens after an outage, and how a run comes to a stop. An episode in which a
paused model plays waits where it stands: nothing is charged, its clock stands still, and its place is another's.
Episodes that need no paused model are begun instead; those that need one are begun when its pause is over. Knows the
schedule, the store and the lines as values handed in; names no provider and prints nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from pydantic import BaseModel

from weigh.games.game import AnyGame
from weigh.harness.config.schedule import Episode, names_key
from weigh.harness.run.concurrency import Pause, Pauses
from weigh.harness.run.episode import Table, Watch, play_episode
from weigh.harness.run.limits import Brake, Pull, Stopping
from weigh.harness.run.model_calls import Exchange, Ledger, SeatLine
from weigh.harness.seeds import deal_aliases, stream
from weigh.harness.store.calls import Call, Void
from weigh.harness.store.record import Record
from weigh.policies.contract import CONTEXT_FULL, Completion, Fatal, Policy


class Flight:
    """An episode in flight, and its clock."""

    def __init__(self, models: tuple[str, ...]) -> None:
        self.models = models
        self._since: float | None = None
        self._stood = 0.0

    @property
    def waits(self) -> bool:
        """Whether a model that plays in it is paused."""
        return self._since is not None

    def wait(self, paused: bool) -> None:
        """Let its clock stand still, or go on."""
        now = time.monotonic()
        if paused and self._since is None:
            self._since = now
        elif not paused and self._since is not None:
            self._stood += now - self._since
            self._since = None

    def clock(self) -> float:
        """Seconds of a monotonic clock, pauses left out."""
        return (time.monotonic() if self._since is None else self._since) - self._stood


class Sweep:
    """One pass. For one event loop."""

    def __init__(
        self,
        todo: Iterable[Episode],
        at_once: int,
        play: Callable[[Episode, Flight], Awaitable[None]],
        models: Callable[[Episode], tuple[str, ...]],
        pauses: Mapping[str, Pauses],
        brake: Brake,
    ) -> None:
        """`models` are those that play in an episode; `pauses` are by model."""
        self._todo = iter(todo)
        self._at_once = at_once
        self._play = play
        self._models = models
        self._pauses = pauses
        self._brake = brake
        self._later: dict[str, deque[Episode]] = {}
        """Episodes that were passed over, by a model that was paused when their turn came."""
        self._flights: set[Flight] = set()
        self._idle = 0
        """Workers with nothing to play until a pause is over."""
        self._resumed = asyncio.Event()
        self._bugs: list[Exception] = []

    async def run(self) -> None:
        """Play every episode. Returns when all is played or the brake is pulled.

        Raises whatever is a bug, after the other episodes in flight came to rest.
        """
        with ExitStack() as following:
            for pauses in self._pauses.values():
                following.callback(pauses.follow(self._changed))
            async with asyncio.TaskGroup() as self._workers:
                self._employ(self._at_once)
        if self._bugs:
            bug, *others = self._bugs
            for other in others:
                bug.add_note(f"another episode in flight failed as well: {type(other).__name__}: {other}")
            raise bug

    def _employ(self, number: int) -> None:
        for _ in range(number):
            self._workers.create_task(self._work())

    async def _work(self) -> None:
        """Play one episode after the other, as long as there is one and a place for it."""
        while True:
            # One turn of the loop between episodes: signals and timers are served in scripted runs too.
            await asyncio.sleep(0)
            if self._brake.pulled or self._busy() >= self._at_once:
                return
            episode = self._next()
            if episode is not None:
                await self._fly(episode)
            elif not any(self._later.values()) or not await self._resume():
                return

    async def _fly(self, episode: Episode) -> None:
        flight = Flight(self._models(episode))
        self._flights.add(flight)
        try:
            await self._play(episode, flight)
        except Exception as bug:
            # Let what is in flight return and be kept before the bug is shown. Its words are not for the reason.
            self._bugs.append(bug)
            self._brake.pull("fatal", f"an episode failed with {type(bug).__name__}")
        finally:
            self._flights.discard(flight)

    def _busy(self) -> int:
        """Episodes in flight that wait for no pause."""
        return sum(not flight.waits for flight in self._flights)

    def _next(self) -> Episode | None:
        """The next episode that needs no paused model, those that were passed over first."""
        paused = self._paused()
        for model, passed in tuple(self._later.items()):
            while passed and model not in paused:
                episode = passed.popleft()
                if not self._passed_over(episode, paused):
                    return episode
        return next((episode for episode in self._todo if not self._passed_over(episode, paused)), None)

    def _passed_over(self, episode: Episode, paused: frozenset[str]) -> bool:
        if not paused:
            return False
        model = next((model for model in self._models(episode) if model in paused), None)
        if model is not None:
            self._later.setdefault(model, deque()).append(episode)
        return model is not None

    def _paused(self) -> frozenset[str]:
        return frozenset(model for model, pauses in self._pauses.items() if pauses.current is not None)

    async def _resume(self) -> bool:
        """Wait until a pause is over; False when the run stops before."""
        self._idle += 1
        try:
            async with self._brake.waiting():
                await self._resumed.wait()
        except Stopping:
            return False
        finally:
            self._idle -= 1
        return True

    def _changed(self, pause: Pause | None) -> None:
        """A pause began, grew or is over."""
        paused = self._paused()
        for flight in self._flights:
            flight.wait(any(model in paused for model in flight.models))
        if pause is None:
            self._resumed.set()
            self._resumed = asyncio.Event()
        elif self._flights and not self._brake.pulled:
            self._employ(self._at_once - self._busy() - self._idle)


class Keeper(Ledger, Protocol):
    """Where a run is kept; everything is committed when a method returns."""

    def add_record(self, record: Record) -> None: ...

    def add_void(self, void: Void) -> None: ...


class Onlooker(Protocol):
    """Whoever follows a run. Called as things happen, with what is already kept."""

    def episode_started(self, key: str, entrants: Sequence[str]) -> None: ...

    def episode_finished(self, record: Record) -> None: ...

    def episode_void(self, void: Void) -> None: ...

    def call_finished(self, call: Call) -> None: ...

    def note(self, line: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Division:
    """One game of a run: who plays it, under which config."""

    game: AnyGame
    config: BaseModel
    policies: Mapping[str, Policy]
    """By entrant name."""
    fallback: Policy
    """Scripted."""


ALL_CUT = 20
"""The first answers of an entrant that stop the run if every one of them is truncated."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How a run is driven. Nothing here changes what is recorded, timeouts and deadlines aside."""

    episodes_in_flight: int = 1
    """Those that wait for a paused model left out: others are played in their places."""
    decision_timeout: float = 60.0
    """Seconds for one attempt at one decision."""
    episode_deadline: float | None = None
    """Seconds for one episode."""
    replays: int = 1
    """How often, at the end of a sitting, episodes that an outage ended are played again."""
    outages_in_a_row: int = 5
    """Void episodes without one answered call of the model in between, after which its provider counts as down."""


@dataclass(frozen=True, slots=True)
class Summary:
    """How a sitting of a run ended."""

    scheduled: int
    finished: int
    """Episodes with a record, earlier sittings included."""
    void: int
    """Episodes that an outage ended in this sitting and that have no record."""
    pulled: Pull | None
    """Why the run stopped before its last episode, None when it did not."""
    reason: str
    """One line on that, empty when it did not."""

    @property
    def complete(self) -> bool:
        return self.finished == self.scheduled


class Run:
    """One sitting of a run."""

    def __init__(
        self,
        seed: int,
        divisions: Mapping[str, Division],
        keeper: Keeper,
        exchanges: Mapping[str, Exchange],
        brake: Brake,
        onlooker: Onlooker,
        pace: Pace = Pace(),
        watch: Callable[[Table], Watch | None] = lambda table: None,
    ) -> None:
        """`divisions` by game name; `exchanges` by `provider:model`; `watch` gives each episode's own."""
        self._seed = seed
        self._divisions = divisions
        self._keeper = keeper
        self._exchanges = exchanges
        self._brake = brake
        self._onlooker = onlooker
        self._pace = pace
        self._watch = watch
        self._silent: Counter[str] = Counter()
        """Void episodes by model since its last answered call."""
        self._cut: Counter[str] = Counter()
        """By entrant, how many of its answers were cut, as long as all were."""
        self._whole: set[str] = set()
        """Entrants with an answer that was not cut."""

    async def play(self, episodes: Sequence[Episode], finished: frozenset[str]) -> Summary:
        """Play every episode whose key is not in `finished`. Returns when all is played or the brake is pulled.

        Raises whatever is a bug, after the other episodes in flight came to rest. Nothing that was kept is lost.
        """
        void: dict[str, Episode] = {}
        played = await self._sweep((episode for episode in episodes if episode.key not in finished), void)
        for _ in range(self._pace.replays):
            if not void or self._brake.pulled:
                break
            self._onlooker.note(f"playing {len(void)} void episode(s) again, with the same seeds")
            played += await self._sweep(tuple(void.values()), void)
        done = len(finished) + played
        # A brake pulled by the very last call, or after it, stopped nothing.
        stopped = done < len(episodes)
        pulled, reason = (self._brake.pulled, self._brake.reason) if stopped else (None, "")
        return Summary(len(episodes), done, len(void), pulled, reason)

    async def _sweep(self, todo: Iterable[Episode], void: dict[str, Episode]) -> int:
        """Play through `todo`. Returns how many episodes got a record; `void` holds those that an outage ended."""
        played = 0

        async def play(episode: Episode, flight: Flight) -> None:
            nonlocal played
            result = await self._episode(episode, flight)
            if isinstance(result, Record):
                played += 1
                void.pop(episode.key, None)
            elif isinstance(result, Void):
                void[episode.key] = episode

        pauses = {model: exchange.slots.pauses for model, exchange in self._exchanges.items()}
        sweep = Sweep(todo, max(1, self._pace.episodes_in_flight), play, self._models, pauses, self._brake)
        await sweep.run()
        return played

    def _models(self, episode: Episode) -> tuple[str, ...]:
        """The models that play in an episode, each once."""
        policies = self._divisions[episode.game].policies
        seated = (policies[name].model for name in episode.entrants)
        return tuple(dict.fromkeys(model for model in seated if model is not None))

    async def _episode(self, episode: Episode, flight: Flight) -> Record | Void | None:
        """Play and keep one episode; None when the run stopped in its midst."""
        table = self._table(episode)
        lines = {
            seat: SeatLine(
                episode.key,
                seat,
                self._exchanges[policy.model],
                self._keeper,
                self._brake,
                on_call=partial(self._called, episode.entrants[seat]),
            )
            for seat, policy in enumerate(table.policies)
            if policy.model is not None
        }
        self._onlooker.episode_started(episode.key, episode.entrants)
        try:
            result = await play_episode(
                table, lines, watch=self._watch(table), now=flight.clock, check=self._brake.check
            )
        except Stopping:
            return None
        except Fatal as fatal:
            self._brake.pull("fatal", str(fatal))
            return None
        if isinstance(result, Record):
            self._keeper.add_record(result)
            self._onlooker.episode_finished(result)
        else:
            self._keeper.add_void(result)
            self._onlooker.episode_void(result)
            self._count_outage(table, result)
        return result

    def _table(self, episode: Episode) -> Table:
        division = self._divisions[episode.game]
        policies = tuple(division.policies[name] for name in episode.entrants)
        return Table(
            key=episode.key,
            block=episode.block,
            game=division.game,
            config=division.config,
            deal=division.game.deal(division.config, stream(self._seed, "deal", episode.deal_key)),
            run_seed=self._seed,
            policies=policies,
            aliases=deal_aliases(len(policies), stream(self._seed, "aliases", names_key(episode.stream_key))),
            fallback=division.fallback,
            decision_timeout=self._pace.decision_timeout,
            episode_deadline=self._pace.episode_deadline,
            stream_key=episode.stream_key,
        )

    def _called(self, entrant: str, call: Call) -> None:
        if call.fate == "answered":
            self._silent[call.request.model] = 0
        if call.completion is not None and entrant not in self._whole:
            self._count_cut(entrant, call.completion, call.request.sampling.max_tokens)
        self._onlooker.call_finished(call)

    def _count_cut(self, entrant: str, answer: Completion, cap: int) -> None:
        """Stop a run in which an entrant cannot give an answer, before all its decisions are paid for twice."""
        if answer.stop != "length":
            self._whole.add(entrant)
            return
        self._cut[entrant] += 1
        if self._cut[entrant] == ALL_CUT:
            what = (
                f"its prompt is longer than the context of {answer.served_by or 'its model'}: give it a larger one"
                if answer.stop_detail == CONTEXT_FULL
                else f"cut at its cap of {cap} tokens: raise its max_tokens, or let it think less (see `weigh doctor`)"
            )
            self._brake.pull("fatal", f"the first {ALL_CUT} answers of {entrant} were all truncated: {what}")

    def _count_outage(self, table: Table, void: Void) -> None:
        for model in dict.fromkeys(table.policies[seat].model for seat in void.seats):
            if model is None:
                continue
            self._silent[model] += 1
            if self._silent[model] >= self._pace.outages_in_a_row:
                self._brake.pull(
                    "outage",
                    f"{model} ended {self._silent[model]} episodes without one answer in between: {void.cause}",
                )
