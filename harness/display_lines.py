"""Sentences about a whole run, the same in every display.

Owns their words. Reads counts; writes nowhere.
"""

from __future__ import annotations

from harness.display import Closing
from harness.display_tally import Tally
from harness.display_words import count, duration, money, plural


def in_short(tally: Tally) -> str:
    """What is going on and what it took so far, in one line."""
    whole = tally.totals()
    parts = [
        f"{tally.in_flight} in flight",
        plural(whole.calls, "call"),
        f"{count(whole.tokens_in)} tokens in, {count(whole.tokens_out)} out",
        f"cost {money(whole.cost, whole.unpriced)}",
    ]
    if tally.waiting:
        parts.append(plural(tally.waiting, "retry", "retries") + " waiting")
    if tally.outages:
        parts.append(plural(tally.outages, "outage"))
    return ", ".join(parts)


def farewell(tally: Tally, closing: Closing) -> list[str]:
    """The last lines of a run: what was played, what it took, and how to go on."""
    whole = tally.totals()
    void = f", {closing.void} void" if closing.void else ""
    spent = ""
    if whole.calls:
        spent = (
            f"; {plural(whole.calls, 'call')}, {count(whole.tokens_in)} tokens in, {count(whole.tokens_out)} out, "
            f"cost {money(whole.cost, whole.unpriced)}"
        )
    if tally.waits:
        spent += f", {plural(tally.waits, 'call')} made again after a passing failure"
    lines = [
        f"{closing.ended}: {closing.finished} of {plural(closing.total, 'episode')} finished{void} "
        f"in {duration(tally.elapsed)}{spent}"
    ]
    if whole.unpriced:
        lines.append(f"nobody knows the cost of {plural(whole.unpriced, 'call')}")
    if closing.detail not in ("", closing.ended):
        lines.append(closing.detail)
    if closing.resume:
        lines.append(f"go on with: {closing.resume}")
    return lines
