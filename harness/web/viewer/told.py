"""What is said of a scene's beats for all games alike: who won, and which moves were not made at the first attempt.

Owns the end's banner, and the flags of second attempts and fallbacks: a line of the feed, a word in the picture's
description, and a class on the badge of the seat. Knows no game, and no page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from weigh.games.game import Seat
from weigh.harness.store.record import Decision
from weigh.harness.web.viewer.nodes import Child, Element, h
from weigh.harness.web.viewer.scene import Beat, Flag, Moment, Scene
from weigh.harness.web.viewer.seat_marks import marks

SEALED = ("start", "prize")
"""Beats that open the next step: what is chosen there is not known yet."""


def told_beats(scene: Scene, moment: Moment, decisions: Sequence[Decision], fallback: str) -> Iterator[Beat]:
    """The beats of a moment. `decisions` are those of its step, `fallback` the player that stands in."""
    flagged = [decision for decision in decisions if decision.by in _WORDS]
    fresh = True
    for beat in scene.beats(moment):
        if beat.kind == "end" and moment.after.outcome is not None:
            yield replace(beat, banner=winner(moment.names, moment.after.outcome.scores))
        elif flagged and beat.kind not in SEALED:
            yield _flagged(beat, moment.names, flagged, fallback if fresh else None)
            fresh = False
        else:
            yield beat


def winner(names: Sequence[str], scores: Sequence[Fraction]) -> str:
    """Who won: `Ash (mine) wins`, `Ash and Elm share the first place`, `A draw`."""
    best = [name for name, score in zip(names, scores, strict=True) if score == max(scores)]
    if len(best) == len(names):
        return "A draw"
    if len(best) == 1:
        return f"{best[0]} wins"
    return f"{', '.join(best[:-1])} and {best[-1]} share the first place"


_WORDS: dict[str, Flag] = {"retry": "retry", "fallback": "fallback"}


def causes(decision: Decision) -> str:
    """What was wrong before the move: `illegal, then truncated`."""
    return ", then ".join(note.fault for note in decision.faults)


def _flagged(beat: Beat, names: Sequence[str], decisions: Sequence[Decision], fallback: str | None) -> Beat:
    """The beat with these moves pointed at. `fallback`: also say it in the feed, with this player's name."""
    flags = tuple((decision.seat, _WORDS[decision.by]) for decision in decisions)
    lines = beat.feed
    if fallback is not None:
        lines = (*lines, *(_line(names[decision.seat], decision, fallback) for decision in decisions))
    return replace(beat, feed=lines, flags=flags, picture=_marked(beat.picture, _Wanted(names, flags), False))


def _line(name: str, decision: Decision, fallback: str) -> str:
    why = causes(decision)
    if decision.by == "fallback":
        return f"{name} moved by the fallback ({fallback}){f': {why}' if why else ''}."
    return f"{name} moved at a second attempt{f', after {why}' if why else ''}."


class _Wanted:
    """The seats to be pointed at, by the mark on their badge."""

    def __init__(self, names: Sequence[str], flags: Sequence[tuple[Seat, Flag]]) -> None:
        own = marks(names)
        self.by_mark = {own[seat]: flag for seat, flag in flags}
        parts = []
        for flag, words in (("fallback", "by the fallback"), ("retry", "at a second attempt")):
            seats = [names[seat] for seat, each in flags if each == flag]
            if seats:
                parts.append(f"Moved {words}: {', '.join(seats)}.")
        self.sentence = " ".join(parts)


def _marked(element: Element, wanted: _Wanted, named: bool) -> Element:
    """The picture with a class on the badges that stand beside names. `named`: the element is within such a place."""
    classes = element.attributes.get("class", "").split()
    if named and "seat" in classes and len(element.children) == 1 and element.children[0] in wanted.by_mark:
        flag = wanted.by_mark[str(element.children[0])]
        return h(element.tag, {**element.attributes, "class": " ".join((*classes, f"seat-{flag}"))}, *element.children)
    named = named or any(each.endswith("-who") for each in classes)
    attributes = dict(element.attributes)
    if attributes.get("role") == "img":
        attributes["aria-label"] = f"{attributes.get('aria-label', '')} {wanted.sentence}".strip()
    children: list[Child] = [
        child if isinstance(child, str) else _marked(child, wanted, named) for child in element.children
    ]
    if attributes == element.attributes and all(
        one is other for one, other in zip(children, element.children, strict=True)
    ):
        return element
    return h(element.tag, attributes, *children)
