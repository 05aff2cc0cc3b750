"""Prompts that a server may have cut at the front without saying so.

Owns one estimate, from a request and the token count that came back. Knows no provider: some local servers drop the
beginning of a prompt that is too long, the rules first, answer with status 200, and only the count tells.
"""

from __future__ import annotations

from policies.contract import Request, Usage

DENSEST = 6.5
"""Characters per token that no tokenizer in use exceeds on prompts of rules, numbers and English sentences (usually
3-5); above it, part of the text was not read."""

_TOO_SHORT_TO_TELL = 2_000
"""Characters; below, a few long words decide the ratio."""


def prompt_was_cut(request: Request, usage: Usage) -> bool:
    """Whether the model can hardly have read the whole prompt: far fewer input tokens were counted than it must have.

    A suspicion, to be shown beside the results; False where the provider did not count.
    """
    characters = sum(len(message.text) for message in request.messages)
    if usage.input is None or characters < _TOO_SHORT_TO_TELL:
        return False
    return characters > usage.input * DENSEST
