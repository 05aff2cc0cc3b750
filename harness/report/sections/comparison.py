"""A comparison of two policies as lines for a terminal.

Owns the words and the layout. Every figure is the comparison's; names come out harmless.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from weigh.harness.gate.comparison import Answer, ArmComparison, ArmReport, Comparison, alike
from weigh.harness.report.render.document import NOTHING, Column, Section, Table, cells
from weigh.harness.report.render.text import ASCII, Ink, axis, drawn, limit_of, plain_lines
from weigh.harness.words import count, interval, money, plural, score, share, shown

ROWS = 40
"""Blocks that are drawn; of more, the first and the last in the order of their differences."""

_ANSWERS: dict[Answer, str] = {
    "b_higher": "B scores more than A",
    "a_higher": "B scores less than A",
    "not_told_apart": "A and B are not told apart",
    "nothing": "nothing can be said",
}


def comparison_lines(told: ArmComparison, width: int, ink: Ink = ASCII) -> Iterator[str]:
    """All of it, no line of text wider than `width`."""
    found = told.comparison
    yield from wrap(shown(f"A {told.a.name}, B {told.b.name}: {_ANSWERS[told.answer]}{_why(told)}", limit=600), width)
    yield from wrap(shown(f"estimand: {told.estimand}", limit=600), width, subsequent_indent="  ")
    yield f"blocks      {_blocks(told)}"
    yield f"B - A       {_interval(found)}{': no interval' if alike(found) else ''}"
    yield f"p           {_plain(found.p)} (sign flips, two-sided)"
    yield f"detectable  {_plain(found.mde)} (in {plural(found.n, 'block')}, four runs of five)"
    if told.null is not None:
        yield f"noise       the same policy against itself gives {_interval(told.null)}"
        yield from wrap(_about_noise(told, told.null), width, initial_indent=" " * 12, subsequent_indent=" " * 12)
    for note in told.notes:
        yield from wrap(f"note        {shown(note, limit=600)}", width, subsequent_indent=" " * 12)
    yield ""
    if told.differences:
        yield from plain_lines([_picture(told, width, ink)], width)
        yield ""
    yield from plain_lines([Section("", blocks=(_arms(told),))], width)
    if told.stopped:
        yield from wrap(shown(f"not played to its end: {told.stopped}", limit=600), width)


def _why(told: ArmComparison) -> str:
    found = told.comparison
    if told.answer == "nothing":
        if not found.n:
            return " (no block was played in both arms)"
        return f" of {plural(found.n, 'block')}" + (" that agree" if found.n > 1 else "")
    if told.answer == "not_told_apart":
        return "" if found.mde is None else f" (a difference of {found.mde:.3g} would probably have shown)"
    return ""


def _blocks(told: ArmComparison) -> str:
    void = f", {told.comparison.missing} of them void" if told.comparison.missing else ""
    whole = len(told.blocks)
    pairs = plural(told.comparison.n * told.seats, "pair")
    return f"{len(told.differences)} of {whole} blocks{void}; {pairs} of episodes"


def _interval(found: Comparison) -> str:
    if found.mean is None:
        return NOTHING
    if alike(found):
        return f"{score(found.mean)} in every block"
    if found.interval is None:
        return f"{score(found.mean)} ({plural(found.n, 'block')}, too few for an interval)"
    return f"{score(found.mean)}, 95% CI {interval(found.interval)}"


def _about_noise(told: ArmComparison, null: Comparison) -> str:
    if told.noiseless:
        if told.a.model is None:
            return (
                "exactly 0 in every block: A is a script whose moves follow from what it sees, so it plays the same "
                "episodes again, and none of B - A is noise of A"
            )
        return "exactly 0 in every block: the model answered alike both times, or its answers never changed a score"
    if null.interval is not None and not null.interval[0] <= 0 <= null.interval[1]:
        return (
            "it does not hold 0, as happens by chance once in twenty times: if A's model changed between its two arms, "
            "B - A tells of that too"
        )
    spreads = [_plain(found.sd) for found in (told.comparison, null)]
    return f"a block of B - A spreads by {spreads[0]}, a block of this by {spreads[1]} (standard deviations)"


def _picture(told: ArmComparison, width: int, ink: Ink) -> Section:
    """A row for each block in the order of the differences, and below them the mean and what noise alone gives."""
    known = sorted(
        (value, shown(block.rpartition("/")[2], limit=12))
        for block, value in told.differences.items()
        if value is not None
    )
    found = told.comparison
    spans = [("mean", found.mean, None if alike(found) else found.interval)]
    if told.null is not None:
        spans.append(("noise", told.null.mean, None if alike(told.null) else told.null.interval))
    limit = limit_of(
        [*(value for value, _ in known), *(end for _, mean, ends in spans for end in ends or [mean or 0.0])]
    )
    half = max(8, (width - 24) // 2)
    rows = [(block, score(value), drawn(value, None, limit, half, ink)) for value, block in known]
    if len(rows) > ROWS:
        between = ("", f"{len(rows) - ROWS} more", "")
        rows = [*rows[: ROWS // 2], between, *rows[-ROWS // 2 :]]
    rows += [(label, score(mean), drawn(mean, ends, limit, half, ink)) for label, mean, ends in spans]
    rows.append(("", "", axis(limit, half)))
    sides = f"{'A better':>{half - 2}}  0  B better"
    columns = (Column("", numeric=False), Column("B - A"), Column(sides, numeric=False))
    return Section("", blocks=(Table("", columns, cells(rows)),))


def _arms(told: ArmComparison) -> Table:
    rows = [
        ("mean score", [score(arm.mean) for arm in told.arms]),
        ("fallback rate", [share(arm.conduct.get("fallback_rate")) for arm in told.arms]),
        ("retry rate", [share(arm.conduct.get("retry_rate")) for arm in told.arms]),
        *_fault_rows(told),
        ("episodes", [str(arm.spent.episodes) for arm in told.arms]),
        ("calls", [count(arm.spent.calls) for arm in told.arms]),
        ("tokens", [count(arm.spent.tokens) for arm in told.arms]),
        ("cost", [money(arm.spent.cost_known_usd, arm.spent.unknown_cost_calls) for arm in told.arms]),
        ("cost an episode", [_cost(arm) for arm in told.arms]),
        ("median latency", [_seconds(arm.conduct.get("latency_p50")) for arm in told.arms]),
    ]
    columns = (Column("", numeric=False), *(Column(arm.letter) for arm in told.arms))
    return Table("", columns, cells((label, *row) for label, row in rows))


def _fault_rows(told: ArmComparison) -> list[tuple[str, list[str]]]:
    """A row for each kind of fault that any arm had; one line of none where there was no fault."""
    kinds = sorted({kind for arm in told.arms for kind, number in arm.faults.items() if number})
    if not kinds:
        return [("faults", ["0" for _ in told.arms])]
    return [(f"faults: {kind}", [str(arm.faults.get(kind, 0)) for arm in told.arms]) for kind in kinds]


def _cost(arm: ArmReport) -> str:
    cost = arm.conduct.get("cost_per_episode_usd")
    return NOTHING if cost is None else money(cost)


def _seconds(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f} s"


def _plain(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3g}"
