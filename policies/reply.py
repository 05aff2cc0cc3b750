"""From a model's reply to a move, or to the fault that stands in its place. Pure.

Owns the one rule by which replies are read, for matches, for `weigh read` and for checks of records. Knows a
game by its legal set only. A shortcut here (the first number, the largest number, a repaired brace) hands a model moves
that it never made, and rankings with them; so the rule prefers asking again to guessing.

The rule, in order
1. Why the model stopped comes first. Declined: `refused`. Cut at the token cap: `truncated`; nothing of it is read, for
   `{"bid": 1` may have been on its way to 10. Paused in mid-turn: `unreadable`. Stopped to call a tool: `unreadable`,
   or `empty` when it wrote nothing, for no tool is offered. Malformed, by the provider's word: `unreadable`.
   For a reason that is not known: it is read, but unless its last answer ends the reply (step 5), outside of anything
   that is left open, it is `truncated`, and so it is without an answer.
2. Of the channels that some servers leave in the text, the last final one is read; where there is none, nothing is.
   What ends in a closing mark of thinking is dropped, up to the last such mark. Only closing marks count: many chat
   templates put the opening one into the prompt, and marks that are nested or repeated leave no doubt about the last
   end. Only white space and marks of chat templates left, or no text at all: `empty`. Nothing older and no separate
   reasoning is read in its place.
3. Over MAX_CHARACTERS characters, MAX_BRACKETS brackets, MAX_WRITINGS objects that differ in their text, a nesting
   deeper than `policies.candidates.MAX_DEPTH`, or more breaks than `policies.candidates.MAX_BROKEN`: `unreadable` as a
   whole. So the time is bounded, whatever the text.
4. A candidate is a complete object in strict JSON, with one of the answer's keys at its top level and within no other
   object. It may stand in an array, or alone in a JSON string that fills the reply or a code fence. Spaces without
   width, or that do not break, are white space between its tokens. Nothing is repaired, and nothing is taken from
   prose, from a bare number or from an object that broke off.
   No candidate: `unreadable`. Only where a move is itself a list that begins with a word (`AnswerForm.bare`), and a
   reply holds no object at all, not even a broken one, such lists are its candidates if the last of them ends it.
5. Candidates are the same when they read to the same move (7, "7" and 7.0), or, if they read to none, when their answer
   parts are equal. One distinct candidate is the answer wherever it stands. Of two, the last to stand is the answer if
   it ends the reply (`policies.candidates.ends_reply`). Otherwise, or with three: `ambiguous`. So is an answer in which
   any object has a key twice.
6. The answer is final. If the rules refuse its move, the fault is `illegal`; no other candidate is tried.
7. `notes` of the answer, a text, are cut to NOTES_LIMIT code points. Without them, or with empty ones, the player keeps
   its old ones. Notes of a reply with a fault are not kept: a retry starts from the same memory as the first attempt.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from weigh.games.game import Json, Legal, Move, MoveRefused
from weigh.policies.candidates import (
    MAX_BROKEN,
    MAX_DEPTH,
    Candidate,
    Search,
    TooDeep,
    TooMuch,
    ends_reply,
    lists_in,
    look_through,
    says_nothing,
)
from weigh.policies.contract import Fault, Stop, canonical
from weigh.policies.show import encodable, one_line

MAX_CHARACTERS = 2_000_000
MAX_BRACKETS = 100_000
"""Of the four kinds `{ } [ ]` together, after thinking was dropped."""
MAX_WRITINGS = 1_000
"""Of objects that may hold an answer; those with equal text count once."""
NOTES_LIMIT = 400
"""Code points."""

THINKING_TAGS = (
    "think",  # DeepSeek, Qwen, GLM, MiniMax and most open models; seed:think in Seed-OSS
    "thinking",
    "thought",
    "thoughts",
    "reason",
    "reasoning",
    "reflection",
    "scratchpad",
    "analysis",
)
"""Tags between which models think; the closing one may have a namespace and attributes."""

CLOSING_MARKS = (
    "[/think]",  # Magistral
    "[begin final response]",  # Apriel
    "◁/think▷",  # Kimi
    "<|/think|>",
    "<|end_of_thought|>",  # Sky-T1, OpenThinker
    "<|end_thinking|>",  # Command A
    "<channel|>",  # Gemma 4
)
"""What else closes a thinking section, in lower case; matched without regard to case, as the tags are."""

_CLOSING = re.compile(
    rf"</(?:\w{{1,20}}:)?(?:{'|'.join(THINKING_TAGS)})(?:\s[^<>]{{0,500}})?>|{'|'.join(map(re.escape, CLOSING_MARKS))}",
    re.IGNORECASE | re.ASCII,
)

# The channels of gpt-oss, where a server leaves them in the text: with their tokens, whatever stands between the name
# of the channel and its message (`<|constrain|>json`), or without them, as one word run into the next.
_CHANNEL = re.compile(
    r"<\|channel\|>\s{0,9}(analysis|commentary|final)\b(?:(?:(?!<\|(?:message|channel)\|>)[^\n]){0,99}<\|message\|>)?"
)
_CHANNEL_END = re.compile(r"<\|(?:start|end|return|call|channel)\|>")
_BARE_CHANNEL = re.compile(r"\s*analysis(?=[A-Z\"{])")
_BARE_FINAL = "assistantfinal"

_QUOTED = 80
_LONGEST_INTEGER = 300
"""Digits. A longer whole number is kept as the text it was written as, and so is a number that no float stands for
closely enough: one beyond their range, or a broken one that would be rounded to a whole one."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reply comes to."""

    move: Move = None
    """Canonical and legal when `fault` is None; otherwise None and meaningless."""
    fault: Fault | None = None
    detail: str = ""
    """One line for people, safe to print, quoting at most a short piece of the reply. Empty without a fault."""
    candidates: int = 0
    """How many distinct answers the reply held."""
    notes: str | None = None
    """What the player wants to remember, or None to keep what it had."""


