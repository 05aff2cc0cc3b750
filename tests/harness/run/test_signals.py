"""Every signal that asks for an end stops a run cleanly; one that is ignored stays so."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from weigh.harness.run.limits import Brake
from weigh.harness.run.signals import SIGNALS, stopping_on_signals


def sent(number: int) -> tuple[str | None, list[str]]:
    brake, said = Brake(), list[str]()

    async def run() -> None:
        with stopping_on_signals(brake, said.append):
            os.kill(os.getpid(), number)
            for _ in range(100):
                await asyncio.sleep(0.01)
                if brake.pulled:
                    return

    asyncio.run(run())
    return brake.pulled, said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_stops_the_run_and_says_so(number: int) -> None:
    assert number in SIGNALS
    pulled, said = sent(number)
    assert pulled == "interrupted"
    assert len(said) == 1


def test_under_nohup_a_hang_up_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        monkeypatch.setattr(asyncio, "sleep", lambda seconds, sleep=asyncio.sleep: sleep(seconds / 20))
        assert sent(signal.SIGHUP) == (None, [])
    finally:
        signal.signal(signal.SIGHUP, before)
