"""What gates are asked for: by the options of `weigh gate`, or by GATE.toml, several in one file.

Owns keys, types and bounds, and that every problem of a file is reported at once. Games, entrants and models are read
as in a ladder's config. Opens no baseline file and plays nothing: `harness.gate.gate` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from weigh.games.game import AnyGame, ConfigInvalid
from weigh.games.registry import GAMES, game_named, read_config
from weigh.harness.config.config import load_document
from weigh.harness.config.entrants import EntrantSpec, every_scripted, parse_entrant
from weigh.harness.config.problems import KeyPath, Problems, Section
from weigh.harness.config.sections import RunFolder, Seconds, name_of, read_entrants, read_models, safe_name
from weigh.harness.config.thresholds import MAX_FALLBACK_RATE
from weigh.harness.errors import ConfigError, Refused
from weigh.harness.gate.arm import Arm, RunSettings, Setting, arm_of, opponents_of, require_plays
from weigh.harness.gate.measures import Check, known_measures
from weigh.harness.run.limits import Ceilings
from weigh.harness.run.play.single import Asked, entrants_of
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

    @property
    def ceilings(self) -> Ceilings:
        return Ceilings(self.max_calls, self.max_tokens, self.max_usd, self.max_seconds)


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
    opponents: list[str] | None = Field(default=None, min_length=1)
    """Scripted policies for the other seats; None takes the baseline file's, and the game's own without one."""
    set: dict[str, Any] | None = None
    """Config keys of the game; None takes the baseline file's, and the defaults without one."""
    max_blocks: int | None = Field(default=None, ge=1, le=1_000_000)
    """The most blocks; None takes as many as the baseline file has, or a default."""
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
class GateSpec:
    """One gate as it is asked for; None leaves a thing to the baseline file or to the default."""

    name: str
    baseline: str
    candidate: EntrantSpec
    played_baseline: EntrantSpec | None
    """None where the baseline is a file."""
    margin: float
    game: AnyGame | None
    set: Mapping[str, Any] | None
    opponents: tuple[str, ...] | None
    max_blocks: int | None
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class BuildSpec:
    """All gates of one command, and what they share."""

    name: str
    folder: Path
    """Where prompt and baseline files are looked for."""
    results: Path
    """Below which runs lie."""
    gates: tuple[GateSpec, ...]
    head: GateHead
    limits: GateLimits
    settings: RunSettings
    of_file: bool
    """Whether the gates lie in a folder of their file's name."""

    def home(self, gate: str) -> Path:
        """The folder of one gate."""
        return self.results / f"gate-{self.name}" / gate if self.of_file else self.results / f"gate-{gate}"

    @property
    def beta(self) -> float:
        """Of each gate: a regression under a share of beta survives Holm's correction by itself."""
        return self.head.beta / len(self.gates)


class GateOptions(GateHead, GateTable, GateLimits):
    """The options of `weigh gate`: the keys of a gate file, and what only a command line says."""

    given: tuple[str, ...]
    """Those of the command line, as `--margin`."""
    asked: Asked
    """How entrants are read."""
    file: Path | None = None
    blocks: int | None = None
    """Of a new baseline."""

    def require(self, *names: str, instead: str) -> None:
        missing = [f"--{name}" for name in names if getattr(self, name) is None]
        if missing:
            raise Refused(f"{', '.join(missing)}: missing; {instead}", kind="missing")

    def title(self, about: str, candidate: EntrantSpec) -> str:
        """The name of the gate, of a baseline's run too."""
        return self.name or safe_name(f"{about}-{candidate.name}")

    @property
    def home(self) -> Path:
        return Path(self.results).absolute()


BESIDE = ("--results", "--junit", "--summary", "--json", "--wide")
"""Options that may stand next to a gate file."""


def build_of(options: GateOptions) -> BuildSpec:
    """The gates that are asked for. Raises Refused and ConfigError."""
    if options.file is not None:
        idle = [option for option in options.given if option not in BESIDE]
        if idle:
            raise Refused(f"{', '.join(idle)}: stands in {options.file}, not beside it", kind="option-in-file")
        return load_gate_file(options.file, options.home if "--results" in options.given else None)
    if options.blocks is not None:
        raise Refused("--blocks is for --save-baseline; a gate takes --max-blocks", kind="option-without")
    needs = "a gate needs --baseline, --candidate and --margin, or a GATE.toml"
    options.require("baseline", "candidate", "margin", instead=needs)
    baseline = options.baseline or ""
    from_file = is_baseline_file(baseline, Path.cwd())
    if not from_file:
        options.require("game", instead="a baseline that is played needs one (`weigh games` lists them)")
    specs, models = entrants_of([options.candidate or "", *([] if from_file else [baseline])], options.asked)
    game = None if options.game is None else game_named(options.game)
    name = options.title(game.name if game is not None else Path(baseline).stem, specs[0])
    gate = GateSpec(
        name=name,
        baseline=baseline,
        candidate=specs[0],
        played_baseline=None if from_file else specs[1],
        margin=options.margin or 0.0,
        game=game,
        set=options.set or None,
        opponents=None if options.opponents is None else tuple(options.opponents),
        max_blocks=options.max_blocks,
    )
    return BuildSpec(name, Path.cwd(), options.home, (gate,), options, options, RunSettings(models), of_file=False)


