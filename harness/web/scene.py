"""What a game looks like to a spectator: the contract between a game's board view and everything that shows one.

Owns the frames of an episode. A board view turns the opening and every step into frames, one picture each with what is
said about it; what is said of all games alike is added here: who won, and which moves were not made at the first
attempt. Owns also the parts that every game draws in the same way: how numbers are written, and how a seat is told from
the others, by a colour and always by a mark of one to three letters as well. The page defines the classes of a seat:
`seat` is the badge, `seat-0` .. `seat-12` set the custom property `--seat` for whatever stands inside.

The replay page, the live page and the terminal all show frames; none of them knows a game. Positions are the engine's,
before and after: a board view applies no rule of its own. Everything here is the spectator's side. It shows what seats
hid from each other, and never reaches a player.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from operator import is_
from typing import ClassVar, Final, Literal, Protocol, TypeAlias, cast

from weigh.games.game import Event, Json, Move, Outcome, Seat, State
from weigh.harness.store.record import Decision
from weigh.harness.web.svg import Child, Element, drawing, h, part

Names: TypeAlias = Sequence[str]
"""What each seat is called in pictures, in seat order: its alias with the entrant, as `Ash (mine)`."""

Counts: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Rows for the table of seats: a label and one short text per seat, e.g. ("points", ("12", "3 1/2", "0", "7"))."""

Flag: TypeAlias = Literal["retry", "fallback"]
"""How a move came about that its player did not make at the first attempt."""

FrameKind: TypeAlias = Literal["start", "prize", "move", "reveal", "overbid", "challenge", "auction", "event", "end"]
"""What a frame is, for its mark on the scrubber. `overbid` is loud: it has a banner and a mark of its own."""

SEALED: Final = ("start", "prize")
"""Frames that open the next step: what is chosen there is not known yet."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture, with what is said about it. A board view leaves the last two fields alone."""

    kind: FrameKind
    label: str
    """A few words for the scrubber, e.g. `round 3: prize 9`, unique within its episode where that is natural."""
    picture: Element
    """The whole board at this point; the page shows it in place of the last one."""
    feed: tuple[str, ...] = ()
    """What happened, a line each, in words a person follows without the picture. Also what a screen reader is told."""
    counts: Counts = ()
    banner: str | None = None
    """Shown large across the board: `OVERBID by 8`. None for most frames. The end's says who won."""
    flags: tuple[tuple[Seat, Flag], ...] = ()
    """The seats whose move of this step is shown here and was a second attempt, or the fallback's."""
    step: int = -1
    """The step that it shows, from 0; -1 for the opening. The stop by the clock counts as a step of its own."""

    def to_json(self, picture: Json) -> list[Json]:
        """The frame as the page's script reads it, with its picture as the page holds it."""
        counts: list[Json] = [[label, list(texts)] for label, texts in self.counts]
        flags: list[Json] = [[seat, flag] for seat, flag in self.flags]
        return [self.step, self.kind, self.label, picture, list(self.feed), counts, self.banner, flags]


class BoardView(Protocol):
    """How one game is shown. A module of `harness.web.scenes` that has these names; all its functions are pure."""

    @property
    def STYLE(self) -> str:
        """CSS of its pictures: classes that begin with the game's name, colours by the page's custom properties
        (`harness.web.palette`: `--seat-0` .. `--seat-12`, `--on-seat`, `--ink`, `--quiet`, `--paper`, `--card`,
        `--raised`, `--line`, `--good`, `--bad`, `--loud`, `--gold`)."""

    def opening(self, names: Names, state: State) -> Iterable[Frame]:
        """The first position, before any move."""

    def played(self, names: Names, before: State, after: State) -> Iterable[Frame]:
        """A step in which seats moved, in the order to be shown."""

    def ended(self, names: Names, state: State, outcome: Outcome) -> Frame:
        """The end, after the last step or where the clock stopped the episode."""

    def words(self, before: State, seat: Seat, move: Move) -> str:
        """A legal move in a few words, as it is said in this game: `7`, `left 2`, `weight 5 on scale 0, said to be 1`.

        Without the name of the seat, which stands next to it.
        """


@dataclass(frozen=True, slots=True)
class Moment:
    """One step of an episode as the engine saw it, and how its moves came about."""

    names: Names
    step: int
    """Counted from 0; -1 for the opening."""
    before: State | None
    """None at the opening."""
    moves: Mapping[Seat, Move]
    """By seat, of those that moved; empty at the opening and when the clock stopped the game."""
    after: State
    decisions: Sequence[Decision] = ()
    fallback: str = ""
    """The player that moves for those who do not."""


