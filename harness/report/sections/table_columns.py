"""The columns of a ladder table: what stands in each, and which of them fit into a width.

Owns headings, cells and the order in which columns are given up. Knows no terminal and no file format.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weigh.harness.report.render.aligned import width_of
from weigh.harness.results.ranking.standings import Interval, Spend, Standing
from weigh.harness.results.ranking.warnings import flags
from weigh.harness.words import count, money, score, shown, tokens

NOTHING = "-"
"""Stands for a number that is not known or does not apply."""

LONGEST_NAME = 32
"""Columns of a terminal that a name may take before it is cut, where there is room."""

SHORTEST_NAME = 8

CUT = "..."
"""Stands for what was cut from a name; ASCII, so that every terminal has it."""

GAP = 2
"""Spaces between columns."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column."""

    heading: str
    cell: Callable[[Standing], str]
    right: bool = True


def rank_cell(standing: Standing) -> str:
    """`1` for a rank that is sure, `1-3` for ranks that cannot be told apart, `-` for none."""
    if standing.rank is None or standing.rank_interval is None:
        return NOTHING
    low, high = standing.rank_interval
    return str(low) if low == high else f"{low}-{high}"


def rate(value: float | None) -> str:
    """A share in percent; never `0.0%` for something that happened, nor `100.0%` for nearly all."""
    if value is None:
        return NOTHING
    if 0 < value < 0.001:
        return "<0.1%"
    if 0.999 < value < 1:
        return ">99.9%"
    return f"{value:.1%}"


def interval_cell(interval: Interval | None) -> str:
    return NOTHING if interval is None else f"{score(interval.low)}..{score(interval.high)}"


def difference_cell(detectable: float | None) -> str:
    """The smallest difference that a run shows, where there is an interval."""
    return "more than any two means can differ" if detectable is None else f"{detectable:.3f}"


def _cost(standing: Standing) -> str:
    spend = standing.spend
    return money(spend.cost_known_usd, spend.cost_unknown_episodes) if spend.calls else NOTHING


def _cost_per_episode(standing: Standing) -> str:
    spend = standing.spend
    if not spend.calls:
        return NOTHING
    return "unknown" if spend.cost_per_episode_usd is None else money(spend.cost_per_episode_usd)


def _score_per_dollar(standing: Standing) -> str:
    value = standing.score_per_dollar
    if value is None:
        return NOTHING
    return f"{value:+,.0f}" if abs(value) >= 100 else f"{value:+.3g}"


def _tokens(value: int | None, spend: Spend) -> str:
    return tokens(value, spend.unknown_usage_calls) if spend.calls else NOTHING


RANK = Column("rank", rank_cell)
MEAN = Column("mean", lambda s: score(s.mean))
INTERVAL = Column("95% interval", lambda s: interval_cell(s.interval))
EPISODES = Column("n", lambda s: str(s.episodes))
FALLBACK = Column("fallback", lambda s: rate(s.conduct.fallback_rate))
ESSENTIAL = (RANK, MEAN, INTERVAL, EPISODES, FALLBACK)
"""Beside the entrant; they fit 60 columns."""
GIVEN_UP = (INTERVAL, FALLBACK)
"""Of these, what goes where even that is too much, the first first."""

