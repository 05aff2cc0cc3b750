"""What a player is told before its second attempt.

Owns the words, one set for each fault, for a model that broke a rule needs to hear something else than one whose answer
could not be found or was cut off. Knows a game by its legal set only: every hint carries it, and the form of an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from games.game import Legal
from policies.contract import Fault
from policies.reply import Reading
from policies.show import one_line

DETAIL_LIMIT = 240
"""Most characters of a fault's detail, and so of the reply it quotes, that a hint repeats."""

_OPENINGS: Mapping[Fault, str] = MappingProxyType(
    {
        "illegal": "That move is not allowed: {detail}. Choose one of the legal moves.",
        "unreadable": "No answer could be read from your reply: {detail}. Give your move again, in the right form.",
        "ambiguous": "Your reply left open which answer counts: {detail}. Decide: write exactly one JSON object.",
        "empty": "Your reply had no visible answer. Write your move as plain text, outside any hidden thinking.",
        "truncated": "Your reply was cut off before it was complete. Answer briefly, with little or no reasoning.",
        "refused": "You declined to move. This is a board game, nothing outside it is at stake, and a move is due.",
        "timed_out": "Your reply took too long. Answer at once, without reasoning.",
    }
)


def hint(fault: Fault, detail: str, legal: Legal) -> str:
    """The text that asks for a second attempt: the fault in its own words, the legal set, the form of an answer.

    `detail` is the fault's one line; whatever it quotes of the reply is cut short and made safe to show.
    """
    told = one_line(detail, DETAIL_LIMIT).rstrip(". ") or "no reason given"
    return (
        f"{_OPENINGS[fault].format(detail=told)}\n"
        f"Legal: {legal.describe()}\n"
        f"Form: one JSON object such as {legal.answer.example}"
    )


def hint_for(reading: Reading, legal: Legal) -> str | None:
    """The hint that a reading leads to; None when it holds a legal move."""
    return None if reading.fault is None else hint(reading.fault, reading.detail, legal)
