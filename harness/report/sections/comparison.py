"""A comparison of two policies as lines for a terminal.

Owns the words and the layout: the answer, the interval and a few labelled lines; in `wide` a row for each block and the
faults and costs of each arm. Every figure is the comparison's; names come out harmless.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Final

from weigh.harness.gate.compare import Answer, ArmReport, Comparison
from weigh.harness.report.render.document import NOTHING, Column, Section, Table, cells
from weigh.harness.report.render.text import ASCII, Ink, axis, drawn, limit_of, plain_lines
from weigh.harness.report.sections.verdict import Row, barring, headline, in_rare_blocks, labelled, picture, spent
from weigh.harness.stats.paired import Paired
from weigh.harness.words import count, interval, money, plural, score, share, shown

ROWS: Final = 40
"""Blocks that are drawn; of more, the first and the last in the order of their differences."""

_ANSWERS: Final[Mapping[Answer, str]] = {
    "b_higher": "B scores more than A",
    "a_higher": "B scores less than A",
    "not_significant": "B and A are not significantly different",
    "nothing": "nothing can be said",
}


def comparison_lines(found: Comparison, width: int, ink: Ink = ASCII, *, wide: bool = False) -> Iterator[str]:
    """All of it, no line of text wider than `width`."""
    grade = barring(found.found.guaranteed) if found.higher is not None else ""
    yield headline(f"{_ANSWERS[found.answer]}{grade} (exit {found.exit_code})", found.game, width)
    yield from wrap(shown(f"A {found.a.name}, B {found.b.name}: {_blocks(found)}", limit=600), width)
    yield ""
    mean, alike = found.found.mean, found.found.alike
    if mean is not None:
        yield from picture(mean, None if alike else found.found.interval, ink, width)
        yield f"  B - A  {_difference(found.found)}"
        yield ""
    yield from labelled(_rows(found), width)
    if wide:
        yield from labelled([("estimand", found.estimand)], width)
        if found.differences:
            yield ""
            yield from plain_lines([_picture(found, width, ink)], width)
        yield ""
        yield from plain_lines([Section("", blocks=(_arms(found),))], width)
    else:
        yield from labelled([("more", "--wide (a picture of every block, faults, costs)  --json")], width)


def _rows(found: Comparison) -> Iterator[Row]:
    yield "why", _why(found)
    yield from (("warning", note) for note in found.notes)
    if found.stopped:
        yield "stopped", f"not played to its end: {found.stopped}"
    if found.complete and found.answer == "nothing":
        yield "next", "more blocks may tell: give more --blocks; those that are played stay"
    if found.aa is not None:
        yield "A/A", f"A less itself {_difference(found.aa)}: {_about_error(found, found.aa)}"
    yield "power", f"minimum detectable difference (80% power): {_plain(found.found.detectable)}"
    own = [(arm.letter, arm.reliability.get("fallback_rate")) for arm in found.arms]
    yield "moves", "its own: " + ", ".join(f"{who} {share(None if by is None else 1 - by)}" for who, by in own)
    yield "cost", "; ".join(f"{arm.letter} {spent(arm.taken)}" for arm in found.arms)
    yield "files", ", ".join(arm.run for arm in found.arms)


def _why(found: Comparison) -> str:
    result = found.found
    if not result.n:
        return "No block was played in both arms."
    if result.alike:
        return f"All {result.n} blocks agree: there is no interval, and their signs decide (p = {_plain(result.p)})."
    if result.interval is None:
        return f"{plural(result.n, 'block')}: too few for an interval."
    if found.answer == "not_significant":
        return "The interval holds 0: its bounds lie on both sides. `weigh gate` with a margin can exclude a loss."
    bound = "The lower bound is above 0" if found.answer == "b_higher" else "The upper bound is below 0"
    if result.guaranteed or found.rare_loss is None:
        return f"{bound}, and that of bets, which hold for any bounded scores, is {interval(found.bounded_interval)}."
    return f"{bound}, that of bets is not: {interval(found.bounded_interval)}. {in_rare_blocks(found.rare_loss)}"


def _blocks(found: Comparison) -> str:
    void = f", {found.found.missing} void" if found.found.missing else ""
    whole, settled = len(found.blocks), len(found.differences)
    played = plural(whole, "block") if settled == whole else f"{settled} of {whole} blocks"
    return f"{played}{void}, against {', '.join(found.opponents)}"


def _difference(found: Paired) -> str:
    if found.mean is None:
        return NOTHING
    if found.alike:
        return f"{score(found.mean)} in every block"
    p = f"   p = {_plain(found.p)} (sign flips, two-sided)"
    return f"{score(found.mean)}   95% CI {interval(found.interval)}{p if found.interval is not None else ''}"


def _about_error(found: Comparison, aa: Paired) -> str:
    if found.noiseless:
        if found.a.model is None:
            return "A is a script whose moves follow from what it sees, so none of B - A is sampling error of A"
        return "the model answered alike both times, or its answers never changed a score"
    if aa.interval is not None and not aa.interval[0] <= 0 <= aa.interval[1]:
        return (
            "it does not hold 0, as happens by chance once in twenty times: if A's model changed between its two arms, "
            "B - A tells of that too"
        )
    return f"a block of B - A has a standard deviation of {_plain(found.found.sd)}, a block of this {_plain(aa.sd)}"


def _picture(found: Comparison, width: int, ink: Ink) -> Section:
    """A row for each block in the order of the differences, and below them the mean and that of A against itself."""
    known = sorted(
        (value, shown(block.rpartition("/")[2], limit=12))
        for block, value in found.differences.items()
        if value is not None
    )
    results = [("mean", found.found), *([("A/A", found.aa)] if found.aa is not None else [])]
    spans = [(label, each.mean, None if each.alike else each.interval) for label, each in results]
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


def _arms(found: Comparison) -> Table:
    arms = found.arms
    rows = [
        ("mean score", [score(arm.mean) for arm in arms]),
        ("fallback rate", [share(arm.reliability.get("fallback_rate")) for arm in arms]),
        ("retry rate", [share(arm.reliability.get("retry_rate")) for arm in arms]),
        *_fault_rows(arms),
        ("episodes", [str(arm.taken.episodes) for arm in arms]),
        ("calls", [count(arm.taken.usage.calls) for arm in arms]),
        ("tokens", [count(arm.taken.usage.tokens) for arm in arms]),
        ("cost", [money(arm.taken.usage.cost_known_usd, arm.taken.usage.unknown_cost_calls) for arm in arms]),
        ("cost an episode", [_cost(arm) for arm in arms]),
        ("median latency", [_seconds(arm.reliability.get("latency_p50")) for arm in arms]),
    ]
    columns = (Column("", numeric=False), *(Column(arm.letter) for arm in arms))
    return Table("", columns, cells((label, *row) for label, row in rows))


def _fault_rows(arms: tuple[ArmReport, ...]) -> list[tuple[str, list[str]]]:
    """A row for each kind of fault that any arm had; one line of none where there was no fault."""
    kinds = sorted({kind for arm in arms for kind, number in arm.faults.items() if number})
    if not kinds:
        return [("faults", ["0" for _ in arms])]
    return [(f"faults: {kind}", [str(arm.faults.get(kind, 0)) for arm in arms]) for kind in kinds]


def _cost(arm: ArmReport) -> str:
    cost = arm.reliability.get("cost_per_episode_usd")
    return NOTHING if cost is None else money(cost)


def _seconds(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f} s"


def _plain(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3g}"
