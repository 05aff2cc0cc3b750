"""A person's seat in the browser: the question that is open for it, and the answer that closes it.

Owns what a seat's page may be sent: its own observations, and nothing of any other seat before the episode is over. The
run asks from its event loop; pages read and answer from the server's thread. Of several pages of one seat the first
legal answer counts.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Final

from weigh.games.game import Json, Legal, MoveRefused, Observation
from weigh.harness.web.live.streams import LOOK, QUIET, event
from weigh.policies.human import choices, example, read_line
from weigh.policies.show import escaped

CHOICES: Final = 200
"""Most moves that are offered as choices; with more, one is written."""


class Closed(Exception):
    """The question is not open any more: it was answered, or the episode is over."""


class SeatRoom:
    """One seat's page, from the first question to the end of the episode."""

    def __init__(self, alias: str, title: str, rules: str) -> None:
        self.about: dict[str, Json] = {"alias": escaped(alias), "title": escaped(title), "rules": escaped(rules)}
        self._lock = threading.Lock()
        self._number = 0
        self._question: dict[str, Json] | None = None
        self._legal: Legal | None = None
        self._answer: asyncio.Future[str] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._history: tuple[str, ...] = ()
        self._ending: Json = None
        self._over = False

    async def ask(self, observation: Observation, refused: str | None) -> str:
        """Open a question and wait for the line that answers it. An answer is legal already when it comes."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str] = loop.create_future()
        legal = observation.legal
        offered: list[Json] = [[choice.words, choice.line] for choice in choices(legal, CHOICES)]
        with self._lock:
            self._number += 1
            self._loop, self._answer, self._legal = loop, answer, legal
            self._history = observation.history
            self._question = {
                "number": self._number,
                "situation": escaped(observation.situation),
                "legal": escaped(legal.describe()),
                "example": example(legal),
                "choices": offered,
                "refused": None if refused is None else escaped(refused),
            }
        try:
            return await answer
        finally:
            with self._lock:
                self._close()

    def answer(self, number: int, line: str) -> str | None:
        """Take a page's answer to question `number`: None when it is a legal move, else why it is refused.

        Raises Closed when the question is not open.
        """
        with self._lock:
            if self._question is None or number != self._number or self._legal is None:
                raise Closed
            try:
                read_line(line, self._legal)
            except MoveRefused as error:
                return escaped(str(error))
            waiting, loop = self._answer, self._loop
            self._close()
        try:
            if waiting is not None and loop is not None:
                loop.call_soon_threadsafe(_settle, waiting, line)
        except RuntimeError:  # the loop has ended: so has the episode
            raise Closed from None
        return None

    def _close(self) -> None:
        self._question, self._legal, self._answer = None, None, None

    def conclude(self, ending: Json) -> None:
        """The episode is over: from now on the page may be sent everything, which is `ending`."""
        with self._lock:
            self._close()
            self._ending, self._over = ending, True

    async def stream(self) -> AsyncIterator[str]:
        """The seat's stream. Events: `question`, `wait` (for the others), `over` (once, with the ending)."""
        sent: int | None = None
        silent = 0.0
        while True:
            with self._lock:
                over, ending = self._over, self._ending
                question, number, history = self._question, self._number, self._history
            open_now = number if question is not None else -number - 1
            if over:
                yield event("over", ending)
                return
            if open_now != sent:
                sent, silent = open_now, 0.0
                lines: list[Json] = [escaped(line) for line in history]
                if question is None:
                    yield event("wait", {"history": lines, "begun": number > 0})
                else:
                    yield event("question", {**question, "history": lines})
            elif silent >= QUIET:
                silent = 0.0
                yield ":\n\n"
            await asyncio.sleep(LOOK)
            silent += LOOK


def _settle(waiting: asyncio.Future[str], line: str) -> None:
    if not waiting.done():
        waiting.set_result(line)
