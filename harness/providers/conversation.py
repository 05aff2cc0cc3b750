"""Turns of a conversation as every wire shape sends them: clean text, strict alternation, nothing empty.

Owns what is done to the text on its way out. Knows no provider's field names but `role` and `content`, which all share.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from policies.contract import Message


class Turn(TypedDict):
    role: str
    content: str


def turns(messages: Iterable[Message], *, system: bool) -> tuple[str, list[Turn]]:
    """The system text (empty when there is none), and the user and assistant turns in strict alternation, user first.

    Neighbours of one role are merged, and blank turns left out: chat templates and providers refuse both. With `system`
    false, the system text stands at the head of the first user turn and the first part returned is empty.
    """
    instructions = ""
    said: list[Turn] = []
    for message in messages:
        text = sendable(message.text)
        if not text.strip():
            continue
        if message.role == "system":
            instructions = f"{instructions}\n\n{text}" if instructions else text
        elif said and said[-1]["role"] == message.role:
            said[-1]["content"] += f"\n\n{text}"
        else:
            said.append({"role": message.role, "content": text})
    if instructions and not system:
        if said and said[0]["role"] == "user":
            said[0]["content"] = f"{instructions}\n\n{said[0]['content']}"
        else:
            said.insert(0, {"role": "user", "content": instructions})
        instructions = ""
    return instructions, said


def sendable(text: str) -> str:
    """`text` without lone surrogates, which have no UTF-8 form: a pair becomes its character, one alone U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
