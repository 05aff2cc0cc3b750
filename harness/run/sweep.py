"""One pass over a run's episodes: which is played next, how many at once, and what goes on while a model is paused.

An episode in which a paused model plays waits where it stands: nothing is charged, its clock stands still, and its
place is another's. Episodes that need no paused model are begun instead; those that need one are begun when its pause
is over. Knows no game and no store: an episode is played by a function handed in.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import ExitStack

from weigh.harness.config.schedule import Episode
from weigh.harness.run.limits import Brake, Stopping
from weigh.harness.run.pauses import Pause, Pauses


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