def frames_of_moment(view: BoardView, moment: Moment) -> Iterator[Frame]:
    """The frames of a moment, one or more, in the order to be shown. The last of an episode shows its outcome."""
    names, after = moment.names, moment.after
    made: Iterable[Frame] = ()
    if moment.before is None:
        made = view.opening(names, after)
    elif moment.moves:
        made = view.played(names, moment.before, after)
    flagged = [decision for decision in moment.decisions if decision.by in _FLAGS]
    new = True
    for frame in made:
        if flagged and frame.kind not in SEALED:
            frame, new = _flagged(frame, names, flagged, moment.fallback if new else None), False
        yield replace(frame, step=moment.step)
    if after.outcome is not None:
        end = view.ended(names, after, after.outcome)
        yield replace(end, step=moment.step, banner=winner(names, after.outcome.scores))


def winner(names: Names, scores: Sequence[Fraction]) -> str:
    """Who won: `Ash (mine) wins`, `Ash and Elm share the first place`, `A draw`."""
    best = [name for name, score in zip(names, scores, strict=True) if score == max(scores)]
    if len(best) == len(names):
        return "A draw"
    if len(best) == 1:
        return f"{best[0]} wins"
    return f"{', '.join(best[:-1])} and {best[-1]} share the first place"


# -- moves that were not made at the first attempt ---------------------------------------------------------------------

_FLAGS: Final[Mapping[str, tuple[Flag, str]]] = {
    "fallback": ("fallback", "by the fallback"),
    "retry": ("retry", "at a second attempt"),
}


def _flagged(frame: Frame, names: Names, decisions: Sequence[Decision], fallback: str | None) -> Frame:
    """The frame with these moves pointed at: by a class on the badges of their seats, by a word in the picture's
    description and, with the name of the `fallback`, by lines of the feed."""
    flags = tuple((decision.seat, _FLAGS[decision.by][0]) for decision in decisions)
    lines = () if fallback is None else tuple(_line(names[each.seat], each, fallback) for each in decisions)
    own, sentences = marks(names), []
    for flag, words in _FLAGS.values():
        seats = [names[seat] for seat, each in flags if each == flag]
        if seats:
            sentences.append(f"Moved {words}: {', '.join(seats)}.")
    pointed = _pointed(frame.picture, {own[seat]: flag for seat, flag in flags}, " ".join(sentences), False)
    return replace(frame, feed=(*frame.feed, *lines), flags=flags, picture=pointed)


def _line(name: str, decision: Decision, fallback: str) -> str:
    why = ", then ".join(note.fault for note in decision.faults)
    if decision.by == "fallback":
        return f"{name} moved by the fallback ({fallback}){f': {why}' if why else ''}."
    return f"{name} moved at a second attempt{f', after {why}' if why else ''}."


def _pointed(element: Element, flags: Mapping[str, Flag], sentence: str, named: bool) -> Element:
    """The picture with a class on the badges of the marks in `flags` that stand next to names. `named`: the element is
    within such a place."""
    classes = element.attributes.get("class", "").split()
    if named and "seat" in classes and len(element.children) == 1 and element.children[0] in flags:
        kind = " ".join((*classes, f"seat-{flags[str(element.children[0])]}"))
        return h(element.tag, {**element.attributes, "class": kind}, *element.children)
    named = named or any(each.endswith("-who") for each in classes)
    attributes = dict(element.attributes)
    if attributes.get("role") == "img":
        attributes["aria-label"] = f"{attributes.get('aria-label', '')} {sentence}".strip()
    children: list[Child] = [
        child if isinstance(child, str) else _pointed(child, flags, sentence, named) for child in element.children
    ]
    if attributes == element.attributes and all(map(is_, children, element.children)):
        return element  # what is shared with other pictures stays shared
    return h(element.tag, attributes, *children)


# -- seats -------------------------------------------------------------------------------------------------------------

COLOURS: Final = 13
"""Different seat colours; from seat 13 on they come again, and the marks tell who is who."""

_LONGEST_MARK: Final = 3


def seat_class(seat: Seat) -> str:
    """The class that gives an element, and everything in it, the colour of `seat`."""
    return f"seat-{seat % COLOURS}"


def marks(names: Names) -> tuple[str, ...]:
    """A mark for each name: its first letter, or as many more as tell it apart; numbers where three do not.

    >>> marks(["Ash", "Elm", "Elder"])
    ('A', 'Elm', 'Eld')
    """
    found = []
    for seat, name in enumerate(names):
        others = [other for place, other in enumerate(names) if place != seat]
        heads = (name[:length] for length in range(1, _LONGEST_MARK + 1))
        mark = next((head for head in heads if not any(other.startswith(head) for other in others)), "")
        found.append(mark if mark.isalnum() else str(seat))
    return tuple(found) if len(set(found)) == len(found) else tuple(map(str, range(len(names))))


