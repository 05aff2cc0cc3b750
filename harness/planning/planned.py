"""The plan of a ladder as one value, and its JSON form.

Owns what a plan holds and the keys it has in JSON, which are a contract: `docs/method.md` lists them. Computes nothing
but sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from games.game import Json
from harness.planning.ceilings import Ceiling
from harness.planning.estimates import Estimate, Rates, plain, total
from harness.planning.pilots import Sizes
from harness.planning.power import Test
from harness.planning.sight import Sight
from harness.planning.wall import Wall
from harness.schedule_report import ScheduleReport


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asks and gives. None: not given."""

    test: Test = field(default_factory=Test)
    latency: float | None = None
    output: float | None = None
    retry_share: float | None = None


@dataclass(frozen=True, slots=True)
class Existing:
    """The run that lies in the ladder's folder already."""

    folder: str
    finished: frozenset[str] = frozenset()
    """Keys of its finished episodes."""
    differs: tuple[str, ...] = ()
    """Why it cannot be gone on with; then nothing of it counts."""
    extension: tuple[str, ...] = ()
    """What --extend adds to it, a line each, and is planned here; what it would add where it `differs`."""
    calls: int = 0
    """Spent by its sittings, here and below."""
    tokens: int = 0
    usd: float = 0.0
    paid: int = 0
    """Answered calls of unfinished episodes, which will not be made again."""


@dataclass(frozen=True, slots=True)
class EntrantPlan:
    """One entrant in one game."""

    name: str
    model: str | None
    sizes: Sizes | None
    """None for a scripted entrant."""
    rates: Rates
    whole: Estimate
    """Of the whole schedule."""
    left: Estimate
    """Of what is not played yet."""

    def to_json(self) -> dict[str, Json]:
        sizes, rates = self.sizes, self.rates
        document: dict[str, Json] = {"entrant": self.name, "model": self.model, **self.left.to_json()}
        document["per_call"] = None
        if sizes is not None:
            document["per_call"] = {
                "prompt_characters": plain(sizes.characters),
                "retry_prompt_characters": plain(sizes.retry_characters),
                "shortest_answer_characters": plain(sizes.answer_characters),
                "decisions_per_episode": {
                    "mean": plain(sizes.decisions),
                    "fewest": sizes.fewest,
                    "most": sizes.most,
                },
                "pilot_seat_episodes": sizes.seats,
                "decisions": plain(sizes.decisions if rates.decisions is None else rates.decisions),
                "decisions_from": rates.decisions_from,
                "characters_per_token": plain(rates.characters_per_token),
                "characters_per_token_from": rates.calibrated,
                "output_tokens": plain(rates.output),
                "output_tokens_from": rates.output_from,
                "retry_share": plain(rates.retry_share),
                "retry_share_from": rates.retry_from,
                "latency_seconds": plain(rates.latency),
                "latency_from": rates.latency_from,
            }
        return document


@dataclass(frozen=True, slots=True)
class GamePlan:
    """One game of the ladder."""

    game: str
    report: ScheduleReport
    left_episodes: int
    left_blocks: int
    """Blocks with an episode that is not played yet."""
    pilots: int
    entrants: tuple[EntrantPlan, ...]
    bound: int
    """No seat makes more decisions in an episode."""
    sight: Sight

    @property
    def left(self) -> Estimate:
        return total(entrant.left for entrant in self.entrants)

    @property
    def exact(self) -> bool:
        """Whether every episode has the same number of decisions, so that they are counted and not estimated."""
        counted = [entrant.sizes for entrant in self.entrants if entrant.sizes is not None]
        return all(sizes.fewest == sizes.most == self.bound for sizes in counted)

    def to_json(self) -> dict[str, Json]:
        return {
            "game": self.game,
            "seats": self.report.seats,
            "blocks": self.report.blocks,
            "blocks_left": self.left_blocks,
            "episodes": self.report.episodes,
            "episodes_left": self.left_episodes,
            "schedule": self.report.to_json(),
            "pilot_episodes": self.pilots,
            "decisions_exact": self.exact,
            "decisions_per_episode_bound": self.bound,
            "entrants": [entrant.to_json() for entrant in self.entrants],
            "total": self.left.to_json(),
            "power": self.sight.to_json(),
        }


@dataclass(frozen=True, slots=True)
class LadderPlan:
    """Everything."""

    config: str
    folder: str
    existing: Existing | None
    source: str | None
    """The run that measures were taken from."""
    games: tuple[GamePlan, ...]
    models: Mapping[str, Estimate]
    """By model, over all games."""
    wall: Wall
    ceilings: tuple[Ceiling, ...]
    caps: tuple[int, ...]
    """Every `max_tokens` there is, ascending."""

    @property
    def left(self) -> Estimate:
        return total(self.models.values())

    @property
    def rates(self) -> tuple[Rates, ...]:
        """Of the prompted entrants."""
        return tuple(entrant.rates for game in self.games for entrant in game.entrants if entrant.model is not None)

    def to_json(self) -> dict[str, Json]:
        there = self.existing
        return {
            "schema_version": 1,
            "config": self.config,
            "folder": self.folder,
            "existing": None
            if there is None
            else {
                "finished": len(there.finished),
                "differs": list(there.differs),
                "extension": list(there.extension),
                "calls": there.calls,
                "tokens": there.tokens,
                "cost_known_usd": plain(there.usd),
                "paid_calls_of_unfinished": there.paid,
            },
            "from": self.source,
            "episodes": sum(game.report.episodes for game in self.games),
            "episodes_left": sum(game.left_episodes for game in self.games),
            "games": [game.to_json() for game in self.games],
            "models": [{"model": model, **sums.to_json()} for model, sums in self.models.items()],
            "total": self.left.to_json(),
            "cost_at": [
                {"output_tokens": tokens, "cost_usd": None if self.left.unpriced else plain(self.left.cost_at(tokens))}
                for tokens in lengths(self)
            ],
            "wall": self.wall.to_json(),
            "ceilings": [ceiling.to_json() for ceiling in self.ceilings],
        }


def lengths(plan: LadderPlan) -> list[int]:
    """The lengths of an answer, in tokens, at which the cost is told where none is expected. Up to the smallest cap."""
    if not plan.caps or plan.left.output_tokens.expected is not None:
        return []
    if not plan.left.unpriced and not plan.left.per_output_token:
        return []  # nobody charges for them
    return [*(n for n in (50, 200, 500, 1000, 2000, 5000) if n < plan.caps[0]), plan.caps[0]]