def baseline_arm(options: GateOptions) -> Arm:
    """The arm that a baseline file is saved from. Raises Refused."""
    idle = [option for option in ("--baseline", "--margin", "--max-blocks") if option in options.given]
    if idle:
        raise Refused(f"{', '.join(idle)}: --save-baseline plays the policy of --candidate", kind="option-without")
    options.require("candidate", "game", instead="--save-baseline needs --candidate and --game")
    (spec,), models = entrants_of([options.candidate or ""], options.asked)
    game = game_named(options.game or "")
    require_plays(spec, game.name)
    config = read_config(game, options.set or {})
    opponents = opponents_of(game, options.opponents)
    setting = Setting(game, config, opponents, options.asked.seed, options.asked.timeout)
    blocks = setting.blocks("baseline", options.blocks or blocks_of(setting.seats))
    home = options.home / f"gate-{options.title(game.name, spec)}"
    return arm_of("baseline", spec, setting, blocks, home, RunSettings(models))


EPISODES = 200
"""Of each arm of a gate or a new baseline, unless said otherwise."""


def blocks_of(seats: int) -> int:
    """The blocks of a gate or a new baseline, unless said otherwise."""
    return EPISODES // seats


def is_baseline_file(word: str, folder: Path) -> bool:
    """Whether the word for a baseline names a file of scores, and not a policy to be played.

    A scripted policy's name is the policy, as everywhere, whatever files lie in the folder: `./match` is the file.
    """
    if word.lower().endswith(".json"):
        return True
    if "@" in word or word.endswith(".md") or word in every_scripted():
        return False
    return (folder / word).is_file()


def load_gate_file(path: Path, results: Path | None = None) -> BuildSpec:
    """Read a gate file; its runs lie below `results` if given. Raises ConfigError with every problem found."""
    document, text = load_document(path)
    problems = Problems(str(path), text)
    head = problems.head(GateHead, document, SECTIONS)
    limits = problems.check(GateLimits, document.get("limits", {}), ("limits",))
    defaults = problems.check(GateTable, document.get("defaults", {}), ("defaults",))
    for key in OWN:
        if isinstance(document.get("defaults"), dict) and key in document["defaults"]:
            problems.add(("defaults", key), "stands in each gate, not among the defaults")
    models = read_models(problems, document.get("models", {}))
    known = {spec.name: spec for spec in read_entrants(problems, document.get("entrants", {}), path.parent, [])}
    name = name_of(problems, head, path)
    gates = _Gates(problems, path.parent, defaults or GateTable(), known).read(document.get("gates"))
    problems.raise_if_any()
    if head is None or limits is None:
        raise AssertionError("a section is missing and no problem was noted")
    home = (path.parent / Path(head.results).expanduser()).resolve() if results is None else results.absolute()
    settings = RunSettings(models, limits.episodes_in_flight, limits.outages_in_a_row)
    return BuildSpec(name, path.absolute().parent, home, tuple(gates), head, limits, settings, of_file=True)


class _Gates:
    """Reads [gates]."""

    def __init__(self, problems: Problems, folder: Path, defaults: GateTable, known: Mapping[str, EntrantSpec]) -> None:
        self._problems = problems
        self._folder = folder
        self._defaults = defaults
        self._known = known

    def read(self, tables: object) -> list[GateSpec]:
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

    def _gate(self, name: str, table: object) -> GateSpec | None:
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

    def _resolved(self, name: str, path: KeyPath, given: GateTable) -> GateSpec | None:
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
        return GateSpec(
            name=name,
            baseline=baseline,
            candidate=candidate,
            played_baseline=played,
            margin=margin,
            game=game,
            set=given.set,
            opponents=None if given.opponents is None else tuple(given.opponents),
            max_blocks=given.max_blocks,
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
