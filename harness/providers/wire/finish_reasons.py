"""What a provider's word for why it stopped means: the one table, for every wire shape.

Owns the words and their meaning, and what becomes of a word that is not among them. Reads no reply: whether an answer
ends a text is for `policies.reply` to say.

A word that is not known says nothing about whether the text is whole, and a text that was broken off is never played.
So it becomes the stop `unknown`, under which an answer counts only where it ends the text; without any text the call
brought nothing, and failed. No word at all is treated in the same way. Words that say themselves that the reason is not
known (Gemini's OTHER and FINISH_REASON_UNSPECIFIED, DashScope's "null") are left out of the table on purpose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from weigh.harness.providers.errors.reading import one_line
from weigh.harness.providers.wire.body import NoAnswer
from weigh.policies.contract import Completion, Stop

Meaning: TypeAlias = Stop | Literal["outage"]
"""A stop of a completion, or `outage`: the server broke off, and what came is no answer."""

# Lower case with underscores, as `meaning_of` folds them. Each with those that say it: `Chat`, `Responses` and
# `Messages` are the SDKs' own types (`tests/harness/providers/test_finish_reasons.py` holds the table to them), the
# others are words of compatible servers, and of models whose gateways pass their words on.
MEANINGS: Mapping[str, Meaning] = {
    # It came to its own end.
    "stop": "end",  # Chat; Gemini; Mistral, vLLM, SGLang, llama.cpp, Ollama, DeepSeek, OpenRouter
    "completed": "end",  # Responses: a status
    "end_turn": "end",  # Messages; Bedrock Converse
    "stop_sequence": "end",  # Messages; Bedrock Converse, Cohere, TGI, watsonx
    "complete": "end",  # Cohere
    "eos": "end",  # Together
    "eos_token": "end",  # TGI, watsonx
    # It was cut: at a cap on tokens, at the end of its context, or by the server for going on too long.
    "length": "length",  # Chat
    "max_tokens": "length",  # Messages; Bedrock Converse, Cohere, Gemini, watsonx
    "max_output_tokens": "length",  # Responses: a reason to be incomplete
    "incomplete": "length",  # Responses: a status
    "model_context_window_exceeded": "length",  # Messages; Bedrock Converse, GLM
    "model_length": "length",  # Mistral: the context ran out
    "token_limit": "length",  # watsonx: the context ran out
    "time_limit": "length",  # watsonx
    "error_limit": "length",  # Cohere: the context ran out
    "repetition": "length",  # vLLM: it was stopped for repeating itself
    # It declined, or a filter took its answer away.
    "refusal": "refusal",  # Messages
    "content_filter": "refusal",  # Chat; Responses: a reason to be incomplete; Gemini: `content_filter: RECITATION`
    "content_filtered": "refusal",  # Bedrock Converse
    "guardrail_intervened": "refusal",  # Bedrock Converse
    "sensitive": "refusal",  # GLM
    "error_toxic": "refusal",  # Cohere
    "safety": "refusal",  # Gemini, and the next six
    "recitation": "refusal",
    "language": "refusal",
    "blocklist": "refusal",
    "prohibited_content": "refusal",
    "spii": "refusal",
    "model_armor": "refusal",
    # It wants a tool, and none is offered.
    "tool_calls": "tool_calls",  # Chat
    "function_call": "tool_calls",  # Chat, deprecated
    "tool_use": "tool_calls",  # Messages; Bedrock Converse
    "tool_call": "tool_calls",  # Cohere
    "unexpected_tool_call": "tool_calls",  # Gemini
    "too_many_tool_calls": "tool_calls",  # Gemini
    # The provider could not read what the model generated.
    "malformed_function_call": "malformed",  # Gemini
    "function_call_filter": "malformed",  # Gemini's OpenAI endpoint: `function_call_filter: MALFORMED_FUNCTION_CALL`
    "malformed_response": "malformed",  # Gemini
    "malformed_tool_use": "malformed",  # Bedrock Converse
    "malformed_model_output": "malformed",  # Bedrock Converse
    # The turn goes on.
    "pause_turn": "pause",  # Messages
    "compaction": "pause",  # Messages, beta
    "max_messages": "pause",  # Responses: a reason to be incomplete
    "steered": "pause",  # Responses: a reason to be incomplete
    # The server broke off.
    "error": "outage",  # OpenRouter, Mistral, vLLM, Cohere, watsonx
    "abort": "outage",  # vLLM, SGLang
    "network_error": "outage",  # GLM
    "insufficient_system_resource": "outage",  # DeepSeek
    "timeout": "outage",  # Cohere
    "user_cancel": "outage",  # Cohere
    "not_finished": "outage",  # watsonx
    "cancelled": "outage",  # Responses: a status; watsonx
    "failed": "outage",  # Responses: a status, and the next two
    "in_progress": "outage",
    "queued": "outage",
}

_SHOWN = 40
"""Most characters of a provider's word that a line quotes."""


def meaning_of(word: str) -> Meaning | None:
    """What a word means, in whatever case and with `-` for `_`; None when it is not known.

    Gemini's OpenAI endpoint puts its own word behind a standard one, `content_filter: RECITATION`: the first counts.
    """
    return MEANINGS.get(word.partition(":")[0].strip().lower().replace("-", "_"))


def stop_of(word: str, text: str) -> Stop:
    """The stop of a completion with this text. `word` is empty where the provider gave none.

    Raises NoAnswer where the server broke off, and for a word that is not known without any text.
    """
    meaning = meaning_of(word)
    if meaning == "outage":
        raise NoAnswer(f"the server broke off ({_quoted(word)})")
    if meaning is not None:
        return meaning
    if not text.strip():
        raise NoAnswer(f"it holds no text, and {_not_known(word)}")
    return "unknown"


def surprise_in(completion: Completion, secret: str = "") -> str | None:
    """A line for people on a finish reason that is not known; None for one that is."""
    word = completion.stop_detail or ""
    if meaning_of(word) is not None:
        return None
    becomes = "an answer counts only if it ends the text" if completion.stop == "unknown" else "it is taken for a cut"
    return f"{_not_known(word, secret)}: {becomes}"


def _not_known(word: str, secret: str = "") -> str:
    return f"its finish reason {_quoted(word, secret)} is not known" if word else "it gives no finish reason"


def _quoted(word: str, secret: str = "") -> str:
    return f'"{one_line(word, secret, _SHOWN)}"'
