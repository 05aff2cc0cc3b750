"""How much a call does, counted: the same on every machine and however busy it is.

Python's steps are counted, and the bytes it asks memory for. What happens within one call of C without memory, such as
a search for a pattern, is neither: for that a test has `pytest.mark.timeout`, far above what the call takes.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any


@dataclass(frozen=True, slots=True)
class Work:
    steps: int
    """Lines of Python that were run, in all functions."""
    memory: int
    """Bytes, the most that were held between two lines over what was held before the first; summed over the lines.
    So a copy counts every time it is made."""


def work(call: Callable[[], object]) -> Work:
    """What one call does. What it raises passes through."""
    steps = memory = held = 0

    def step(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal steps, memory, held
        if event != "line":
            return step
        now, peak = tracemalloc.get_traced_memory()
        steps += 1
        memory += max(0, peak - held)
        held = now
        tracemalloc.reset_peak()
        return step

    before = sys.gettrace()
    tracemalloc.start()
    held = tracemalloc.get_traced_memory()[0]
    sys.settrace(step)
    try:
        call()
    finally:
        sys.settrace(before)
        memory += max(0, tracemalloc.get_traced_memory()[1] - held)
        tracemalloc.stop()
    return Work(steps, memory)


def assert_linear(call: Callable[[Any], object], make: Callable[[int], Any], size: int) -> None:
    """`call(make(n))` does at most twice and a bit as much for twice the `size`: what grows with the square does four
    times as much."""
    call(make(size))  # caches fill
    small, large = (work(lambda made=made: call(made)) for made in (make(size), make(2 * size)))
    assert large.steps <= 2.5 * small.steps + 100, (small, large)
    assert large.memory <= 2.5 * small.memory + 20_000, (small, large)
