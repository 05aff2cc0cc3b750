"""What stands below a ladder table: why somebody has no rank, faults, costs, seats, and what to know.

Owns these lines, the same for terminals, pipes and Markdown. Computes nothing.
"""

from __future__ import annotations

from harness.display_words import count, money, plural, score, shown
from harness.standings import GameLadder, Ladder, SeatMean, Standing
from harness.table_columns import rate, tokens


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
    if ladder.seats:
        lines.append("mean by seat: " + ", ".join(map(_seat, ladder.seats)))
    return lines + [f"note: {shown(caveat.text, limit=2_000)}" for caveat in ladder.caveats]


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
    cached = f" ({count(spend.cached_tokens)} cached)" if spend.cached_tokens else ""
    reasoning = f" ({count(spend.reasoning_tokens)} reasoning)" if spend.reasoning_tokens else ""
    parts = [
        money(spend.cost_known_usd, spend.cost_unknown_episodes),
        plural(spend.calls, "call"),
        f"tokens {tokens(spend.input_tokens, spend)} in{cached}, {tokens(spend.output_tokens, spend)} out{reasoning}",
    ]
    if spend.unknown_usage_calls:
        parts.append(f"tokens unknown for {plural(spend.unknown_usage_calls, 'call')}")
    if spend.cost_per_episode_usd is not None:
        parts.insert(1, f"{money(spend.cost_per_episode_usd)} an episode")
    if spend.latency_mean is not None:
        parts.append(f"{spend.latency_mean:.2f} s a call")
    return f"{shown(standing.entrant)}: {', '.join(parts)}"


def _seat(seat: SeatMean) -> str:
    sure = "" if seat.interval is None else f" +-{(seat.interval.high - seat.interval.low) / 2:.3f}"
    return f"{seat.seat} {score(seat.mean)}{sure}"


def escape_markdown(text: str) -> str:
    """`text` with nothing left that Markdown, its tables or HTML would act on."""
    for mark, safe in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(mark, safe)
    return "".join(f"\\{c}" if c in "\\`*_{}[]#|~$!" else c for c in text)
