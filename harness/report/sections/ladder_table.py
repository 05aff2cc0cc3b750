"""The ladder of each game for a terminal, a pipe, Markdown and CSV: the table, and the lines below it.

Owns headings, cells, which columns come with more room, and the wording of the lines. The JSON form is
`Ladder.to_json`. Computes nothing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from weigh.games.values import quote
from weigh.harness.errors import Refused
from weigh.harness.report.render.document import NOTHING, Block, Column, Section, Table, bullets, cells
from weigh.harness.report.render.text import GAP, width_of
from weigh.harness.results.ranking.all_games import macro_averages, unscaled
from weigh.harness.results.ranking.standings import GameLadder, Interval, Ladder, SeatMean, Spend, Standing, ladder_rows
from weigh.harness.results.ranking.warnings import flags
from weigh.harness.stats.power import ZERO
from weigh.harness.store.usage import Usage
from weigh.harness.words import count, did_you_mean, interval, money, plural, score, share, shown, tokens

EMPTY = "no finished episode"
"""Stands in the place of a table without a row."""

LONGEST_NAME = 32
"""Columns of a terminal that a name may take before a further column is left out for it."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the ladder: what stands in it."""

    heading: str
    cell: Callable[[Standing], str]
    word: str = ""
    """Its name where the heading will not do."""
    right: bool = True

    @property
    def name(self) -> str:
        """For `--columns`."""
        return self.word or self.heading.replace(" ", "_")


def rank_cell(standing: Standing) -> str:
    """`1` for a rank that is sure, `1-3` for ranks that cannot be told apart, `-` for none."""
    if standing.rank is None or standing.rank_interval is None:
        return NOTHING
    low, high = standing.rank_interval
    return str(low) if low == high else f"{low}-{high}"


def interval_cell(found: Interval | None) -> str:
    return interval(None if found is None else (found.low, found.high))


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


def _tokens(value: int | None, spend: Spend) -> str:
    return tokens(value, spend.unknown_usage_calls) if spend.calls else NOTHING


RANK = Field("rank", rank_cell)
MEAN = Field("mean", lambda s: score(s.mean))
INTERVAL = Field("95% CI", lambda s: interval_cell(s.interval), "interval", right=False)
EPISODES = Field("n", lambda s: str(s.episodes))
FALLBACK = Field("fallback", lambda s: share(s.reliability.fallback_rate))
BLOCKS = Field("blocks", lambda s: str(s.blocks))
ESSENTIAL = (RANK, MEAN, INTERVAL, EPISODES, FALLBACK)
"""Beside the entrant; they fit 60 columns."""
GOES = {INTERVAL.heading: 1, FALLBACK.heading: 2}
"""What goes where even these are too much, the first first."""

FURTHER: tuple[Field, ...] = (
    Field("warnings", lambda s: ", ".join(flags(s)) or NOTHING, right=False),
    Field("P(first)", lambda s: share(s.probability_first), "probability_first"),
    Field("adjusted", lambda s: score(s.adjusted)),
    BLOCKS,
    Field("void", lambda s: share(s.reliability.void_rate)),
    Field("$/episode", _cost_per_episode, "cost_per_episode"),
    Field("collusion", lambda s: NOTHING if s.collusion is None else f"{s.collusion:.3f}"),
    Field("at .5+", lambda s: share(s.collusion_high), "collusion_high"),
    Field("own moves", lambda s: share(s.reliability.own_move_rate)),
    Field("retried", lambda s: share(s.reliability.retry_rate)),
    Field("schedule", lambda s: score(s.schedule_strength), "schedule_strength"),
    Field("adjusted 95%", lambda s: interval_cell(s.adjusted_interval), "adjusted_interval", right=False),
    Field("points", lambda s: NOTHING if s.points is None else f"{s.points:.2f}"),
    Field("calls", lambda s: count(s.spend.calls) if s.spend.calls else NOTHING),
    Field("tokens in", lambda s: _tokens(s.spend.input_tokens, s.spend)),
    Field("cached", lambda s: _tokens(s.spend.cached_tokens, s.spend)),
    Field("tokens out", lambda s: _tokens(s.spend.output_tokens, s.spend)),
    Field("reasoning", lambda s: _tokens(s.spend.reasoning_tokens, s.spend)),
    Field("cost", _cost),
    Field("s/call", lambda s: NOTHING if s.spend.latency_mean is None else f"{s.spend.latency_mean:.2f}", "latency"),
)
"""The rest, the first to keep first."""

