"""What is played for in Half-Hearted Step, and who wins with which points.

Owns the test that decides an episode. Knows neither how the threshold came about nor how the points did.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from games.game import Seat


class Contest(NamedTuple):
    """What is played for: the holder wins with a lead of at least the threshold, else the opponent does."""

    holder: Seat
    threshold: int

    def lead(self, points: Sequence[int]) -> int:
        """The holder's points minus the opponent's."""
        return points[self.holder] - points[1 - self.holder]

    def winner(self, points: Sequence[int]) -> Seat:
        """Who wins with these points at the end."""
        return self.holder if self.lead(points) >= self.threshold else 1 - self.holder
