"""What the live picture of a run holds: the bar, where it stands, what it took, a line per entrant.

Owns the layout and what gives way first on a narrow terminal. Reads counts and a width; writes nowhere.
"""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from harness.display_tally import Row, Tally
from harness.display_words import count, duration, fault_counts, money, plural, score, shown

NAME = 24
"""Columns the longest entrant name may take; 14 on a terminal narrower than 60."""
SCORE = 12
"""Columns of one game: `+0.123 (999)`."""
FAULTS = 12
"""The least that is worth giving to faults; they take what is left over."""
NUMBER = 9
"""Columns of a cost, and of tokens in/out."""
LOUD = 0.2
"""The share of faulty attempts above which an entrant's faults are coloured."""


def picture(tally: Tally, width: int, encoding: str) -> RenderableType:
    """The whole picture for a terminal of `width` columns that writes `encoding`.

    All texts are made here and now: what comes back refers to no count that may change while it is drawn.
    """
    plain = not encoding.lower().startswith("utf")
    pieces: list[RenderableType] = [
        Text(
            shown(f"{tally.plan.name}, seed {tally.plan.seed}", encoding), style="bold", no_wrap=True, overflow="crop"
        ),
        _bar(tally, width),
        *_packed(_standing(tally), width, plain),
        *_packed(_spending(tally), width, plain),
    ]
    if tally.rows:
        pieces += _table(tally, width, encoding)
    return Group(*pieces)


def _bar(tally: Tally, width: int) -> RenderableType:
    words = f"{tally.done + tally.void}/{tally.total}"
    grid = Table.grid(padding=(0, 1, 0, 0))
    room = max(4, min(60, width - len(words) - 2))
    grid.add_row(ProgressBar(total=max(1, tally.total), completed=tally.done + tally.void, width=room), words)
    return grid


def _standing(tally: Tally) -> list[str]:
    left = tally.seconds_left()
    over = tally.done + tally.void >= tally.total and not tally.in_flight
    parts = [f"{tally.done} finished", f"{tally.in_flight} in flight"]
    if tally.void:
        parts.append(f"{tally.void} void")
    parts.append(f"{duration(tally.elapsed)} so far")
    if not over:
        parts.append("time left unknown" if left is None else f"about {duration(left)} left")
    return parts


def _spending(tally: Tally) -> list[str]:
    whole = tally.totals()
    if not whole.calls:
        return []
    parts = [
        plural(whole.calls, "call"),
        f"{count(whole.tokens_in)} tokens in",
        f"{count(whole.tokens_out)} out",
        f"cost {money(whole.cost, whole.unpriced)}",
    ]
    if whole.faults:
        parts.append(fault_counts(whole.faults))
    if tally.waiting:
        parts.append(plural(tally.waiting, "retry", "retries") + " waiting")
    if tally.outages:
        parts.append(plural(tally.outages, "outage"))
    return parts


def _packed(parts: list[str], width: int, plain: bool) -> list[Text]:
    """Parts side by side, a new line where the next one would not fit whole."""
    between = ", " if plain else " · "
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(between) + len(part) <= width:
            lines[-1] += between + part
        else:
            lines.append(part)
    return [Text(line, no_wrap=True, overflow="crop") for line in lines]


def _table(tally: Tally, width: int, encoding: str) -> list[RenderableType]:
    rows = {name: row for name, row in tally.rows.items() if name or row.calls}
    name_width = min(max(map(len, rows)), NAME if width >= 60 else 14)
    room = width - name_width
    games = list(tally.plan.episodes)
    fitting = games[: max(1, room // (SCORE + 1))]
    room -= len(fitting) * (SCORE + 1)
    called = any(row.calls for row in rows.values())
    faults = called and room > FAULTS
    room -= FAULTS + 1 if faults else 0
    numbers: list[str] = []
    for title in ("cost", "in/out", "calls") if called else ():
        if room > NUMBER:
            numbers.append(title)
            room -= NUMBER + 1

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("", width=name_width, no_wrap=True, overflow="crop")
    for game in fitting:
        table.add_column(game[:SCORE], width=SCORE, no_wrap=True, overflow="crop", justify="right")
    for title in numbers:
        table.add_column(title, width=NUMBER, no_wrap=True, overflow="crop", justify="right")
    if faults:
        table.add_column("faults", width=FAULTS + max(0, room), no_wrap=True, overflow="crop")
    for name, row in rows.items():
        cells = [Text(shown(name, encoding, 60) or "(others)"), *(Text(_mean(row, game)) for game in fitting)]
        cells += [Text(_number(row, title)) for title in numbers]
        if faults:
            cells.append(_faults(row))
        table.add_row(*cells)
    hidden = games[len(fitting) :]
    if not hidden:
        return [table]
    return [table, Text(f"(too narrow for {', '.join(hidden)})", style="dim", no_wrap=True, overflow="crop")]


def _mean(row: Row, game: str) -> str:
    mean = row.scores.get(game)
    return f"{score(mean.value)} ({mean.n})" if mean is not None and mean.n else "-"


def _number(row: Row, title: str) -> str:
    if not row.calls:
        return "-"
    if title == "cost":
        return money(row.cost, row.unpriced)
    return count(row.calls) if title == "calls" else f"{count(row.tokens_in)}/{count(row.tokens_out)}"


def _faults(row: Row) -> Text:
    if not row.faults:
        return Text("")
    share = sum(row.faults.values()) / row.attempts
    return Text(f"{share:.0%} {fault_counts(row.faults)}", style="yellow" if share > LOUD else "")