ALL = (*ESSENTIAL, *FURTHER)


def fields_named(names: Sequence[str]) -> tuple[Field, ...]:
    """The columns with these names. Raises Refused for one that there is not."""
    known = {field.name.lower(): field for field in ALL}
    for name in names:
        if name not in known:
            raise Refused(f"--columns: no column is called {quote(name)}{did_you_mean(name, known)}", kind="bad-column")
    return tuple(known[name] for name in names)


def fitting(standings: Sequence[Standing], width: int | None = None) -> list[Field]:
    """The essential columns, and as many of the further ones as fit `width` (None: all that say something)."""
    longest = max([*(width_of(shown(standing.entrant)) for standing in standings), len("entrant")])
    fields = list(ESSENTIAL)
    for field in FURTHER:
        if not any(field.cell(standing) != NOTHING for standing in standings):
            continue
        if width is not None and min(longest, LONGEST_NAME) + _beside([*fields, field], standings) > width:
            break
        fields.append(field)
    return fields


def ladder_table(
    standings: Sequence[Standing], fields: Sequence[Field], caption: str = "", goes: Mapping[str, int] = GOES
) -> Table:
    """A row for each standing: its rank, its name, and the other `fields`."""
    columns = [Column(field.heading, numeric=field.right, goes=goes.get(field.heading, 0)) for field in fields]
    place = 1 if fields and fields[0] is RANK else 0
    columns.insert(place, Column("entrant", numeric=False, name=True))
    rows = []
    for standing in standings:
        row = [field.cell(standing) for field in fields]
        rows.append([*row[:place], standing.entrant, *row[place:]])
    return Table(caption, tuple(columns), cells(rows))


def says(field: Field, standings: Sequence[Standing]) -> bool:
    """Whether a column tells more than that there was nothing of the kind."""
    return any(field.cell(standing) not in (NOTHING, share(0.0), "") for standing in standings)


def _beside(fields: Sequence[Field], standings: Sequence[Standing]) -> int:
    """The width of these columns, with the gap before each of them or before the name."""
    return sum(max(len(field.heading), *(len(field.cell(s)) for s in standings)) + GAP for field in fields)


def ladder_sections(ladder: Ladder, width: int | None = None) -> list[Section]:
    """A section for each game, and one for what each model was paid in all."""
    made = []
    for game in ladder.games:
        blocks: list[Block] = []
        if game.standings:
            fields = fitting(game.standings, width)
            blocks.append(ladder_table(game.standings, fields))
            hidden = len(fitting(game.standings)) - len(fields)
            if hidden:
                blocks.append(bullets([f"{plural(hidden, 'more column')}: --columns NAME,..., or a wider terminal"]))
        made.append(Section(heading(game, ladder), blocks=(*blocks, bullets(notes(game)))))
    if last := totals(ladder):
        made.append(Section("", blocks=(bullets(last),)))
    return made


PAPER = ("rank", "mean", "interval", "n")
"""What stands beside the entrant in a paper."""


def column_sections(ladder: Ladder, fields: Sequence[Field]) -> list[Section]:
    """A section for each game, with these columns and nothing else."""
    return [Section(game.game, blocks=(ladder_table(game.standings, fields, goes={}),)) for game in ladder.games]


