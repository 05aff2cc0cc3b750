"""GATE.toml: several gates in one file.

Owns its keys, types and bounds, and that every problem is reported at once. Games, entrants and models are read as in a
ladder's config. Opens no baseline file: `harness.gate.order` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from weigh.games.game import AnyGame, ConfigInvalid
from weigh.games.registry import GAMES, read_config
from weigh.harness.config.config import load_document
from weigh.harness.config.entrants import EntrantSpec, every_scripted, parse_entrant
from weigh.harness.config.problems import KeyPath, Problems, Section
from weigh.harness.config.sections import RunFolder, Seconds, name_of, read_entrants, read_models, safe_name
from weigh.harness.config.thresholds import MAX_FALLBACK_RATE
from weigh.harness.errors import ConfigError
from weigh.harness.gate.checks import Check
from weigh.harness.gate.conduct import known_measures
from weigh.harness.providers.endpoints.settings import EndpointSettings
from weigh.harness.words import as_written, did_you_mean

Level = Annotated[float, Field(gt=0, lt=0.5, allow_inf_nan=False)]
Amount = Annotated[float, Field(allow_inf_nan=False)]
Allowance = Annotated[float, Field(ge=0, allow_inf_nan=False)]

SECTIONS = ("defaults", "gates", "entrants", "models", "limits")
OWN = ("baseline", "checks")
"""Keys of a gate that no default makes sense for."""


class GateHead(RunFolder):
    """The keys above every table. The folder of the runs is gate-NAME below `results`."""

    seed: int | None = Field(default=None, ge=0)
    """None takes a baseline file's, and 0 where the baseline is a policy."""
    alpha: Level = 0.05
    """The most that a candidate worse by the margin may pass: false passes."""
    beta: Level = 0.05
    """The most that one as good is called a regression, over all gates together: false regressions."""
    max_void_rate: float = Field(default=0.1, ge=0, le=0.5)
    """Above this share of void blocks nothing is judged."""
    max_fallback_rate: float = Field(default=MAX_FALLBACK_RATE, ge=0, le=1)
    """A candidate, or a baseline, that the fallback made more of its moves for is no pass."""


class GateLimits(Section):
    """[limits]: time, and what all gates together may spend."""

    decision_timeout: Seconds | None = None
    """None takes a baseline file's, and 60 where the baseline is a policy."""
    episode_deadline: Seconds | None = None
    """Seconds for one episode; None takes a baseline file's, and no limit where the baseline is a policy."""
    episodes_in_flight: int = Field(default=64, ge=1, le=10_000)
    """In each arm."""
    outages_in_a_row: int = Field(default=5, ge=1)
    """Void episodes of one model without an answer in between, after which the gate stops."""
    max_calls: int | None = Field(default=None, ge=1)
    """Model calls."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Input and output tokens together."""
    max_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """US dollars; calls of unknown cost are counted from above."""
    max_seconds: Seconds | None = None
    """Wall time of one invocation."""


class GateTable(Section):
    """[defaults] and [gates.NAME]."""

    baseline: str | None = Field(default=None, min_length=1)
    """A baseline file, or an entrant that is played now."""
    candidate: str | None = Field(default=None, min_length=1)
    """The entrant that is judged."""
    game: str | None = None
    """None takes the baseline file's."""
    margin: float | None = Field(default=None, gt=0, le=2, allow_inf_nan=False)
    """The loss of mean score that is too much."""
    field: list[str] | None = Field(default=None, min_length=1)
    """Scripted opponents; None takes the baseline file's, and the game's own scripted policies without one."""
    set: dict[str, Any] | None = None
    """Config keys of the game; None takes the baseline file's, and the defaults without one."""
    max_pairs: int | None = Field(default=None, ge=2, le=1_000_000)
    """The most pairs of episodes; None takes as many as the baseline file has, or a default."""
    checks: dict[str, Any] = Field(default_factory=dict)
    """Secondary measures with a threshold each."""


class Threshold(Section):
    """A check, as a table."""

    max: Amount | None = None
    """The most that the measured value may be."""
    min: Amount | None = None
    """The least that it may be."""
    max_increase: Allowance | None = None
    """The most that it may be above the baseline's."""
    max_decrease: Allowance | None = None
    """The most that it may be below the baseline's."""


@dataclass(frozen=True, slots=True)
class GateWanted:
    """One gate as it is asked for; None leaves a thing to the baseline file or to the default."""

    name: str
    baseline: str
    candidate: EntrantSpec
    played_baseline: EntrantSpec | None
    """None where the baseline is a file."""
    margin: float
    game: AnyGame | None
    settings: Mapping[str, Any] | None
    field: tuple[str, ...] | None
    max_pairs: int | None
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class GateFile:
    """A gate file, read."""

    source: Path
    name: str
    results: Path
    head: GateHead
    limits: GateLimits
    gates: tuple[GateWanted, ...]
    model_settings: Mapping[str, EndpointSettings]


def is_baseline_file(word: str, folder: Path) -> bool:
    """Whether the word for a baseline names a file of scores, and not a policy to be played.

    A scripted policy's name is the policy, as everywhere, whatever files lie in the folder: `./match` is the file.
    """
    if word.lower().endswith(".json"):
        return True
    if "@" in word or word.endswith(".md") or word in every_scripted():
        return False
    return (folder / word).is_file()


