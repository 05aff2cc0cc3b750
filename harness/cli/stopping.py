"""How a person stops what is being played: the first Ctrl-C lets calls in flight return, the second waits no more."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.brake import Brake

SIGNALS = (signal.SIGINT, signal.SIGTERM)


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