def macro_average_section(ladder: Ladder) -> Section:
    """The macro average over games, of the entrants that are ranked in all of them."""
    rows = macro_averages(ladder)
    games = [game.game for game in ladder.games]
    title = f"macro average over {', '.join(games)}: 0 is random, 1 the strongest scripted entrant of each game"
    if missing := unscaled(ladder):
        why = f"no scale in {', '.join(missing)}: it takes random and a scripted entrant above it"
        return Section(title, blocks=(bullets([why]),))
    if not rows:
        return Section(title, blocks=(bullets(["no entrant is ranked in every one of them"]),))
    columns = (Column("entrant", numeric=False, name=True), *map(Column, ("mean", INTERVAL.heading, *games)))
    texts = (
        (row.entrant, score(row.mean), interval_cell(row.interval), *(score(row.by_game[game]) for game in games))
        for row in rows
    )
    return Section(title, blocks=(Table("", columns, cells(texts)),))


def csv_text(ladder: Ladder) -> str:
    """For other programs: a row for each entrant of each game, every number unrounded, unknown ones empty.

    The columns are those of `harness.results.ranking.standings`.
    """
    columns, rows = ladder_rows(ladder)
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def heading(ladder: GameLadder, view: Ladder) -> str:
    """One line: the game, how much of it is played, and which episodes count."""
    expected = "" if ladder.expected is None else f" of {ladder.expected}"
    parts = [f"{shown(ladder.game)}: {ladder.episodes}{expected} episodes, {plural(ladder.blocks, 'block')}"]
    if view.fallback_episodes == "left out":
        parts.append(f"{ladder.left_out} with fallback moves left out")
    if ladder.voids:
        parts.append(f"{ladder.voids} void")
    return ", ".join(parts)


def notes(ladder: GameLadder) -> list[str]:
    """Everything else, a line each."""
    standings = ladder.standings
    lines = [f"not ranked: {shown(s.entrant)}: {s.unranked}" for s in standings if s.unranked]
    lines += [f"faults: {line}" for line in map(_faults, standings) if line]
    lines += [f"cost: {line}" for line in map(_spend, standings) if line]
    lines += [f"calls: {line}" for line in map(_traffic, standings) if line]
    if ladder.seats:
        lines.append("score by seat: " + ", ".join(map(_seat, ladder.seats)))
    lines += _called_first(ladder) + power_lines(ladder)
    if len(ladder.cost_frontier) > 1:
        lines.append(f"cost frontier: {', '.join(map(shown, ladder.cost_frontier))} (not beaten on both mean and $)")
    return lines + [f"note: {shown(caveat.text, limit=2_000)}" for caveat in ladder.warnings]


def _called_first(ladder: GameLadder) -> list[str]:
    """For each game that has one, corrected or not."""
    return [
        f"first{'' if s.first_guaranteed else ', barring rare failures'}: {shown(s.entrant)} "
        f"(p = {s.first_p_value:.2g}, among all games {s.first_p_value_holm:.2g})"
        for s in ladder.standings
        if s.first and s.first_p_value is not None and s.first_p_value_holm is not None
    ]


def power_lines(ladder: GameLadder) -> list[str]:
    """Nothing where no number tells more than that play repeats itself."""
    parts = []
    lead, typical = ladder.lead, ladder.minimum_detectable_difference
    judged = lead is not None and lead.interval is not None
    if lead is not None and judged:
        least = lead.minimum_detectable_difference
        if least is None or least > ZERO:
            parts.append(f"{difference_cell(least)} between {shown(lead.leader)} and {shown(lead.runner_up)}")
    if sum(s.rank is not None for s in ladder.standings) > 2 and (judged if typical is None else typical > ZERO):
        parts.append(f"{difference_cell(typical)} between two typical entrants")
    power = f"minimum detectable difference (80% power, {plural(ladder.blocks, 'block')})"
    return [f"{power}: {', '.join(parts)}"] if parts else []


def _faults(standing: Standing) -> str:
    reliability = standing.reliability
    kinds = sorted(((n, kind) for kind, n in reliability.faults.items() if n), key=lambda item: (-item[0], item[1]))
    if not kinds:
        return ""
    causes = ", ".join(f"{kind} {n}" for n, kind in kinds)
    return (
        f"{shown(standing.entrant)}: {causes} in {plural(reliability.decisions, 'decision')}; "
        f"{share(reliability.retry_rate)} asked again, {share(reliability.fallback_rate)} moved by the fallback"
    )


