"""Where a model's thinking ends and its answer begins.

Owns the table of closing marks. Knows nothing of what an answer looks like.

Only closing marks count. Many chat templates put the opening one into the prompt, so the reply holds its end alone; and
marks that are nested or repeated leave no doubt about the last end. So everything up to and including the last closing
mark is thinking. An opening mark without an end means nothing: the text stays as it is.
"""

from __future__ import annotations

CLOSING_MARKS = (
    "</think>",  # DeepSeek, Qwen, GLM, MiniMax and most open models
    "</thinking>",
    "</thought>",
    "</thoughts>",
    "</reason>",
    "</reasoning>",
    "</reflection>",
    "</scratchpad>",
    "</analysis>",
    "</seed:think>",  # Seed-OSS
    "[/think]",  # Magistral
    "[begin final response]",  # Apriel
    "◁/think▷",  # Kimi
    "<|/think|>",
    "<|end_of_thought|>",  # Sky-T1, OpenThinker
    "<|end_thinking|>",  # Command A
    "<channel|>",  # Gemma 4
    "<|channel|>final<|message|>",  # gpt-oss, where the server leaves its channels in the text
)
"""What closes a thinking section, in lower case; matched without regard to case."""


def after_thinking(text: str) -> str:
    """What follows the last closing mark of a thinking section; the whole text where there is none."""
    # U+0130 is the one letter whose lower case is longer; places in `lowered` must be places in `text`.
    lowered = text.replace("\u0130", "i").lower()
    found = ((lowered.rfind(mark), len(mark)) for mark in CLOSING_MARKS)
    return text[max((place + length for place, length in found if place >= 0), default=0) :]
