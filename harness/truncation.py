"""Prompts that a server may have cut at the front without saying so.

Owns one estimate, from a request and the token count that came back. Knows no provider: some local servers drop the
beginning of a prompt that is too long, the rules first, answer with status 200, and only the count tells.
"""

from __future__ import annotations

from policies.contract import Request

DENSEST = 6.5
"""Characters per token that no tokenizer in use exceeds on prompts of rules, numbers and English sentences (usually
3-5); above it, part of the text was not read."""

TOO_SHORT_TO_TELL = 2_000
"""Characters; below, a few long words decide the ratio."""


def characters_of(request: Request) -> int:
    """The length of a prompt: all its texts, in characters."""
    return sum(len(message.text) for message in request.messages)


def was_cut(characters: int | None, input_tokens: int | None) -> bool:
    """Whether the model can hardly have read the whole prompt: far fewer input tokens were counted than it must have.

    A suspicion, to be shown beside the results; False where either number is not known or 0.
    """
    if characters is None or not input_tokens or characters < TOO_SHORT_TO_TELL:
        return False  # no token at all: the prompt was turned down, and nothing was done in silence
    return characters > input_tokens * DENSEST


WAS_CUT_SQL = (
    f"(c.prompt_characters >= {TOO_SHORT_TO_TELL} AND c.input_tokens > 0 "
    f"AND c.prompt_characters > c.input_tokens * {DENSEST})"
)
"""`was_cut` of a row `c` of the table `calls`: 1, or 0 or NULL for no."""
