"""A prompt and a model behind it, as a policy; and the player that it becomes at a seat.

Owns what a prompted player remembers from turn to turn (its notes) and between its two attempts (its last words).
Leaves the texts to `policies.layout` and the reading to `policies.reply`. Knows no provider: it has one channel to its
model, and lets every failure of that channel pass through.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from random import Random

from pydantic import BaseModel

from weigh.games.game import AnyGame, Observation, Seat
from weigh.policies.contract import (
    CONTEXT_FULL,
    Completion,
    Message,
    ModelClient,
    Reply,
    Request,
    Retry,
    Sampling,
    Style,
    canonical,
)
from weigh.policies.layout import (
    LAYOUT,
    answer_schema,
    first_attempt,
    keeps_notes,
    second_attempt,
    system_text,
    with_less_history,
)
from weigh.policies.operator_prompt import OperatorPrompt
from weigh.policies.reply import Reading, read_reply
from weigh.policies.show import one_line


def digest_of(guidance: str, model: str, sampling: Sampling, style: Style, layout: int = LAYOUT) -> str:
    """`PromptedPolicy.digest` of a policy with these parts, as it was under an earlier layout too."""
    decisive = {
        "guidance": guidance,
        "layout": layout,
        "model": model,
        "sampling": sampling.to_json(),
        "style": style,
    }
    return hashlib.sha256(canonical(decisive).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class PromptedPolicy:
    """An operator's prompt, the model that plays by it, and how that model is asked."""

    name: str
    prompt: OperatorPrompt
    model: str
    """`provider:model`."""
    sampling: Sampling
    style: Style
    game: AnyGame
    config: BaseModel
    """A config of `game`: the rules are given with its numbers."""

    @property
    def digest(self) -> str:
        """SHA-256, hex, over guidance, model, sampling, style and layout.

        Not over the name, nor over game and config: it is the same policy wherever it plays, and records carry
        the rest themselves.
        """
        return digest_of(self.prompt.text, self.model, self.sampling, self.style)

    def sit(self, seat: Seat, rng: Random, client: ModelClient | None) -> PromptedPlayer:
        """A player without memories. It draws nothing from `rng`, and learns its seat from what it observes.

        Raises ValueError without a client.
        """
        if client is None:
            raise ValueError(f"{self.name} plays by {self.model}, and was given no line to it at seat {seat}")
        system = system_text(self.game.rulebook(self.config), self.style, self.prompt.text)
        return PromptedPlayer(self, system, client)


class PromptedPlayer:
    """Asks its model, and reads what it says. Lives for one episode."""

    def __init__(self, policy: PromptedPolicy, system: str, client: ModelClient) -> None:
        self._policy = policy
        self._system = system
        self._client = client
        self._notes: str | None = None
        self._last_reply: str | None = None
        self._unfit = False
        self._seen: list[int] = []

    async def decide(self, observation: Observation, retry: Retry | None) -> Reply:
        """One attempt. Raises what the client raises: DecisionTimedOut, Outage, Fatal."""
        # A prompt that was turned down for its length was never read: there is nothing to hint at, only less to say.
        less = retry is not None and self._unfit
        if retry is None:
            self._seen.append(len(observation.history))
        observed = with_less_history(observation) if less else observation
        messages = first_attempt(
            self._system, observed, self._policy.style, self._notes, () if less else tuple(self._seen)
        )
        if retry is not None and not self._unfit:
            messages = second_attempt(messages, self._last_reply, retry.hint)
        self._last_reply, self._unfit = None, False  # should the call fail, there is nothing to repeat
        completion = await self._client.complete(self._request(messages, observation))
        # A refusal repeated to its author tends to be repeated by it.
        self._last_reply = None if completion.stop == "refusal" else completion.text
        self._unfit = completion.stop == "length" and completion.stop_detail == CONTEXT_FULL
        return self._reply(completion, read_reply(completion.text, completion.stop, observation.legal))

    def _request(self, messages: tuple[Message, ...], observation: Observation) -> Request:
        policy = self._policy
        schema = answer_schema(observation.legal) if policy.style == "schema" else None
        return Request(model=policy.model, messages=messages, sampling=policy.sampling, schema=schema)

    def _reply(self, completion: Completion, reading: Reading) -> Reply:
        if reading.notes is not None and keeps_notes(self._policy.style):
            self._notes = reading.notes
        detail = reading.detail
        if reading.fault == "empty" and completion.reasoning:
            detail += f"; {len(completion.reasoning):,} characters of reasoning came beside it, which are not read"
        if reading.fault == "truncated" and completion.stop == "unknown":
            detail += f" (finish reason: {one_line(completion.stop_detail or 'none', 40)})"
        if self._unfit:
            detail = "the prompt is longer than the model's context: give it a larger one, or a shorter prompt"
        return Reply(
            move=reading.move,
            fault=reading.fault,
            detail=detail,
            candidates=reading.candidates,
            notes=self._notes,
        )