@lru_cache(maxsize=4_096)
def badge(seat: Seat, mark: str) -> Element:
    """The badge of a seat, for a picture made of HTML."""
    return part("span", f"seat {seat_class(seat)}", mark)


class Board:
    """A position as it is drawn, with what is pointed at in it. Each game has a frozen dataclass of this kind."""

    game: ClassVar[str]
    names: Names

    def draw(self) -> Element:
        """The picture."""
        raise NotImplementedError

    def counts(self) -> Counts:
        """The rows for the table of seats."""
        raise NotImplementedError

    def frame(self, kind: FrameKind, label: str, *feed: str, banner: str | None = None) -> Frame:
        """The frame that shows it."""
        return Frame(kind, label, self.draw(), feed, self.counts(), banner)

    @cached_property
    def marks(self) -> tuple[str, ...]:
        return marks(self.names)

    def who(self, seat: Seat, name: str = "", tag: str = "div") -> Element:
        """A seat that may have moved: its badge and its name. On this badge a flag is put."""
        named = h("span", None, name or self.names[seat])
        return part(tag, f"{self.game}-who", badge(seat, self.marks[seat]), named)

    def figure(self, label: str, *children: Child | None, kind: str = "") -> Element:
        """A picture in HTML: of an image a screen reader is told the label alone."""
        return part("div", f"{self.game}{kind}", *children, role="img", aria_label=label)


# -- parts of pictures -------------------------------------------------------------------------------------------------


def bar(empty: str, full: str, share: float) -> Element:
    """A bar that is filled to this share, from 0 to 1."""
    inner = part("rect", full, width=100 * share, height=8)
    return drawing(None, 100, 8, part("rect", empty, width=100, height=8), inner, stretched=True)


def beam(game: str, ends: tuple[int, int], high: int, drop: float, stand: str, pivot: float) -> tuple[Element, ...]:
    """Stand, beam and pivot of a balance whose left end hangs `drop` lower than level, with pans below `ends`."""
    middle = sum(ends) // 2
    return (
        part("path", f"{game}-stand", d=f"M{middle} {high}{stand}"),
        part("line", f"{game}-beam", x1=ends[0], y1=high + drop, x2=ends[1], y2=high - drop),
        part("circle", f"{game}-pivot", cx=middle, cy=high, r=pivot),
    )


def overbid(names: Names, number: int, event: Event, above: str) -> tuple[str, str, str]:
    """Label, line and banner of an overbid in a round. `above`: whose bid it was above."""
    seat, bid, margin, over = (cast(int, event.data[key]) for key in ("seat", "bid", "margin", "over"))
    line = f"OVERBID: {names[seat]} paid {bid} where {over + 1} was enough: {margin} above {above} {over}."
    return f"round {number}: overbid by {margin}", line, f"OVERBID by {margin}"


# -- numbers as people write them --------------------------------------------------------------------------------------


def amount(value: Fraction | int) -> str:
    """An exact number, whole part first: `4`, `3 1/2`, `-1/3`.

    >>> amount(Fraction(7, 2))
    '3 1/2'
    """
    exact = Fraction(value)
    whole, rest = divmod(abs(exact.numerator), exact.denominator)
    sign = "-" if exact < 0 else ""
    if not rest:
        return f"{sign}{whole}"
    return f"{sign}{f'{whole} ' if whole else ''}{rest}/{exact.denominator}"


def score(value: Fraction | float) -> str:
    """A score with its sign, and four decimals: `+0.2727`, `-1.0000`, `0.0000`."""
    text = f"{float(value):+.4f}"
    return "0.0000" if float(text) == 0 else text


def exact_score(value: Fraction) -> str:
    """A score with its sign, as it was settled: `+3/11`, `-1`, `0`."""
    return f"+{amount(value)}" if value > 0 else amount(value)


def full_score(value: Fraction) -> str:
    """Both: `+0.2727 (+3/11)`."""
    return f"{score(value)} ({exact_score(value)})"


def listed(names: Names, values: Iterable[object]) -> str:
    """A value for each seat in one line: `Ash 3, Elm 4`."""
    return ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))


def ranking(values: Sequence[Fraction | int]) -> list[Seat]:
    """The seats by their values, the highest first; of equals the first seat."""
    return sorted(range(len(values)), key=lambda seat: (-values[seat], seat))
