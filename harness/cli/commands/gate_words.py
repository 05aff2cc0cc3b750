"""What the options of `weigh gate`, or the keys of a gate file, ask for, made ready.

Owns the reading of the command line into gates. Plays nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weigh.games.registry import game_named, read_config
from weigh.harness.config.blocks import planned
from weigh.harness.config.entrants import EntrantSpec, parse_entrants
from weigh.harness.config.sections import safe_name
from weigh.harness.config.thresholds import MAX_FALLBACK_RATE
from weigh.harness.errors import Refused
from weigh.harness.gate.arms import Conduction
from weigh.harness.gate.file import GateWanted, is_baseline_file, load_gate_file
from weigh.harness.gate.order import (
    PAIRS,
    TIMEOUT,
    Common,
    GateOrder,
    arm_order,
    conditions,
    field_of,
    order_of,
)
from weigh.harness.providers.endpoints.endpoints import EndpointSettings
from weigh.policies.contract import STYLES

if TYPE_CHECKING:
    from weigh.harness.gate.arms import ArmOrder
    from weigh.harness.gate.baseline import Conditions
    from weigh.harness.run.limits import Ceilings


@dataclass(frozen=True, slots=True)
class Words:
    """The options as they were given; None leaves a thing to the baseline file or to its default."""

    baseline: str | None
    candidate: str | None
    game: str | None
    margin: float | None
    alpha: float
    beta: float
    max_pairs: int | None
    field: str | None
    settings: tuple[str, ...]
    seed: int | None
    config: Path | None
    style: str | None
    max_tokens: int | None
    temperature: float | None
    base_url: str | None
    timeout: float | None
    max_void_rate: float
    max_fallback_rate: float
    name: str | None
    results: Path | None
    pairs: int | None

    def given(self) -> list[str]:
        """The options that were given, and differ from their defaults."""
        unset: dict[str, Any] = {"alpha": 0.05, "beta": 0.05, "max_void_rate": 0.1, "settings": ()}
        unset |= {"max_fallback_rate": MAX_FALLBACK_RATE}
        return [
            "--set" if key == "settings" else f"--{key.replace('_', '-')}"
            for key in self.__dataclass_fields__
            if getattr(self, key) != unset.get(key)
        ]

    def gate(self) -> tuple[str, list[GateOrder]]:
        """The one gate, with its name."""
        missing = [f"--{key}" for key in ("baseline", "candidate", "margin") if getattr(self, key) is None]
        if missing:
            raise Refused(
                f"{', '.join(missing)}: missing; a gate needs --baseline, --candidate and --margin, or a GATE.toml"
            )
        baseline, margin = self.baseline or "", self.margin or 0.0
        from_file = is_baseline_file(baseline, Path.cwd())
        if self.game is None and not from_file:
            raise Refused("--game: missing; a baseline that is played needs one (`weigh games` lists them)")
        specs, settings = self._entrants([self.candidate or "", *([] if from_file else [baseline])])
        game = None if self.game is None else game_named(self.game)
        title = self._title(game.name if game is not None else Path(baseline).stem, specs[0])
        wanted = GateWanted(
            name=title,
            baseline=baseline,
            candidate=specs[0],
            played_baseline=None if from_file else specs[1],
            margin=margin,
            game=game,
            settings=self._settings() if self.settings else None,
            field=self._field(),
            max_pairs=self.max_pairs,
            checks=(),
        )
        return title, [order_of(wanted, self._common(settings))]

    def baseline_order(self) -> tuple[ArmOrder, Conditions]:
        """The arm that a baseline file is saved from."""
        if self.baseline is not None or self.margin is not None or self.max_pairs is not None:
            raise Refused(
                "--save-baseline plays the policy of --candidate: leave out --baseline, --margin and --max-pairs"
            )
        missing = [f"--{key}" for key in ("candidate", "game") if getattr(self, key) is None]
        if missing:
            raise Refused(f"{', '.join(missing)}: missing; --save-baseline needs --candidate and --game")
        game = game_named(self.game)
        (spec,), settings = self._entrants([self.candidate or ""])
        if not spec.plays(game.name):
            raise Refused(f"{spec.name} does not play {game.name}; `weigh policies` lists what does")
        config = read_config(game, self._settings())
        field, seats = field_of(game, self._field()), game.seat_count(config)
        blocks = (self.pairs or PAIRS) // seats
        if blocks < 1:
            raise Refused(f"--pairs {self.pairs}: a block is {seats} pairs, one for each seat")
        seed, timeout = self.seed or 0, self.timeout or TIMEOUT
        laid = planned(game.name, seats, field, "baseline", seed, blocks)
        common = self._common(settings)
        title = self._title(game.name, spec)
        order = arm_order("baseline", spec, game, config, field, laid, common, seed, timeout, None, title)
        return order, conditions(game, config, field, seed, timeout, None)

    def _title(self, about: str, spec: EntrantSpec) -> str:
        if self.name is not None and self.name != safe_name(self.name):
            raise Refused(f"--name {self.name}: no folder can be called so; {safe_name(self.name)} would do")
        return self.name or safe_name(f"{about}-{spec.name}")

    def _common(self, settings: Mapping[str, EndpointSettings]) -> Common:
        return Common(
            folder=Path.cwd(),
            results=(self.results or Path("results")).absolute(),
            prefix="gate-",
            settings=settings,
            conduction=Conduction(),
            seed=self.seed,
            timeout=self.timeout,
            deadline=None,
            alpha=self.alpha,
            beta=self.beta,
            max_void_rate=self.max_void_rate,
            max_fallback_rate=self.max_fallback_rate,
        )

    def _field(self) -> tuple[str, ...] | None:
        if self.field is None:
            return None
        names = tuple(word.strip() for word in self.field.split(","))
        if not all(names):
            raise Refused(f"--field {self.field}: names with commas between them, as match,hoard,random")
        return names

    def _settings(self) -> dict[str, Any]:
        from weigh.harness.cli.commands.play import settings_given

        return settings_given(list(self.settings))

    def _entrants(self, words: list[str]) -> tuple[tuple[EntrantSpec, ...], Mapping[str, EndpointSettings]]:
        style = next((style for style in STYLES if style == self.style), None)
        options: dict[str, Any] = {"max_tokens": self.max_tokens, "temperature": self.temperature, "style": style}
        settings: dict[str, EndpointSettings] = {}
        if self.config is not None:
            from weigh.harness.config.config import load_config

            order = load_config(self.config)
            options["known"] = {spec.name: spec for spec in order.entrants}
            settings.update(order.model_settings)
        specs = parse_entrants(words, Path.cwd(), **options)
        for word, spec in zip(words, specs, strict=True):
            if spec.model is not None and not word.startswith("@") and self.base_url is not None:
                before = settings.get(spec.model, EndpointSettings())
                settings[spec.model] = before.model_copy(update={"base_url": self.base_url}, deep=True)
        idle = [
            option
            for option in ("--style", "--max-tokens", "--temperature", "--base-url")
            if getattr(self, option[2:].replace("-", "_")) is not None
        ]
        if idle and all(spec.model is None or word.startswith("@") for word, spec in zip(words, specs, strict=True)):
            raise Refused(
                f"{', '.join(idle)}: only an entrant PROMPT.md@provider:model can follow it, and none is named "
                "(@names play as their config says)"
            )
        return specs, settings


def of_file(path: Path, results: Path | None) -> tuple[str, list[GateOrder], Ceilings, float]:
    """Every gate of a file; its name, its ceilings and the error it shares out among its gates."""
    from weigh.harness.run.limits import Ceilings

    file = load_gate_file(path)
    limits, head = file.limits, file.head
    common = Common(
        folder=path.absolute().parent,
        results=(results.absolute() if results is not None else file.results) / f"gate-{file.name}",
        prefix="",
        settings=file.model_settings,
        conduction=Conduction(limits.episodes_in_flight, limits.outages_in_a_row),
        seed=head.seed,
        timeout=limits.decision_timeout,
        deadline=limits.episode_deadline,
        alpha=head.alpha,
        beta=head.beta / len(file.gates),  # a regression under a share of beta survives Holm's correction by itself
        max_void_rate=head.max_void_rate,
        max_fallback_rate=head.max_fallback_rate,
    )
    orders = [order_of(wanted, common) for wanted in file.gates]
    ceilings = Ceilings(limits.max_calls, limits.max_tokens, limits.max_usd, limits.max_seconds)
    return file.name, orders, ceilings, head.beta