def read_reply(text: str | None, stop: Stop, legal: Legal) -> Reading:
    """Read a reply by the rule above. Any text is read, in time linear in its length; none raises."""
    text = text or ""
    if stop == "refusal":
        return Reading(fault="refused", detail="the model declined to answer")
    if len(text) > MAX_CHARACTERS and stop != "length":
        return _unreadable(f"{len(text):,} characters; a reply may have {MAX_CHARACTERS:,}")
    visible = after_thinking(text).strip()
    if says_nothing(visible):
        visible = ""
    if stop == "length":
        return Reading(fault="truncated", detail=_cut_at(visible))
    if stop == "malformed":
        return _unreadable("the provider could not read what the model generated, most often a tool call")
    if not visible:
        if stop == "unknown" and text.strip():
            return _unfinished()  # it broke off with its thinking
        return Reading(fault="empty", detail=_nothing(text, stop))
    if stop == "tool_calls":
        return _unreadable("the model stopped to call a tool, and none is offered")
    if stop == "pause":
        return _unreadable("the provider paused the turn before the model had finished it")
    brackets = sum(visible.count(bracket) for bracket in "{}[]")
    if brackets > MAX_BRACKETS:
        return _unreadable(f"{brackets:,} brackets; a reply may have {MAX_BRACKETS:,}")
    try:
        search = look_through(visible)
    except TooDeep:
        return _unreadable(f"objects and arrays nest deeper than {MAX_DEPTH}")
    except TooMuch:
        return _unreadable(f"more than {MAX_BROKEN:,} openings of JSON that break off")
    return _judge(visible, search, legal, whole=stop != "unknown")


def after_thinking(text: str) -> str:
    """The part of a reply that is no thinking: of channels the last final one, and what follows the last closing mark.

    The whole text where there are neither; empty where there are channels, and none is final.
    """
    text = _final_channel(text)
    end = 0
    for found in _CLOSING.finditer(text):
        end = found.end()
    return text[end:]


