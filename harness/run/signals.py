"""How a person stops what is being played: the first Ctrl-C lets calls in flight return, the second waits no more.

Owns the signals, the thread in which a notebook plays, the refusal of commands that could not be stopped, and the
command that goes on.
"""

from __future__ import annotations

import asyncio
import math
import shlex
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from pathlib import Path
from typing import TypeVar

from weigh.harness.errors import Refused
from weigh.harness.run.limits import Brake, Spending

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LIMITED = ("ladder", "compare")
"""Commands that take limits over all sittings as options."""


T = TypeVar("T")

_INTERRUPTED_BY: ContextVar[_Waiter | None] = ContextVar("interrupted_by", default=None)
"""Who waits, in another thread, for what is played in this context."""


class _Waiter:
    """Waits for work in a thread of its own, and passes the interrupts of its own thread on to it."""

    def __init__(self) -> None:
        self._stop: Callable[[], object] | None = None
        self._unheard = False
        """Whether an interrupt came while nothing was there to be stopped."""

    @contextmanager
    def stopping(self, stop: Callable[[], object]) -> Iterator[None]:
        """Inside, an interrupt calls `stop`, from another thread; one that came before does so at once."""
        self._stop = stop
        if self._unheard:
            self._unheard = False
            stop()
        try:
            yield
        finally:
            self._stop = None

    def wait(self, ended: threading.Event) -> None:
        """Returns when the work has ended. Raises KeyboardInterrupt for an interrupt that nothing there heard.

        An event and no `Thread.join`, which takes a thread for dead once it is interrupted (Python 3.11, 3.12).
        """
        while not ended.is_set():
            try:
                ended.wait()
            except KeyboardInterrupt:
                stop = self._stop
                if stop is None:
                    self._unheard = True
                else:
                    with suppress(RuntimeError):  # its loop has just ended
                        stop()
        if self._unheard:
            raise KeyboardInterrupt


def apart(work: Callable[[], T]) -> T:
    """Call `work`, which runs an event loop: here, or in a thread of its own where a loop is running (a notebook).

    Returns what it returns and raises what it raises. Interrupts reach it in both cases.
    """
    if not _within_loop():
        return work()
    waiter, ended, found, failed = _Waiter(), threading.Event(), list[T](), list[BaseException]()

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            failed.append(error)
        finally:
            ended.set()

    context = copy_context()
    context.run(_INTERRUPTED_BY.set, waiter)
    threading.Thread(target=context.run, args=(run,), name="weigh", daemon=True).start()
    waiter.wait(ended)
    if failed:
        raise failed[0]
    return found[0]


def _within_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def require_own_loop() -> None:
    """Refuse, before anything is made or paid for, a command within another program's event loop or thread.

    A notebook's cell runs in a loop, where a second one cannot run, and a thread hears no Ctrl-C.
    """
    if _within_loop() or threading.current_thread() is not threading.main_thread():
        raise Refused(
            "a command that plays needs a process of its own, and is called here from an event loop (a notebook's "
            "cell) or a thread: call weigh.ladder(CONFIG) or weigh.play(GAME, ENTRANTS) of `import weigh` there, which "
            "give back what was played, or start the command with subprocess",
            kind="no-process",
        )


def onward(words: Sequence[str], used_up: tuple[Spending, int | float] | None, source: Path | None = None) -> str:
    """The command that goes on with what a sitting left. Where a limit over all sittings is used up (`Brake.used_up`),
    the same words would stop at once: then with more of it, as an option or, for commands without one, in `source`."""
    if used_up is None:
        return shlex.join(words)
    limit, spent = used_up
    amount = f"above {math.ceil(spent * 100) / 100:g}" if limit == "max_usd" else f"above {spent}"
    if words[1] not in LIMITED:
        return f"{shlex.join(words)} (with limits.{limit} {amount} in {source})"
    option = f"--{limit.replace('_', '-')}"
    kept = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if option not in (before, word) and not word.startswith(f"{option}=")
    ]
    return f"{shlex.join(kept)} {option} {'USD' if limit == 'max_usd' else 'N'} ({amount})"


@contextmanager
def stopping_on_signals(brake: Brake, note: Callable[[str], None]) -> Iterator[None]:
    """Inside a task: the first of SIGNALS pulls the brake and says so; the second cancels the task.

    In a thread, which hears no signals, the interrupts of the thread that waits for it do so (`apart`), if one does.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()

    def stop() -> None:
        if brake.pulled == "interrupted" and task is not None:
            task.cancel()
            return
        brake.pull("interrupted", "interrupted")
        note("stopping: calls in flight are let to return; interrupt again to stop at once")

    if threading.current_thread() is not threading.main_thread():
        waiter = _INTERRUPTED_BY.get()
        if waiter is None:
            yield
            return
        with waiter.stopping(lambda: loop.call_soon_threadsafe(stop)):
            yield
        return
    heard = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]  # nohup ignores SIGHUP
    for number in heard:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in heard:
            loop.remove_signal_handler(number)
