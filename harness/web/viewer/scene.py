"""What a game looks like to a spectator: the contract between a game's pictures and everything that shows them.

Owns the words: a scene turns each moment of an episode (the opening, then every step) into beats, and a beat is one
picture with what is said about it. The replay page, the live page and the terminal all show beats; none knows a game.
A moment holds positions of the engine, before and after: a scene applies no rule of its own.

Everything here is the spectator's side. It shows what seats hid from each other, and never reaches a player.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from pydantic import BaseModel

from weigh.games.game import AnyGame, Json, Move, Seat, State
from weigh.harness.web.viewer.nodes import Element

Flag: TypeAlias = Literal["retry", "fallback"]
"""How a move came about that its player did not make at the first attempt."""

BeatKind: TypeAlias = Literal["start", "prize", "move", "reveal", "overbid", "challenge", "auction", "event", "end"]
"""What a beat is, for its mark on the scrubber. `overbid` is loud: it has a banner and a mark of its own."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One step of an episode as the engine saw it."""

    game: AnyGame
    config: BaseModel
    names: tuple[str, ...]
    """What each seat is called in the picture, in seat order: its alias, on the spectator's side with the entrant, as
    `Ash (mine)`. Where there is little room, `harness.web.viewer.seat_marks` has the alias alone, and a mark."""
    step: int
    """Counted from 0; -1 for the opening, before anybody moved."""
    before: State | None
    """None at the opening."""
    moves: Mapping[Seat, Move]
    """By seat, of those that moved; empty at the opening and when the clock stopped the game."""
    after: State
    """The position that the moves led to. Its outcome is there once the episode is over."""


@dataclass(frozen=True, slots=True)
class Beat:
    """One picture, with what is said about it."""

    kind: BeatKind
    label: str
    """A few words for the scrubber, e.g. `round 3: prize 9`, unique within its episode where that is natural."""
    picture: Element
    """The whole board at this point, drawn anew; the page shows it in place of the last one."""
    feed: tuple[str, ...] = ()
    """What happened, a line each, in words a person follows without the picture. Also what a screen reader is told."""
    counts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Rows for the table of seats: a label and one short text per seat, e.g. ("points", ("12", "3 1/2", "0", "7"))."""
    banner: str | None = None
    """Shown large across the board: `OVERBID by 8`. None for most beats. A scene gives the end none: who won is told
    for all games alike (`harness.web.viewer.frames`)."""
    flags: tuple[tuple[Seat, Flag], ...] = ()
    """The seats whose move of this step is shown here and was a second attempt, or the fallback's. Not a scene's."""

    def to_json(self) -> dict[str, Json]:
        """The beat as the page reads it."""
        return {
            "kind": self.kind,
            "label": self.label,
            "picture": self.picture.to_json(),
            "feed": list(self.feed),
            "counts": [[label, list(texts)] for label, texts in self.counts],
            "banner": self.banner,
            "flags": [[seat, flag] for seat, flag in self.flags],
        }


class Scene(Protocol):
    """How one game is shown. A module of `harness.web.viewer.scenes` that has these two names."""

    @property
    def STYLE(self) -> str:
        """CSS of its pictures: classes that begin with the game's name, colours by the page's custom properties
        (`harness.web.viewer.palette`: `--seat-0` .. `--seat-12`, `--on-seat`, `--ink`, `--quiet`, `--paper`, `--card`,
        `--raised`, `--line`, `--good`, `--bad`, `--loud`, `--gold`). Badges, and the classes `seat-0` .. `seat-12`
        that set `--seat` for all that is inside, are the page's (`harness.web.viewer.seat_marks`). Where a badge
        stands for a seat that may have moved, beside its name, the two are in an element of the class `GAME-who`."""

    def beats(self, moment: Moment) -> Sequence[Beat]:
        """One beat or more for a moment, in the order to be shown. The last of an episode shows its outcome.

        A pure function of the moment.
        """

    def said(self, before: State, seat: Seat, move: Move) -> str:
        """A legal move in a few words, as it is said in this game: `7`, `left 2`, `weight 5 on scale 0, said to be 1`.

        Without the name of the seat, which stands beside it.
        """