def _final_channel(text: str) -> str:
    channels = list(_CHANNEL.finditer(text))
    if channels:
        finals = [channel for channel in channels if channel[1] == "final"]
        if not finals:
            return ""
        start = finals[-1].end()
        end = _CHANNEL_END.search(text, start)
        return text[start : end.start() if end else len(text)]
    if _BARE_CHANNEL.match(text):
        return text.rpartition(_BARE_FINAL)[2] if _BARE_FINAL in text else ""
    return text


@dataclass(frozen=True, slots=True)
class _Answer:
    """One candidate, decoded and put to the rules."""

    identity: str
    """Equal for candidates that are the same answer."""
    part: Json
    """What was put to the rules: the value of the one answer key, or the object cut to several."""
    move: Move
    refusal: str | None
    """Why the rules refuse it, or None when `move` is legal."""
    repeated: str | None
    """A key that some object in it has twice."""
    notes: str | None


def _judge(visible: str, search: Search, legal: Legal, *, whole: bool) -> Reading:
    """Steps 4 to 7 of the rule. Unless the reply is known to be whole, its last answer must end it."""
    keys = legal.answer.keys
    spelled = [f'"{key}"' for key in keys]
    known: dict[str, _Answer | None] = {}
    distinct: dict[str, _Answer] = {}
    keyless: str | None = None
    last: tuple[Candidate, _Answer] | None = None
    for candidate in search.candidates:
        raw = candidate.raw
        if raw not in known:
            # Only an escape can spell a key differently; without one there is nothing to decode.
            if "\\" not in raw and not any(key in raw for key in spelled):
                keyless = keyless or raw
                continue
            if len(known) == MAX_WRITINGS:
                return _unreadable(f"more than {MAX_WRITINGS:,} different objects in one reply")
            known[raw] = _put_to_rules(raw, legal)
        answer = known[raw]
        if answer is None:
            keyless = keyless or raw
        else:
            distinct.setdefault(answer.identity, answer)
            last = (candidate, answer)
    if last is None:
        lists = lists_in(visible, keys[0]) if legal.answer.bare and keyless is None and search.broken is None else []
        if lists and ends_reply(visible, lists[-1]):
            return _judge(visible, Search(lists), legal, whole=whole)
        if not whole:
            return _unfinished()
        return _unreadable(_without_candidate(visible, search, keyless, keys))
    standing, answer = last
    if not whole and (search.broke_at == len(visible) or not ends_reply(visible, standing)):
        return _unfinished()
    count = len(distinct)
    if count > 2 or (count == 2 and not ends_reply(visible, standing)):
        return Reading(fault="ambiguous", detail=_several(distinct.values()), candidates=count)
    if answer.repeated is not None:
        key = one_line(json.dumps(answer.repeated, ensure_ascii=False), 40)
        detail = f"the key {key} stands twice in {one_line(standing.raw, _QUOTED)}"
        return Reading(fault="ambiguous", detail=detail, candidates=count)
    if answer.refusal is not None:
        return Reading(fault="illegal", detail=answer.refusal, candidates=count)
    return Reading(move=answer.move, candidates=count, notes=answer.notes)


def _put_to_rules(raw: str, legal: Legal) -> _Answer | None:
    """The answer in one object; None when it has none of the keys at its top level."""
    found, repeated = _decoded(raw)
    keys = [key for key in legal.answer.keys if key in found]
    if not keys:
        return None
    single = len(legal.answer.keys) == 1
    part: Json = found[keys[0]] if single else {key: found[key] for key in keys}
    move: Move = None
    refusal: str | None = None
    try:
        move = legal.read(part)
        identity = "move:" + canonical(move)
    except MoveRefused as error:
        refusal = one_line(str(error), 2 * _QUOTED)
        identity = "part:" + canonical(part)
    if repeated is not None:
        identity = "text:" + raw
    return _Answer(identity, part, move, refusal, repeated, _notes(found.get("notes")))


