"""What stands below a ladder table: why somebody has no rank, faults, costs, seats, and what to know.

Owns these lines, the same for terminals, pipes and Markdown. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from weigh.harness.report.sections.table_columns import difference_cell, interval_cell, rate
from weigh.harness.results.ranking.standings import GameLadder, Ladder, SeatMean, Spend, Standing
from weigh.harness.stats.clustered import ZERO
from weigh.harness.store.usage import Usage
from weigh.harness.words import count, money, plural, score, shown, tokens


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
        lines.append("mean by seat: " + ", ".join(map(_seat, ladder.seats)))
    lines += _called_first(ladder) + _detectable(ladder)
    return lines + [f"note: {shown(caveat.text, limit=2_000)}" for caveat in ladder.caveats]


def _called_first(ladder: GameLadder) -> list[str]:
    """Only where a correction was made: with one game the rank says it all."""
    return [
        f"called first: {shown(s.entrant)} (p = {s.first_p:.2g}, among all games {s.first_p_holm:.2g})"
        for s in ladder.standings
        if s.first and s.first_p is not None and s.first_p_holm is not None and s.first_p != s.first_p_holm
    ]


def _detectable(ladder: GameLadder) -> list[str]:
    """Nothing where no number tells more than that play repeats itself."""
    parts = []
    lead, ranked = ladder.lead, sum(s.rank is not None for s in ladder.standings)
    judged = lead is not None and lead.interval is not None
    if lead is not None and judged and (lead.detectable is None or lead.detectable > ZERO):
        parts.append(f"{difference_cell(lead.detectable)} between {shown(lead.leader)} and {shown(lead.runner_up)}")
    if ranked > 2 and (judged if ladder.detectable is None else ladder.detectable > ZERO):
        parts.append(f"{difference_cell(ladder.detectable)} between two typical entrants")
    if not parts:
        return []
    played = plural(ladder.blocks, "block")
    return [f"smallest difference that {played} would show in four runs of five: {', '.join(parts)}"]


def _faults(standing: Standing) -> str:
    conduct = standing.conduct
    kinds = sorted(((n, kind) for kind, n in conduct.faults.items() if n), key=lambda item: (-item[0], item[1]))
    if not kinds:
        return ""
    causes = ", ".join(f"{kind} {n}" for n, kind in kinds)
    return (
        f"{shown(standing.entrant)}: {causes} in {plural(conduct.decisions, 'decision')}; "
        f"{rate(conduct.retry_rate)} asked again, {rate(conduct.fallback_rate)} moved by the fallback"
    )


def _spend(standing: Standing) -> str:
    spend = standing.spend
    if not spend.calls:
        return ""
    parts = [
        money(spend.cost_known_usd, spend.cost_unknown_episodes),
        plural(spend.calls, "call"),
        _tokens(spend),
    ]
    if spend.unknown_usage_calls:
        parts.append(f"tokens unknown for {plural(spend.unknown_usage_calls, 'call')}")
    if spend.cost_per_episode_usd is not None:
        parts.insert(1, f"{money(spend.cost_per_episode_usd)} an episode")
    if spend.latency_mean is not None:
        parts.append(f"{spend.latency_mean:.2f} s a call")
    return f"{shown(standing.entrant)}: {', '.join(parts)}"


def _tokens(spent: Spend | Usage) -> str:
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
        parts.append(f"{rate(traffic.truncation_rate)} truncated")
    if traffic.reasoning_only_calls:
        parts.append(f"{rate(traffic.reasoning_only_rate)} reasoning without text")
    if traffic.cut_prompt_calls:
        parts.append(f"{plural(traffic.cut_prompt_calls, 'prompt')} probably cut")
    if traffic.unknown_stop_calls:
        parts.append(f"{traffic.unknown_stop_calls} with an unknown finish reason")
    latency = traffic.latency
    if latency.p50 is not None and latency.p95 is not None and latency.max is not None:
        parts.append(
            f"answered in {latency.p50:.2f} s (median), {latency.p95:.2f} s (95 %), {latency.max:.2f} s (most)"
        )
    return parts


def totals(ladder: Ladder) -> list[str]:
    """Below all tables: what each model was asked and paid in all games, a line each."""
    lines = []
    for account in ladder.accounts.models:
        used = account.usage
        parts = [money(used.cost_known_usd, used.unknown_cost_calls), *_fates(used), _tokens(used)]
        if used.unknown_cost_calls:
            parts.append(f"cost unknown for {plural(used.unknown_cost_calls, 'call')}")
        lines.append(f"in all: {shown(account.model or '')}: {', '.join(parts)}")
    return lines


def _seat(seat: SeatMean) -> str:
    sure = "" if seat.interval is None else f" ({interval_cell(seat.interval)})"
    return f"{seat.seat} {score(seat.mean)}{sure}"