def _spend(standing: Standing) -> str:
    spend = standing.spend
    if not spend.calls:
        return ""
    parts = [
        money(spend.cost_known_usd, spend.cost_unknown_episodes),
        plural(spend.calls, "call"),
        _token_words(spend),
    ]
    if spend.unknown_usage_calls:
        parts.append(f"tokens unknown for {plural(spend.unknown_usage_calls, 'call')}")
    if spend.cost_per_episode_usd is not None:
        parts.insert(1, f"{money(spend.cost_per_episode_usd)} an episode")
    if spend.latency_mean is not None:
        parts.append(f"{spend.latency_mean:.2f} s a call")
    return f"{shown(standing.entrant)}: {', '.join(parts)}"


def _token_words(spent: Spend | Usage) -> str:
    """Tokens in and out, with the parts of each."""
    lower = spent.unknown_usage_calls
    read = {"cached": spent.cached_tokens, "cache-written": spent.cache_written_tokens}
    return (
        f"tokens {tokens(spent.input_tokens, lower)} in{_parts(read)}, "
        f"{tokens(spent.output_tokens, lower)} out{_parts({'reasoning': spent.reasoning_tokens})}"
    )


def _parts(named: Mapping[str, int | None]) -> str:
    told = ", ".join(f"{count(number)} {name}" for name, number in named.items() if number)
    return f" ({told})" if told else ""


def _traffic(standing: Standing) -> str:
    """All calls of an entrant, and what is not as it should be among them."""
    traffic = standing.traffic
    if traffic is None:
        return ""
    return f"{shown(standing.entrant)}: {', '.join(_fates(traffic))}"


def _fates(traffic: Usage) -> list[str]:
    parts = [f"{plural(traffic.calls, 'request')} for {plural(traffic.attempts, 'attempt')}"]
    parts += [
        f"{number} {word}"
        for word, number in (
            ("repeated", traffic.repeated_calls),
            ("timed out", traffic.timed_out_calls),
            ("given up", traffic.outage_calls),
            ("fatal", traffic.fatal_calls),
            ("lost", traffic.lost_calls),
            ("reused", traffic.reused_calls),
            ("unbilled", traffic.unbilled_calls),
            ("of unknown billing", traffic.unknown_billing_calls),
            ("refused", traffic.refused_calls),
        )
        if number
    ]
    if traffic.truncated_calls:
        parts.append(f"{share(traffic.truncation_rate)} truncated")
    if traffic.reasoning_only_calls:
        parts.append(f"{share(traffic.reasoning_only_rate)} reasoning without text")
    if traffic.cut_prompt_calls:
        parts.append(f"{plural(traffic.cut_prompt_calls, 'prompt')} probably cut")
    if traffic.unknown_stop_calls:
        parts.append(f"{traffic.unknown_stop_calls} with an unknown finish reason")
    latency = traffic.latency
    if latency.p50 is not None and latency.p95 is not None and latency.max is not None:
        parts.append(f"answered in {latency.p50:.2f} s (median), {latency.p95:.2f} s (95%), {latency.max:.2f} s (most)")
    return parts


def totals(ladder: Ladder) -> list[str]:
    """Below all tables: what each model was asked and paid in all games, a line each."""
    lines = []
    for account in ladder.accounts.models:
        used = account.usage
        parts = [money(used.cost_known_usd, used.unknown_cost_calls), *_fates(used), _token_words(used)]
        if used.unknown_cost_calls:
            parts.append(f"cost unknown for {plural(used.unknown_cost_calls, 'call')}")
        lines.append(f"in all: {shown(account.model or '')}: {', '.join(parts)}")
    return lines


def _seat(seat: SeatMean) -> str:
    sure = "" if seat.interval is None else f" {interval_cell(seat.interval)}"
    return f"seat {seat.seat} {score(seat.mean)}{sure}"
