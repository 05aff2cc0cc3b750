"""The first screen of a report, which is the whole of its Markdown: who leads, the ranks, and what to know of them.

Owns the choice of what stands there: at most one table of leads, the ranks, six lines, and two folded lists. Everything
else of a report stands in the page.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from weigh.harness.report.contents import CHECKS, Contents
from weigh.harness.report.render.document import (
    NOTHING,
    Block,
    Bullets,
    Cell,
    Code,
    Column,
    Folded,
    Line,
    Table,
    Text,
    Word,
    line,
)
from weigh.harness.report.sections.ladder import BARRING, drawn_ranks, rare_lines, trust
from weigh.harness.report.sections.ladder_table import interval_cell, rank_cell
from weigh.harness.report.sections.play import Ways, notable_lines
from weigh.harness.results.ranking.standings import GameLadder
from weigh.harness.store.usage import Usage
from weigh.harness.words import money, plural, score, share

TOLD = 2
"""Warnings that are told in full; of more, the rest are counted."""

NAMED = 3
"""Entrants that a line names; of more it says the range or the number."""

SIDE_BY_SIDE = 2
"""Games whose ranks stand in one table."""

EPISODES = 4
"""Episodes worth a look, at most."""


def title_of(contents: Contents) -> str:
    """What was run and how much of it is played."""
    finished, planned = contents.finished, sum(run.planned for run in contents.runs)
    names = ", ".join(run.name for run in contents.runs)
    entrants = len({each.entrant for run in contents.runs for each in run.entrants})
    parts = [f"{finished} of {plural(planned, 'episode')}", plural(entrants, "entrant")]
    parts.append(plural(len(contents.ladder.games), "game"))
    if contents.ladder.fallback_episodes == "left out":
        parts.append("without episodes with a fallback move")
    return f"{names}: {', '.join(parts)}"


def summary(contents: Contents, ways: Ways, *, drawn: bool) -> tuple[Block, ...]:
    """The first screen; `drawn` for a page, with intervals as pictures, else as text alone."""
    games = [game for game in contents.ladder.games if game.standings]
    if not contents.finished:
        return (Text(line("No finished episode, so nothing is ranked."), "verdict"), _again(contents))
    blocks: list[Block] = [_leads(contents.ladder.games, "Who is first" if drawn else "")]
    blocks += [drawn_ranks(game) for game in games] if drawn else _ranks(games)
    blocks.append(Bullets(tuple(_lines(contents))))
    looks = tuple(each for game in games for each in notable_lines(contents.notable.get(game.game, ()), ways))
    if looks:
        title = "One episode worth a look" if len(looks[:EPISODES]) == 1 else "Episodes worth a look"
        blocks.append(Folded(title, (Bullets(looks[:EPISODES]),)))
    blocks.append(Folded("How to read this", (Text(READING),)))
    blocks.append(_again(contents))
    return tuple(blocks)


READING = line(
    "Mean: of episode scores in [-1, 1]; 0 is the average of these entrants, and it decides the rank. 95% CI: where ",
    "the mean would lie in other deals of the same schedule. Rank 2-4: the data cannot order ranks 2 to 4. First: ",
    "significantly ahead of all others, with p by Holm over the games. Fallback: after two replies without a legal ",
    "move the game's scripted policy moved. A dash: not known, or does not apply; never 0.",
)


def _again(contents: Contents) -> Text:
    runs = " ".join(shlex.quote(run.given) for run in contents.runs)
    return Text(line("Recompute every number: ", Code(f"weigh verify {runs}"), ". Everything else is in report.html."))


def _leads(games: Sequence[GameLadder], caption: str) -> Table:
    """A row a game: who is first, and by how much."""
    columns = (
        Column("game", numeric=False),
        Column("first", numeric=False),
        Column("lead over second, 95% CI", numeric=False),
        Column("p (Holm)"),
    )
    return Table(caption, columns, tuple(map(_lead, games)))


def _lead(game: GameLadder) -> tuple[Cell, ...]:
    if not any(each.episodes for each in game.standings):
        return Cell(game.game), Cell(NOTHING), Cell("no finished episode"), Cell(NOTHING)
    first = next((each for each in game.standings if each.first), None)
    top = game.standings[0]
    p = top.first_p_value_holm if first is None else first.first_p_value_holm
    lead = game.lead
    if lead is None:
        told = "fewer than two entrants are ranked"
    elif abs(lead.difference) < 5e-4:
        told = f"{lead.leader} and {lead.runner_up} are level"
    else:
        ends = "" if lead.interval is None else f" {interval_cell(lead.interval)}"
        who = "" if first is not None else f"{lead.leader}: "
        grade = f", {BARRING}" if first is not None and not first.first_guaranteed else ""
        told = f"{who}{lead.difference:.3f} over {lead.runner_up}{ends}{grade}"
    name = Cell("nobody") if first is None else Cell(first.entrant, strong=True)
    return Cell(game.game), name, Cell(told), Cell(NOTHING if p is None else f"{p:.2g}")


def _ranks(games: Sequence[GameLadder]) -> Iterator[Table]:
    """Ranks, names and means with their intervals, of a few games side by side."""
    for start in range(0, len(games), SIDE_BY_SIDE):
        part = games[start : start + SIDE_BY_SIDE]
        columns = tuple(
            column
            for game in part
            for column in (
                Column("rank"),
                Column(game.game, numeric=False, name=True),
                Column("mean, 95% CI", numeric=False),
            )
        )
        rows = tuple(
            tuple(cell for game in part for cell in _rank(game, n)) for n in range(max(len(g.standings) for g in part))
        )
        yield Table("", columns, rows)


def _rank(game: GameLadder, number: int) -> tuple[Cell, ...]:
    if number >= len(game.standings):
        return Cell(""), Cell(""), Cell("")
    each = game.standings[number]
    sure = "" if each.interval is None else f" {interval_cell(each.interval)}"
    return Cell(rank_cell(each)), Cell(each.entrant), Cell(f"{score(each.mean)}{sure}")


def _lines(contents: Contents) -> Iterator[Line]:
    yield from _warnings(contents)
    yield from _reliability(contents)
    yield from _cost(contents)
    yield from _power(contents)
    if told := trust(contents.ladder):
        yield line(Word("Trust", "strong"), f": {told}.")
    yield from (line(Word("Rare failures", "strong"), f": {text}.") for text in rare_lines(contents.ladder))
    yield from _collusion(contents)


def _warnings(contents: Contents) -> Iterator[Line]:
    games = contents.ladder.games
    several = len(games) > 1
    # The table of leads and the title say these.
    found = [
        (f"{game.game}: " if several else "") + caveat.text
        for game in games
        for caveat in game.warnings
        if caveat.kind not in ("not_separated", "partial")
    ]
    found += [f"not ranked: {each.entrant}: {each.unranked}" for g in games for each in g.standings if each.unranked]
    if not found:
        yield line(Word("Warnings", "strong"), f": none of {CHECKS} checks.")
    yield from (line(Word("Warning", "strong"), f": {text}") for text in found[:TOLD])
    if len(found) > TOLD:
        yield line(Word("Warnings", "strong"), f": {len(found) - TOLD} more in report.html.")


def _reliability(contents: Contents) -> Iterator[Line]:
    sums: dict[str, list[int]] = {}
    for game in contents.ladder.games:
        for each in game.standings:
            reliability = each.reliability
            if not each.scripted and reliability.decisions:
                counts = (
                    reliability.decisions,
                    reliability.by_retry + reliability.by_fallback,
                    reliability.by_fallback,
                )
                sums[each.entrant] = [a + b for a, b in zip(sums.get(each.entrant, [0, 0, 0]), counts, strict=True)]
    if sums:
        again = {name: second / decisions for name, (decisions, second, _) in sums.items()}
        moved = {name: fallback / decisions for name, (decisions, _, fallback) in sums.items()}
        yield line(
            Word("Reliability", "strong"), f": second attempts {_shares(again)}; fallback moves {_shares(moved)}."
        )


def _shares(by_name: dict[str, float]) -> str:
    if len(by_name) > NAMED:
        return f"{share(min(by_name.values()))} to {share(max(by_name.values()))} of {len(by_name)} entrants"
    return ", ".join(f"{name} {share(value)}" for name, value in by_name.items())


def _cost(contents: Contents) -> Iterator[Line]:
    accounts = contents.ladder.accounts
    if not accounts.models:
        return
    spent = sum((account.usage for account in accounts.models), Usage())
    by_name: dict[str, Usage] = {}
    for account in accounts.entrants:
        if account.usage.calls and account.entrant is not None:
            by_name[account.entrant] = by_name.get(account.entrant, Usage()) + account.usage
    each = ", ".join(f"{name} {_paid(used)}" for name, used in by_name.items())
    of_whom = f" ({each})" if 1 < len(by_name) <= NAMED else ""
    games = contents.ladder.games
    best = [
        f"{', '.join(game.cost_frontier)}{f' ({game.game})' if len(games) > 1 else ''}"
        for game in games
        if 1 < len(game.cost_frontier) <= NAMED
    ]
    frontier = f" Not beaten on both mean and $ an episode: {'; '.join(best)}." if best else ""
    yield line(Word("Cost", "strong"), f": {_paid(spent)}{of_whom}, {plural(spent.calls, 'call')}.{frontier}")


def _paid(used: Usage) -> str:
    return money(used.cost_known_usd, used.unknown_cost_calls)


def _power(contents: Contents) -> Iterator[Line]:
    games = [game for game in contents.ladder.games if any(each.interval for each in game.standings)]
    several = len(contents.ladder.games) > 1
    told = [
        (
            "any size"
            if game.minimum_detectable_difference is None
            else f"below {game.minimum_detectable_difference:.2f}"
        )
        + (f" ({game.game})" if several else "")
        for game in games
    ]
    if told:
        yield line(Word("Power", "strong"), f": differences {', '.join(told)} would mostly be missed.")


def _collusion(contents: Contents) -> Iterator[Line]:
    for table in contents.audit.tables:
        flags = [f"{each.by} -> {each.toward}" for each in table.flagged]
        told = (
            f"{len(flags)} of {plural(len(table.tested), 'pair')} flagged"
            if table.tested
            else "no pair could be tested"
        )
        if flags:
            told += f": {', '.join(flags[:NAMED])}"
        elif table.tested and not table.reachable:
            told += "; none could have been with so few blocks"
        yield line(Word("Collusion audit", "strong"), f": {told} (goofspiel).")
