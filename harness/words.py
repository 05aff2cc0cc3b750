"""Numbers, times, money and foreign text as short words for a terminal.

Owns formatting only. Knows nothing of runs, and no terminal but its encoding.

The end of an error line that helps: the name that was probably meant, or all there are.

Owns its wording, for messages only: nothing is ever looked up by likeness. The measure is `games.values`'s.
"""

from __future__ import annotations

from collections.abc import Iterable

from weigh.games.values import nearest
from weigh.policies.contract import Fault
from weigh.policies.show import one_line


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'match'?` for a near miss, else `; known: hoard, match`; empty when nothing is known."""
    words = sorted(known)
    return nearest(word, words) or (f"; known: {', '.join(words)}" if words else "")


def shown(text: str, encoding: str = "utf-8", limit: int = 300) -> str:
    """`text` on one line, harmless to a terminal, cut to about `limit` characters, and writable in `encoding`."""
    line = text if len(text) <= limit and text.isascii() and text.isprintable() else one_line(text, limit)
    return line.encode(encoding, "backslashreplace").decode(encoding)


def count(number: int) -> str:
    """A count in at most five characters up to a billion: 812, 8.1k, 812k, 1.2M."""
    if number < 1000:
        return str(number)
    if number < 9_950:
        return f"{number / 1000:.1f}k"
    if number < 999_500:
        return f"{number / 1000:.0f}k"
    if number < 9_950_000:
        return f"{number / 1_000_000:.1f}M"
    return f"{number / 1_000_000:.0f}M"


def duration(seconds: float) -> str:
    """Whole seconds as 0:42, 12:05, 3:07:59 or 2d 03:15."""
    whole = max(0, int(seconds))
    days, rest = divmod(whole, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, second = divmod(rest, 60)
    if days:
        return f"{days}d {hours:02}:{minutes:02}"
    if hours:
        return f"{hours}:{minutes:02}:{second:02}"
    return f"{minutes}:{second:02}"


def money(dollars: float, unpriced: int = 0) -> str:
    """US dollars; `unpriced` calls whose cost nobody knows make it a lower bound, or `unknown` when nothing else is."""
    if unpriced and dollars == 0:
        return "unknown"
    exact = f"${dollars:.2f}" if dollars >= 1 or dollars == 0 else f"${dollars:.4f}"
    return f">={exact}" if unpriced else exact


def tokens(value: int | None, uncounted: int = 0) -> str:
    """A count of tokens: `-` where nobody told; `>=` when some calls could not be counted."""
    return "-" if value is None else (">=" if uncounted else "") + count(value)


def tokens_in_out(read: int | None, written: int | None, uncounted: int = 0) -> str:
    """`12k tokens in, 340 out`."""
    return f"{tokens(read, uncounted)} tokens in, {tokens(written, uncounted)} out"


def score(value: float | None) -> str:
    """A mean score with its sign: +0.123, -1.000, 0.000; `-` where there is none."""
    if value is None:
        return "-"
    text = f"{value:+.3f}"
    return "0.000" if float(text) == 0 else text


def fault_counts(faults: dict[Fault, int]) -> str:
    """Faults by kind, the commonest first: `truncated 12, illegal 3`; empty for none."""
    ranked = sorted(faults.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{kind} {number}" for kind, number in ranked)


def plural(number: int, one: str, many: str | None = None) -> str:
    """`1 call`, `2 calls`; `many` where an s is not enough."""
    return f"{number} {one if number == 1 else many or one + 's'}"
