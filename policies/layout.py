"""How a decision is put to a model: the messages, in an order that lets providers reuse what they have read.

Owns the texts that stand between a game's words, the operator's guidance and the player's notes, their order, and the
hint before a second attempt, in words of its own for each fault. Knows a game by its legal set only, sends nothing,
reads no reply. No legal answer stands in a text of this file: a model that is shown one plays it.

What changes least comes first. The system message (rules, how to answer, guidance) is one text for all seats, rounds
and episodes under a config. The user message opens with who the player is and the history, which only grows, cut where
each decision left it. So of two consecutive requests of a seat, the later one repeats the
earlier up to its last cut, and caches of prompts pay off. A second attempt repeats the first request whole and adds two
turns; only where the first did not fit into the model's context, it is the same question with half the history.

Whatever a model wrote enters a prompt cut and escaped: its notes as one JSON string, its previous reply as a short
tail. Nothing here names a policy, an entrant, a model or a seed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from types import MappingProxyType

from weigh.games.game import Json, Legal, Observation
from weigh.policies.contract import Fault, Message, Style
from weigh.policies.reply import NOTES_LIMIT, Reading, after_thinking
from weigh.policies.show import encodable, escaped, one_line

LAYOUT = 2
"""Raised whenever a text below changes: it is part of a policy's digest."""

QUOTED_TAIL = 500
"""Most characters of a failed reply that the second attempt repeats."""

NO_ANSWER = "(no answer)"
"""Stands for a failed reply without text: providers refuse an empty turn, and turns must alternate."""

DETAIL_LIMIT = 240
"""Most characters of a fault's detail, and so of the reply it quotes, that a hint repeats."""

_CONTRACT: Mapping[Style, str] = MappingProxyType(
    {
        "reason-then-json": "Think briefly, then end your reply with exactly one JSON object in the form shown, "
        "{capitals}.",
        "json-only": "Reply with exactly one JSON object in the form shown, {capitals}, and nothing else.",
        "schema": "Reply with exactly one JSON object in the form shown, {capitals}, and nothing else.",
    }
)
_CAPITALS = "with your values for the words in capitals"
_ASK: Mapping[Style, str] = MappingProxyType(
    {
        "reason-then-json": "Your move? Think briefly, then end with one JSON object in the form {form}",
        "json-only": "Your move? One JSON object in the form {form}",
        "schema": "Your move? One JSON object in the form {form}",
    }
)
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
_HISTORY = "# History\n"
_NOTES = f'It may also have "notes": up to {NOTES_LIMIT} characters that only you will see, in later turns.'


def keeps_notes(style: Style) -> bool:
    """Whether players of this style may write notes.

    Not under `schema`: strict structured output makes every property obligatory, so each answer would have to carry a
    note, at the price of its tokens.
    """
    return style != "schema"


def system_text(rulebook: str, style: Style, guidance: str) -> str:
    """Rules, how to answer, and the operator's guidance."""
    contract = _CONTRACT[style].format(capitals=_CAPITALS)
    if keeps_notes(style):
        contract = f"{contract} {_NOTES}"
    return f"{rulebook.strip()}\n\n# How to answer\n{contract}\n\n# Advice\n{guidance.strip()}"


def position(observation: Observation, style: Style, notes: str | None, seen: Sequence[int] = ()) -> Message:
    """Who the player is, history, the position, the player's own notes, and the question.

    `seen` are the numbers of lines that the history had at the player's decisions, this one included: the text is cut
    after each.
    """
    opening = f"You are {observation.name}.\n\n{_HISTORY}" if observation.name else _HISTORY
    history = "\n".join(observation.history) or "(nothing yet)"
    ends = tuple(accumulate((len(line) + 1 for line in observation.history), initial=len(opening)))
    cuts = tuple(ends[lines] for lines in sorted(set(seen)) if 0 < lines < len(ends))
    own = f"\nYour notes: {_as_literal(notes) if notes else '(none)'}" if keeps_notes(style) else ""
    ask = _ASK[style].format(form=observation.legal.answer.form)
    return Message("user", f"{opening}{history}\n\n# Now\n{observation.situation.strip()}{own}\n\n{ask}", cuts)


def first_attempt(
    system: str, observation: Observation, style: Style, notes: str | None, seen: Sequence[int] = ()
) -> tuple[Message, ...]:
    """The two messages of a decision. The system text is one stable part; `seen` as in `position`."""
    return Message("system", system, (len(system),)), position(observation, style, notes, seen)


def second_attempt(first: tuple[Message, ...], reply: str | None, hint: str) -> tuple[Message, ...]:
    """The messages of the first attempt, the end of the reply to it, and the hint.

    `reply` is None where there was none, or none that should be repeated.
    """
    tail = escaped(after_thinking(reply or "").strip()[-QUOTED_TAIL:]).strip()
    return *first, Message("assistant", tail[-QUOTED_TAIL:] or NO_ANSWER), Message("user", encodable(hint))


def hint(fault: Fault, detail: str, legal: Legal) -> str:
    """The text that asks for a second attempt: the fault in its own words, the legal set, the form of an answer.

    `detail` is the fault's one line; whatever it quotes of the reply is cut short and made safe to show.
    """
    quoted = one_line(detail, DETAIL_LIMIT).rstrip(". ") or "no reason given"
    return (
        f"{_OPENINGS[fault].format(detail=quoted)}\n"
        f"Legal: {legal.describe()}\n"
        f"Form: one JSON object, {legal.answer.form}"
    )


def hint_for(reading: Reading, legal: Legal) -> str | None:
    """The hint that a reading leads to; None when it holds a legal move."""
    return None if reading.fault is None else hint(reading.fault, reading.detail, legal)


def with_less_history(observation: Observation) -> Observation:
    """What is left for a model whose context the prompt did not fit into: the later half of the history, and how much
    of it is missing."""
    lines = observation.history
    missing = (len(lines) + 1) // 2
    note = f"(the earliest lines are left out, since they do not all fit: {missing} of {len(lines)})"
    return replace(observation, history=(note, *lines[missing:])) if lines else observation


def answer_schema(legal: Legal) -> dict[str, Json]:
    """The JSON Schema of one answer: its keys and nothing else."""
    form = legal.answer
    return {
        "type": "object",
        "properties": dict(form.schema),
        "required": list(form.required),
        "additionalProperties": False,
    }


def _as_literal(notes: str) -> str:
    """Notes as a JSON string: no line breaks, and no way to pass for anything around them."""
    return escaped(json.dumps(encodable(notes[:NOTES_LIMIT]), ensure_ascii=False))