def load_gate_file(path: Path) -> GateFile:
    """Read a gate file. Raises ConfigError with every problem found."""
    document, text = load_document(path)
    problems = Problems(str(path), text)
    head = problems.head(GateHead, document, SECTIONS)
    limits = problems.check(GateLimits, document.get("limits", {}), ("limits",))
    defaults = problems.check(GateTable, document.get("defaults", {}), ("defaults",))
    for key in OWN:
        if isinstance(document.get("defaults"), dict) and key in document["defaults"]:
            problems.add(("defaults", key), "stands in each gate, not among the defaults")
    settings = read_models(problems, document.get("models", {}))
    known = {spec.name: spec for spec in read_entrants(problems, document.get("entrants", {}), path.parent, [])}
    name = name_of(problems, head, path)
    gates = _Gates(problems, path.parent, defaults or GateTable(), known).read(document.get("gates"))
    problems.raise_if_any()
    if head is None or limits is None:
        raise AssertionError("a section is missing and no problem was noted")
    results = (path.parent / Path(head.results).expanduser()).resolve()
    return GateFile(path, name, results, head, limits, tuple(gates), settings)


class _Gates:
    """Reads [gates]."""

    def __init__(self, problems: Problems, folder: Path, defaults: GateTable, known: Mapping[str, EntrantSpec]) -> None:
        self._problems = problems
        self._folder = folder
        self._defaults = defaults
        self._known = known

    def read(self, tables: object) -> list[GateWanted]:
        """Every gate that is right, of `[gates.NAME]` tables or `[[gates]]` with a key `name`."""
        if isinstance(tables, list):
            tables = self._named(tables)
        if not isinstance(tables, dict) or not tables:
            self._problems.add(("gates",), "missing: a table for each gate, as [gates.NAME]")
            return []
        found = [self._gate(name, table) for name, table in tables.items()]
        return [gate for gate in found if gate is not None]

    def _named(self, tables: Sequence[object]) -> dict[str, object]:
        named: dict[str, object] = {}
        for number, table in enumerate(tables, start=1):
            if not isinstance(table, dict) or not isinstance(table.get("name"), str):
                self._problems.add(("gates",), f'gate {number}: a table with a name = "..."')
            elif table["name"] in named:
                self._problems.add(("gates",), f"two gates are called {table['name']}")
            else:
                named[table["name"]] = {key: value for key, value in table.items() if key != "name"}
        return named

    def _gate(self, name: str, table: object) -> GateWanted | None:
        path: KeyPath = ("gates", name)
        if name != safe_name(name):
            self._problems.add(path, f"no folder can be called so; {safe_name(name)} would do")
        given = self._problems.check(GateTable, table, path)
        if given is None:
            return None
        filled = given.model_copy(
            update={
                key: getattr(self._defaults, key)
                for key in GateTable.model_fields
                if key not in given.model_fields_set and key not in OWN
            }
        )
        missing = [key for key in ("baseline", "candidate", "margin") if getattr(filled, key) is None]
        for key in missing:
            self._problems.add((*path, key), "missing")
        if missing:
            self._checks((*path, "checks"), filled.checks, GAMES.get(filled.game or ""))
            return None
        return self._resolved(name, path, filled)

    def _resolved(self, name: str, path: KeyPath, given: GateTable) -> GateWanted | None:
        baseline, margin = given.baseline or "", given.margin or 0.0
        candidate = self._entrant((*path, "candidate"), given.candidate or "")
        from_file = is_baseline_file(baseline, self._folder)
        played = None if from_file else self._entrant((*path, "baseline"), baseline)
        game = GAMES.get(given.game) if given.game is not None else None
        if given.game is not None and game is None:
            self._problems.unknown(path, given.game, GAMES, "game")
            return None
        if game is None and not from_file:
            self._problems.add((*path, "game"), f"missing: a baseline that is played needs one of {', '.join(GAMES)}")
            return None
        if game is not None and given.set is not None:
            try:
                read_config(game, given.set)
            except ConfigInvalid as error:
                self._problems.add((*path, "set"), str(error))
        checks = self._checks((*path, "checks"), given.checks, game)
        if candidate is None or (played is None and not from_file):
            return None
        return GateWanted(
            name=name,
            baseline=baseline,
            candidate=candidate,
            played_baseline=played,
            margin=margin,
            game=game,
            settings=given.set,
            field=None if given.field is None else tuple(given.field),
            max_pairs=given.max_pairs,
            checks=checks,
        )

    def _entrant(self, path: KeyPath, word: str) -> EntrantSpec | None:
        try:
            return parse_entrant(word, self._folder, known=self._known)
        except ConfigError as error:
            for line in error.lines:
                self._problems.add(path, line)
            return None

    def _checks(self, path: KeyPath, tables: Mapping[str, object], game: AnyGame | None) -> tuple[Check, ...]:
        """Numbers are the most that passes. Without a game, names are looked up once the baseline file is read."""
        checks = []
        for measure, value in tables.items():
            here = (*path, measure)
            if game is not None and measure not in known_measures(game.name):
                self._problems.add(here, unknown_measure(measure, game.name))
                continue
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number and not isinstance(value, dict):
                self._problems.add(here, f"must be a number or a table of {_bounds()}, not {as_written(value)}")
                continue
            threshold = self._problems.check(Threshold, {"max": value} if number else value, here)
            if threshold is not None and not threshold.model_fields_set:
                self._problems.add(here, f"bounds nothing: give one of {_bounds()}")
            elif threshold is not None:
                checks.append(Check(measure, **threshold.model_dump()))
        return tuple(checks)


def unknown_measure(measure: str, game: str) -> str:
    """What is wrong with a check of that name."""
    return f"unknown measure of {game}{did_you_mean(measure, known_measures(game))}"


def _bounds() -> str:
    fields: type[BaseModel] = Threshold
    return ", ".join(fields.model_fields)
