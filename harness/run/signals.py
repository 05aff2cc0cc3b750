"""How a person stops what is being played: the first Ctrl-C lets calls in flight return, the second waits no more.

Owns the signals, the refusal to play where they could not be heard, and the command that goes on.
"""

from __future__ import annotations

import asyncio
import math
import shlex
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from weigh.harness.errors import Refused
from weigh.harness.run.limits import Brake, Spending

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LIMITED = ("ladder", "compare")
"""Commands that take limits over all sittings as options."""


def require_own_loop() -> None:
    """Refuse, before anything is made or paid for, to play from within another program's event loop or thread.

    A notebook's cell runs in a loop, where a second one cannot run, and a thread hears no Ctrl-C.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        if threading.current_thread() is threading.main_thread():
            return
    raise Refused(
        "what plays needs a process of its own, and is called here from an event loop (a notebook's cell) or a thread: "
        "write `!weigh ladder CONFIG.toml` in the notebook, or start it with subprocess, and read the results with "
        "weigh.harness.results.load"
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
    """Inside a task: the first SIGINT or SIGTERM pulls the brake and says so; the second cancels the task."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()

    def stop() -> None:
        if brake.pulled == "interrupted" and task is not None:
            task.cancel()
            return
        brake.pull("interrupted", "interrupted")
        note("stopping: calls in flight are let to return; interrupt again to stop at once")

    for number in SIGNALS:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
