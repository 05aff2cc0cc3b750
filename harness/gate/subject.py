"""Which gate it is: who is held against whom, so that a verdict can be tied to what was judged.

Owns the identity of both arms and the words for how they differ. Knows no runs and no verdicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Contestant:
    """The policy of one arm, by all that tells it from another. None is not known, or does not apply."""

    name: str
    digest: str | None
    """Of the policy: SHA-256, hex."""
    model: str | None = None
    """None for a scripted one."""
    prompt: str | None = None
    """SHA-256, hex, of the prompt file's bytes."""
    style: str | None = None
    """How it asks for answers."""
    sampling: Mapping[str, Any] | None = None
    """`max_tokens`, `temperature` (None: the provider's), `seed` and `extra`."""
    endpoint: str | None = None
    """Where the model is asked; `this machine` for a server on it."""

    @property
    def told(self) -> str:
        """It in one line: name, digest, model, prompt and sampling."""
        parts = [self.name, f"digest {_short(self.digest)}"]
        if self.model is not None:
            parts += [self.model, f"prompt {_short(self.prompt)}"]
            parts += [self.style] if self.style is not None else []
            parts += ["sampling not known"] if self.sampling is None else [_setting(*item) for item in _set(self)]
        return ", ".join(parts)


def _short(digest: str | None) -> str:
    return "-" if digest is None else digest[:12]


def _set(who: Contestant) -> list[tuple[str, Any]]:
    """The sampling as it is told: without what is not set, but always with the temperature."""
    items = (who.sampling or {}).items()
    return [(key, value) for key, value in items if key == "temperature" or (value is not None and value != {})]


def _setting(key: str, value: Any) -> str:
    said = {"temperature": "of the provider", "seed": "not set"}.get(key, "-") if value is None else str(value)
    return f"{key.replace('_', ' ')} {said}"


def differing(candidate: Contestant, baseline: Contestant) -> tuple[str, ...]:
    """In what the candidate differs from the baseline: `prompt`, `temperature 1.7`. Empty for one and the same."""
    return tuple(dict.fromkeys(_differing(candidate, baseline)))


def _differing(mine: Contestant, theirs: Contestant) -> Iterator[str]:
    if mine.model is None or theirs.model is None:
        if mine.digest != theirs.digest:
            yield f"policy {mine.name}"
        return
    named = False
    if mine.model != theirs.model:
        named = True
        yield f"model {mine.model}"
    if mine.prompt != theirs.prompt:
        named = True
        yield "prompt"
    if theirs.style is not None and mine.style != theirs.style:
        named = True
        yield f"style {mine.style}"
    if mine.sampling is not None and theirs.sampling is not None:
        for key in dict.fromkeys([*theirs.sampling, *mine.sampling]):
            if mine.sampling.get(key) != theirs.sampling.get(key):
                named = True
                yield _setting(key, mine.sampling.get(key))
    if theirs.endpoint is not None and mine.endpoint != theirs.endpoint:
        named = True
        yield f"endpoint {mine.endpoint}"
    if mine.digest != theirs.digest and not named:
        yield "policy digest"


@dataclass(frozen=True, slots=True)
class Subject:
    """Which gate it is."""

    name: str
    game: str
    candidate: str
    baseline: str
    baseline_file: str | None
    """As it was named; None where the baseline is played now."""
    field: tuple[str, ...]
    seats: int
    seed: int | None
    folder: str
    """Where the runs of its arms lie."""
    candidate_run: str | None = None
    """The folder of the candidate's own."""
    candidate_policy: Contestant | None = None
    """None where the gate was invalid before it could be read."""
    baseline_policy: Contestant | None = None
    baseline_digest: str | None = None
    """Of the baseline file."""

    @property
    def estimand(self) -> str:
        return (
            f"mean score at {self.game} of {self.candidate} less that of {self.baseline}, in one seat against "
            f"{', '.join(self.field)}, over the same deals, seeds and seats"
        )

    @property
    def differs(self) -> tuple[str, ...]:
        """In what the candidate differs from the baseline; none where one of them is not known."""
        if self.candidate_policy is None or self.baseline_policy is None:
            return ()
        return differing(self.candidate_policy, self.baseline_policy)
