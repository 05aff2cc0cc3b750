"""What the mock model says: a legal move in one of the house's answer styles, or a reply with a fault in it.

Owns the composing of replies. Every reply is a pure function of the settings, the server's seed and the request. Knows
no endpoint's shape, no HTTP and no fault plan.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from weigh.harness.providers.mock_server.actions import ReplyKind
from weigh.harness.providers.mock_server.dice import Dice
from weigh.harness.providers.mock_server.exchange import Answer, Asked, cap_answer
from weigh.harness.providers.mock_server.legal_text import find_offer
from weigh.harness.providers.mock_server.schema_values import Pick, generate

AnswerStyle: TypeAlias = Literal["reason-then-json", "json-only"]
"""Some prose and then JSON, or JSON alone. A request with a schema always gets JSON alone."""

_PROSE = (
    "The last rounds were close, so I look for a move that keeps my options open.",
    "Two of the 3 others spent a lot early; a measured answer should do here.",
    "I compared what I could win now with what it would cost me later on.",
    "Holding back has worked so far, and nothing in round 1 or 2 speaks against it.",
    "This prize is worth some risk, yet not everything I have left.",
    "The others will likely expect the obvious move, so I avoid it.",
)
_NOTES = ("others bid high early", "save strength for the end", "watch who holds back", "nothing unusual so far")
_REASONING = "Weighing the moves."
_REFUSAL = "I can't help with that."
_FAR_OFF = 1_000_003
"""Added to a number, it leaves every legal set there is."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How the mock model answers."""

    style: AnswerStyle = "reason-then-json"
    notes_share: float = 0.25
    """Share of free answers that carry private notes."""
    constant: Mapping[str, Any] = field(default_factory=lambda: {"move": 0})
    """Answered when a request has neither a schema nor an example of an answer to go by."""


def compose(asked: Asked, dice: Dice, manner: Manner, kind: ReplyKind, text: str | None = None) -> Answer:
    """The reply of this kind, with `text` instead of the generated text where given, within the request's cap.

    Raises SchemaUnsupported when the request's schema is beyond the generator.
    """
    composer = _KINDS.get(kind)
    answer = composer(asked, dice, manner) if composer else Answer(_said(asked, dice, manner, kind))
    if kind == "parts":
        answer = replace(answer, reasoning=_REASONING, parts=True)
    if asked.thinks and kind != "reasoning-only":
        answer = replace(
            answer,
            reasoning="" if asked.wire == "chat" else _REASONING,  # that API keeps its reasoning to itself
            reasoning_tokens=asked.thinks // 2 + dice.integer("reasoning", asked.thinks // 2 + 1),
        )
    if text is not None:
        answer = replace(answer, text=text)
    return cap_answer(answer, asked.cap)


def _said(asked: Asked, dice: Dice, manner: Manner, kind: ReplyKind) -> str:
    """The whole visible text of a reply that says something."""
    value = _value(asked, dice, manner)
    if kind == "illegal":
        return _dressed(spoiled(value), asked, dice, manner)
    if kind == "unreadable":
        return _PROSE[dice.integer("prose", len(_PROSE))] + " I will decide when I have seen more."
    if kind == "ambiguous":
        # Two different answers and neither ends the reply: a reader cannot tell which is meant.
        return f"Either {json.dumps(value)} or {json.dumps(spoiled(value))}, I cannot decide."
    return _dressed(value, asked, dice, manner)


def _value(asked: Asked, dice: Dice, manner: Manner) -> Any:
    """The answer as JSON."""
    rng = dice.stream("move")
    if asked.schema is not None:
        return generate(asked.schema, rng, _pick(asked.model))
    offer = find_offer([turn.text for turn in asked.turns if turn.role == "user"])
    if offer is None:
        return dict(manner.constant)
    value = offer.answer(rng, _pick(asked.model))
    if "notes" not in value and dice.fraction("notes") < manner.notes_share:
        value = {**value, "notes": _NOTES[dice.integer("note", len(_NOTES))]}
    return value


def _pick(model: str) -> Pick:
    """Models whose names end in `-first` or `-last` play the first or last legal move, all others a drawn one.

    So a rehearsal has entrants that differ in strength.
    """
    return "first" if model.endswith("-first") else "last" if model.endswith("-last") else "any"


def _dressed(value: Any, asked: Asked, dice: Dice, manner: Manner) -> str:
    text = json.dumps(value)
    if asked.schema is not None or asked.bare_json or manner.style == "json-only":
        return text
    return f"{_PROSE[dice.integer('prose', len(_PROSE))]}\n\n{text}"


def spoiled(value: Any) -> Any:
    """A copy of an answer in which the last number, or else the last text, is one that no rules allow."""
    for kind in (int, str):
        changed, done = _spoil(value, kind)
        if done:
            return changed
    return value


def _spoil(value: Any, kind: type) -> tuple[Any, bool]:
    if isinstance(value, Mapping):
        for key in reversed(list(value)):
            changed, done = _spoil(value[key], kind) if key != "notes" else (None, False)
            if done:
                return {**value, key: changed}, True
    elif isinstance(value, list):
        for index in range(len(value) - 1, -1, -1):
            changed, done = _spoil(value[index], kind)
            if done:
                return [*value[:index], changed, *value[index + 1 :]], True
    elif isinstance(value, kind) and not isinstance(value, bool):
        return (value + _FAR_OFF if isinstance(value, int) else "no-such-move"), True
    return value, False


def _truncated(asked: Asked, dice: Dice, manner: Manner) -> Answer:
    """Cut within the JSON of the answer, after the first digit of a number: what is left must not be read."""
    text = _said(asked, dice, manner, "answer")
    end = text.rfind(":")
    return Answer(text[: end + 3] if end >= 0 else text[: len(text) // 2], "length")


def _reasoning_only(asked: Asked, dice: Dice, manner: Manner) -> Answer:
    """Hidden reasoning took the whole cap, and the answer never came."""
    return Answer("", "length", _REASONING, asked.cap or 200)


def _refused(asked: Asked, dice: Dice, manner: Manner) -> Answer:
    """Declined; the OpenAI APIs have a field of its own for what is said."""
    return Answer(None, "refusal", refusal=_REFUSAL)


_Composer: TypeAlias = Callable[[Asked, Dice, Manner], Answer]

_KINDS: dict[ReplyKind, _Composer] = {
    "empty": lambda asked, dice, manner: Answer(""),
    "null": lambda asked, dice, manner: Answer(None),
    "truncated": _truncated,
    "refused": _refused,
    "filtered": lambda asked, dice, manner: Answer("", "filter"),
    "reasoning-only": _reasoning_only,
    "pause": lambda asked, dice, manner: Answer("Let me check the earlier rounds first.", "pause"),
    "tool-calls": lambda asked, dice, manner: Answer(None, "tool_calls"),
}