FURTHER: tuple[Column, ...] = (
    Column("flags", lambda s: ", ".join(flags(s)) or NOTHING, right=False),
    Column("P(first)", lambda s: rate(s.p_first)),
    Column("adjusted", lambda s: score(s.adjusted)),
    Column("blocks", lambda s: str(s.blocks)),
    Column("void", lambda s: rate(s.conduct.void_rate)),
    Column("$/episode", _cost_per_episode),
    Column("score/$", _score_per_dollar),
    Column("collusion", lambda s: NOTHING if s.collusion is None else f"{s.collusion:.3f}"),
    Column("at .5+", lambda s: rate(s.collusion_high)),
    Column("own moves", lambda s: rate(s.conduct.own_move_rate)),
    Column("retried", lambda s: rate(s.conduct.retry_rate)),
    Column("schedule", lambda s: score(s.strength)),
    Column("adjusted 95%", lambda s: interval_cell(s.adjusted_interval)),
    Column("points", lambda s: NOTHING if s.points is None else f"{s.points:.2f}"),
    Column("calls", lambda s: count(s.spend.calls) if s.spend.calls else NOTHING),
    Column("tokens in", lambda s: _tokens(s.spend.input_tokens, s.spend)),
    Column("cached", lambda s: _tokens(s.spend.cached_tokens, s.spend)),
    Column("tokens out", lambda s: _tokens(s.spend.output_tokens, s.spend)),
    Column("reasoning", lambda s: _tokens(s.spend.reasoning_tokens, s.spend)),
    Column("cost", _cost),
    Column("s/call", lambda s: NOTHING if s.spend.latency_mean is None else f"{s.spend.latency_mean:.2f}"),
)
"""The rest, the first to keep first."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table as text cells: a row for each standing; in the second place the name, safe to show and unlike others."""

    columns: tuple[Column, ...]
    cells: tuple[tuple[str, ...], ...]

    @property
    def headings(self) -> tuple[str, ...]:
        return tuple(column.heading for column in self.columns)

    @property
    def right(self) -> tuple[bool, ...]:
        """Which columns are aligned to the right."""
        return tuple(column.right for column in self.columns)


def grid(standings: Sequence[Standing], width: int | None, encoding: str = "utf-8") -> Grid:
    """The columns that fit `width` (None: all), names cut to what is left. A column of nothing but `-` is left out.

    Names are written in what `encoding` has.
    """
    plain = [shown(standing.entrant, encoding) for standing in standings]
    longest = max([*map(width_of, plain), len("entrant")])
    columns = list(ESSENTIAL)
    for column in FURTHER:
        if all(column.cell(standing) == NOTHING for standing in standings):
            continue
        if width is not None and min(longest, LONGEST_NAME) + _beside([*columns, column], standings) > width:
            break
        columns.append(column)
    for column in GIVEN_UP:
        if width is not None and SHORTEST_NAME + _beside(columns, standings) > width:
            columns.remove(column)
    room = longest if width is None else max(SHORTEST_NAME, min(longest, width - _beside(columns, standings)))
    names = distinct(plain, room)
    by_entrant = dict(zip((standing.entrant for standing in standings), names, strict=True))
    columns.insert(1, Column("entrant", lambda s: by_entrant[s.entrant], right=False))
    cells = tuple(tuple(column.cell(standing) for column in columns) for standing in standings)
    return Grid(tuple(columns), cells)


def _beside(columns: Sequence[Column], standings: Sequence[Standing]) -> int:
    """The width of these columns, with the gap before each of them or before the name."""
    return sum(max(len(column.heading), *(len(column.cell(s)) for s in standings)) + GAP for column in columns)


def distinct(names: Sequence[str], width: int) -> list[str]:
    """Names of at most `width` terminal columns, no two alike: cut at the end, else in the middle, else numbered."""
    for cut in (_head, _head_and_tail):
        short = [name if width_of(name) <= width else cut(name, width) for name in names]
        if len(set(short)) == len(names):
            return short
    digits = len(str(len(names)))
    return [f"{_take(name, width - digits - 1)}~{n:0{digits}}" for n, name in enumerate(names, start=1)]


def _head(name: str, width: int) -> str:
    return _take(name, width - len(CUT)) + CUT


def _head_and_tail(name: str, width: int) -> str:
    tail = _take(name[::-1], (width - len(CUT)) // 2)[::-1]
    return _take(name, width - len(CUT) - width_of(tail)) + CUT + tail


def _take(text: str, width: int) -> str:
    """The longest beginning of `text` that fits."""
    while width_of(text) > width:
        text = text[:-1]
    return text
