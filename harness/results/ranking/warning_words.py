"""What to know about a ladder before its numbers are believed: a kind with its values, and the words for each kind.

Owns the wording, all of it in one table. Finds nothing: `harness.results.ranking.warnings` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any, Final, TypeAlias

from weigh.games.game import Json
from weigh.harness.stats.clustered import LEAST_ALIKE

Value: TypeAlias = str | int | float | tuple[str, ...] | tuple[Mapping[str, Any], ...]
"""Entrants as a tuple of names, or a tuple of mappings where each has values of its own."""


@dataclass(frozen=True, slots=True)
class LadderWarning:
    """Something to know before the numbers are believed."""

    kind: str
    """A key of WORDS, up to its point."""
    values: Mapping[str, Value]
    case: str = ""
    """Which of the kind's sentences it is, where there are several."""

    @property
    def text(self) -> str:
        """One line for people. Entrant names stand in it as they are."""
        name = f"{self.kind}.{self.case}" if self.case else self.kind
        return _Words(ITEMS.get(self.kind, "")).vformat(WORDS[name], (), self.values)

    def to_json(self) -> dict[str, Json]:
        return {"kind": self.kind, "text": self.text}


class _Words(Formatter):
    """Fills a sentence: several values are listed, and `{calls:call}` is `1 call` or `2 calls`."""

    def __init__(self, item: str) -> None:
        self.item = item

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, tuple):
            each = [one if isinstance(one, str) else _Words("").vformat(self.item, (), one) for one in value]
            return (format_spec or ", ").join(each)
        if len(format_spec) > 1 and format_spec.isalpha():
            return f"{value} {format_spec}{'' if value == 1 else 's'}"
        return str(super().format_field(value, format_spec))


_LEADS: Final = "no clear first: {leader} leads {runner_up} by {difference:.3f}"
_SURE: Final = f"{_LEADS} [{{low:+.3f}}, {{high:+.3f}}]"

_VOIDS: Final = (
    "{starts:start} ended by an outage and not rated ({rate:.1%} of all); where outages depend on the score, means are "
    "shifted and intervals hold less often"
)
_WHOSE: Final = "; whose provider failed: {whose}"
_NEVER: Final = "; {never:episode} of them not replayed yet"

WORDS: Final[Mapping[str, str]] = {
    "partial": "{done} of {expected} episodes are finished; ranks may change",
    "uneven_schedule": (
        "no clear first: {leader} leads by mean ({mean:+.3f}), and {best} by opponent-adjusted mean "
        "({most:+.3f}, {leader} {least:+.3f}): the schedule is uneven, and they met other opponents"
    ),
    "not_separated.equal": "no clear first: {leader} and {runner_up} have equal means",
    "not_separated.agreeing": (
        f"{_LEADS} in every block, and fewer than {LEAST_ALIKE} blocks that all agree are no proof"
    ),
    "not_separated.uneven": (
        f"{_SURE}; the schedule is uneven, so mean and opponent-adjusted mean must both put it ahead of everybody, and "
        "they do not surely"
    ),
    "not_separated.too_little": f"{_SURE}, too little to show in any run that can be paid for",
    "not_separated.more_blocks": (
        f"{_SURE}; so large a difference needs about {{needed}} blocks to show (there are {{blocks}})"
    ),
    "not_separated.near": _SURE,
    "several_games": (
        "{leader} would be called first if this were the only game (p = {p:.3f}); among the leaders of {games} games "
        "it is not (p = {p_holm:.3f} by Holm)"
    ),
    "few_blocks.lone": "not enough blocks for an interval, which takes two or more: {entrants}",
    "few_blocks.agreeing": (
        f"no interval, because fewer than {LEAST_ALIKE} blocks that all agree are no proof (equal entrants often give "
        "two or three alike): {entrants}"
    ),
    "few_blocks.explained": (
        "no interval: so few blocks are explained by strengths alone, and nothing is left to judge luck by: {entrants}"
    ),
    "no_spread.alike": (
        "every block gave the same score: play repeats itself, and more blocks add nothing: {entrants}"
    ),
    "no_spread.explained": (
        "blocks differ only by who sat at the table: play repeats itself, and more blocks of the same tables add "
        "nothing: {entrants}"
    ),
    "no_baseline": (
        "no scripted entrant is on the ladder, so nothing shows what a score is worth; add match and random"
    ),
    "voids": _VOIDS,
    "voids.whose": f"{_VOIDS}{_WHOSE}",
    "voids.never": f"{_VOIDS}{_NEVER}",
    "voids.whose_never": f"{_VOIDS}{_WHOSE}{_NEVER}",
    "left_out": (
        "{left} of {episodes} episodes are left out because the fallback moved in them; the others are a selection, "
        "not a sample"
    ),
    "unscored": "{missing} of {seats} seat-episodes have no score; means are over the other {scored}",
    "incomplete_blocks": "{broken} of {blocks} blocks are incomplete: in them not everybody played every seat",
    "shared_deals": "{runs} runs share their seeds with others, and so their deals: a block they share counts once",
    "mixed_tables": "tables of {sizes: and } seats are mixed, and their scores do not mean the same",
    "uneven_meetings": (
        "pairs met in {fewest} to {most} episodes: means owe something to the opponents met, and opponent-adjusted "
        "means assume that strengths add up; where they do not, the interval of whoever met few others is too narrow"
    ),
    "not_linked": (
        "no clear first, and there are no opponent-adjusted means: these groups never met, directly or through "
        "others: {groups: | }"
    ),
    "not_in_all_runs": ("not everybody played in all {runs} runs, so opponents and deals differ: {entrants:; }"),
    "adjusted_beyond": (
        "opponent-adjusted means beyond the scores that can be had, [-{bound:g}, {bound:g}]: {entrants}; strengths do "
        "not add up that far, so read their order, not their size"
    ),
    "unknown_cost": "the cost is unknown, and its total a lower bound: {entrants}",
    "cut_prompts": (
        "the server seems to have dropped the beginning of prompts, the rules first (it counted far fewer tokens than "
        "they have): {entrants}; give it a larger context"
    ),
    "reasoning_only": (
        "answers were empty with reasoning beside them: {entrants}; look at the server's reasoning parser: it may take "
        "the answer for reasoning"
    ),
    "refusals": ("refused again and again at one table: {entrants}; see whether another seat's words set it off"),
    "unequal_truncation": (
        "answers are cut at the token cap unequally, {cut} {most:.0%} and {fair} {least:.0%}: that is no fair race; "
        "raise the max_tokens of {cut}"
    ),
    "reused": "attempts answered by an earlier run, which are no new evidence beside it: {entrants}",
    "one_opponent": "{entrant} met one opponent only: its mean says nothing about the others",
    "same_policy": "one policy under {names} names: {entrants}; what is between them is luck",
    "renamed_policy": "{entrant} stood for {policies} different policies: its row mixes them",
}
"""The sentence of each kind, or of each case of it."""

ITEMS: Final[Mapping[str, str]] = {
    "not_in_all_runs": "{entrant} in {runs} only",
    "voids": "{entrant} {starts}",
    "adjusted_beyond": "{entrant} {adjusted:+.3f}",
    "unknown_cost": "{entrant} in {episodes:episode}",
    "cut_prompts": "{entrant} in {calls:call}",
    "reasoning_only": "{entrant} {rate:.0%}",
    "refusals": "{entrant} {streak} attempts in a row ({refused} in all)",
    "reused": "{entrant} {reused} of {attempts}",
}
"""What is said of each entrant in it, where each has values of its own."""