def _decoded(raw: str) -> tuple[Mapping[str, Json], str | None]:
    """The object that strict JSON text stands for, and a key that it or an object in it has twice."""
    repeated: list[str] = []

    def gather(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        gathered = dict(pairs)
        if len(gathered) < len(pairs) and not repeated:
            repeated.append(_first_twice([name for name, _ in pairs]))
        return gathered

    if _EXTREME.search(raw):
        decoder = json.JSONDecoder(object_pairs_hook=gather, parse_int=_integer, parse_float=_number)
    else:
        decoder = json.JSONDecoder(object_pairs_hook=gather)  # ten times faster on a long array of numbers
    found: dict[str, Json] = decoder.decode(raw)
    return found, repeated[0] if repeated else None


def _first_twice(names: list[str]) -> str:
    """The first of these names, which are not all different, to come a second time."""
    met: set[str] = set()
    for name in names:
        if name in met:
            break
        met.add(name)
    return name


_EXTREME = re.compile(rf"(?<![0-9])[0-9]{{{_LONGEST_INTEGER}}}|\.[0-9]{{10}}|[eE](?:-|\+?[0-9]{{3}})")
_DECIMAL = re.compile(r"-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?")


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else digits


def _number(text: str) -> float | str:
    value = float(text)
    # The float nearest to 7.0000000000000000001 is 7, and that nearest to 1e-400 is 0: moves that were never written.
    return value if math.isfinite(value) and (_is_whole(text) or not value.is_integer()) else text


def _is_whole(text: str) -> bool:
    """Whether a number is a whole one as it is written, not as it is rounded."""
    written = _DECIMAL.fullmatch(text)
    if written is None:
        return False
    before, after, power = written.groups(default="")
    digits = (before + after).rstrip("0")
    zeros = len(before) + len(after) - len(digits)
    return not digits or len(after) - zeros <= float(power or 0)


def _notes(value: Json) -> str | None:
    if not isinstance(value, str):
        return None
    return encodable(value.strip()[:NOTES_LIMIT]) or None


def _unreadable(detail: str) -> Reading:
    return Reading(fault="unreadable", detail=detail)


def _unfinished() -> Reading:
    return Reading(fault="truncated", detail="the reply stopped for a reason that is not known, and no answer ends it")


def _cut_at(visible: str) -> str:
    if visible:
        return "the reply was cut off at the cap on its tokens"
    return "the cap on tokens was used up before any visible answer; allow more tokens or less reasoning"


def _nothing(text: str, stop: Stop) -> str:
    if stop == "tool_calls":
        return "the model stopped to call a tool and wrote nothing; no tool is offered"
    return "the reply has no text" if says_nothing(text) else "nothing follows the model's thinking"


_NEARLY = re.compile(r"\{\s*+(?:['‘“]|\w++\s*+:)")
_BARE = re.compile(r"""["'`*]*+-?[0-9]++(?:\.[0-9]++)?["'`*.]*+""")


def _without_candidate(visible: str, search: Search, keyless: str | None, keys: tuple[str, ...]) -> str:
    """What was there instead, so that its reader knows what to fix."""
    names = " or ".join(json.dumps(key) for key in keys)
    if keyless is not None:
        deeper = any(json.dumps(key) in keyless for key in keys)
        where = "has it below its top level" if deeper else "has no such key"
        return f"no object with the key {names}: {one_line(keyless, _QUOTED)} {where}"
    if search.broken is not None:
        return f"not complete, strict JSON: {one_line(visible[search.broken :], _QUOTED)}"
    if nearly := _NEARLY.search(visible):
        start = nearly.start()
        return f"not JSON, which needs double quotes around keys and texts: {one_line(visible[start:], _QUOTED)}"
    if _BARE.fullmatch(visible):
        return f"{one_line(visible, _QUOTED)} stands alone; the answer is a JSON object with the key {names}"
    return f"no JSON object in the reply: {one_line(visible, _QUOTED)}"


def _several(answers: Iterable[_Answer]) -> str:
    texts = [one_line(json.dumps(answer.part, ensure_ascii=False), 40) for answer in answers]
    listed = ", ".join(texts[:6]) + (f" and {len(texts) - 6} more" if len(texts) > 6 else "")
    unclear = ", and the last does not end the reply" if len(texts) == 2 else ""
    return f"{len(texts)} different answers{unclear}: {listed}"
