"""The policies of a run, made again from what it was ordered with, so that they can be run again.

Owns how a digest of a manifest is made again: of a script from its name, of a prompt from the system message that its
calls hold and the model, sampling and style that the config orders. A digest that the order does not make is a finding;
what the order does not decide, or another version of weigh made, is said to be not checked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

from weigh.games.game import GameError
from weigh.games.registry import game_named, read_config
from weigh.harness.audit.claims.arms import ALTERATIONS, Altered
from weigh.harness.audit.verify.findings import Finding, show
from weigh.harness.store.kinds import ARM, EXPERIMENT, kind_of
from weigh.harness.store.manifest import table_in
from weigh.harness.store.store import Store
from weigh.policies.contract import STYLES, Policy, Sampling, Style
from weigh.policies.human import HumanPolicy
from weigh.policies.layout import LAYOUT, system_text
from weigh.policies.operator_prompt import OperatorPrompt, parse_prompt_bytes
from weigh.policies.prompted import PromptedPolicy, digest_of
from weigh.policies.replicate import Redrawn
from weigh.policies.scripted.policy import ScriptedPolicy
from weigh.policies.scripted.registry import scripted, scripted_names

NEWER: Final = 10
"""How many versions beyond today's are tried for a digest that is none of today's."""
LAYOUTS: Final = (LAYOUT, *(each for each in range(1, LAYOUT + NEWER) if each != LAYOUT))
MARK: Final = "\0"
"""Stands for the guidance in a system message; no prompt holds it."""


@dataclass(frozen=True, slots=True)
class Cast:
    """One entrant of one game, as far as it can be run again."""

    policy: Policy | None
    """What plays; None where nobody can say."""
    unchecked: str = ""
    """What of it cannot be checked, and why; empty where all can."""
    prompts: bool = True
    """Whether what it asks its model can be compared. Where not, its replies are read again all the same."""
    person: bool = False
    wrong: Finding | None = None
    """What in the manifest contradicts itself."""


class Policies:
    """Those of one run."""

    def __init__(self, store: Store) -> None:
        self._manifest = store.manifest
        self._kind = kind_of(store.manifest)
        self._systems: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for game, entrant, system, settings in store.instructions():
            self._systems.setdefault((game, entrant), []).append((system, settings))
        self._made: dict[tuple[str, str], Cast] = {}

    def of(self, game: str, entrant: str) -> Cast:
        """How an entrant plays a game."""
        if (game, entrant) not in self._made:
            self._made[game, entrant] = self._cast(game, entrant)
        return self._made[game, entrant]

    def check(self) -> Iterator[Finding]:
        """Every policy of the manifest that is not what the manifest orders."""
        keys = dict.fromkeys(key for order in self._manifest.orders for key in order.policies)
        for key in keys:
            game, _, entrant = key.partition("/")
            if (wrong := self.of(game, entrant).wrong) is not None:
                yield wrong
        if self._kind == "ladder":
            ordered = {name for order in self._manifest.orders for name in table_in(order.config, "entrants")}
            fielded = {key.partition("/")[2] for key in keys}
            for name in sorted(ordered ^ fielded):
                yield Finding(f"entrants.{name}", "is ordered and has no policy, or the other way round")

    def _cast(self, game: str, entrant: str) -> Cast:
        said = self._manifest.policy(game, entrant)
        if said is None:
            return Cast(None, f"{entrant} of {game}: its policy is not in the manifest")
        digest, model = said.get("digest"), said.get("model")
        try:
            cast = (
                self._script(game, entrant, digest) if model is None else self._prompted(game, entrant, digest, model)
            )
            wrong = cast.wrong or _described(game, entrant, cast, said) or self._file(game, entrant, cast)
            return replace(cast, wrong=wrong)
        except (GameError, TypeError, ValueError, AttributeError, LookupError) as error:
            wrong = Finding(f"policies.{game}/{entrant}", f"cannot be made again: {show(str(error))}")
            return Cast(None, f"{entrant} of {game}", wrong=wrong)

    def _ordered(self, entrant: str) -> Mapping[str, Any] | None:
        """What the config says of an entrant; None where it says nothing but the digest, as of the field of a gate."""
        name = entrant.partition("~")[0]
        for order in reversed(self._manifest.orders):
            gate = table_in(order.config, ARM)
            if gate and gate.get("role") == entrant:
                return table_in(gate, "policy")
            for table in (table_in(order.config, "entrants"), table_in(order.config, EXPERIMENT, "entrants")):
                if name in table:
                    return table_in(table, name)
        return None

    def _forms(self, entrant: str, policy: Policy) -> Iterator[Policy]:
        """As what the run can have fielded a policy."""
        if self._kind == "experiment" and "~" in entrant:
            yield from (Altered(policy, each) for each in ALTERATIONS if each == entrant.partition("~")[2])
            return
        yield policy
        if self._kind == "arm":
            yield Redrawn(policy)

    def _script(self, game: str, entrant: str, digest: object) -> Cast:
        ordered = self._ordered(entrant)
        names = scripted_names(game) if ordered is None else [str(ordered.get("scripted"))]
        for name in names:
            today = scripted(game, name)
            if found := self._form(entrant, today, digest):
                return Cast(found)
            for version in range(1, today.baseline.version + NEWER):
                other = ScriptedPolicy(name, game, replace(today.baseline, version=version))
                if self._form(entrant, other, digest):
                    return Cast(None, f"the moves of {entrant} in {game} ({name}, version {version})")
        if ordered is not None:
            what = f"is not that of {names[0]}, as ordered"
            return Cast(None, wrong=Finding(f"policies.{game}/{entrant}.digest", what, show(digest)))
        if self._kind == "single" and digest == HumanPolicy(game, _nobody).digest:
            return Cast(None, f"the moves of {entrant} in {game} (a person's)", person=True)
        return Cast(None, f"the moves of {entrant} in {game} (no policy that is known here)")

    def _file(self, game: str, entrant: str, cast: Cast) -> Finding | None:
        """What is wrong with the prompt file that is kept of an entrant. Runs without a chain keep none."""
        ordered = self._ordered(entrant)
        if not self._manifest.chained or ordered is None or "prompts" not in ordered:
            return None
        digest = _prompt(ordered, game)["sha256"]
        whole = self._manifest.prompts.get(digest)
        if whole is None or hashlib.sha256(whole.encode()).hexdigest() != digest:
            return Finding(f"prompts.{digest}", f"the prompt file of {entrant}, is missing, or is another one")
        policy = cast.policy.policy if isinstance(cast.policy, Altered | Redrawn) else cast.policy
        guidance = parse_prompt_bytes(whole.encode(), "the file").text
        if cast.prompts and isinstance(policy, PromptedPolicy) and policy.prompt.text != guidance:
            what = f"the prompt file of {entrant}, is not what it was asked with"
            return Finding(f"prompts.{digest}", what, show(guidance), show(policy.prompt.text))
        return None

    def _form(self, entrant: str, policy: Policy, digest: object) -> Policy | None:
        return next((form for form in self._forms(entrant, policy) if form.digest == digest), None)

    def _prompted(self, game: str, entrant: str, digest: object, model: object) -> Cast:
        ordered, rules = self._ordered(entrant), game_named(game)
        config = read_config(rules, table_in(self._manifest.config, "games", game, "config"))
        systems = self._systems.get((game, entrant), [])
        if ordered is not None and ordered.get("model") != model:
            wrong = Finding(
                f"policies.{game}/{entrant}.model", "is not as ordered", show(model), show(ordered.get("model"))
            )
            return Cast(None, wrong=wrong)
        usable: PromptedPolicy | None = None
        for (system, settings), style in product(systems, _styles(ordered, game)):
            said = json.loads(settings)["sampling"] if ordered is None else ordered["sampling"]
            known = PromptedPolicy(
                entrant, OperatorPrompt(entrant, ""), str(model), Sampling(**said), style, rules, config
            )
            guidances = list(_guidances(system, system_text(rules.rulebook(config), style, MARK)))
            for layout, guidance in product(LAYOUTS, guidances):
                made = digest_of(guidance, known.model, known.sampling, style, layout)
                if self._form(entrant, _Digest(entrant, known.model, made), digest) is None:
                    continue
                policy = next(self._forms(entrant, replace(known, prompt=OperatorPrompt(entrant, guidance))))
                if layout == LAYOUT:
                    return Cast(policy)
                return Cast(policy, f"the prompts of {entrant} in {game} (layout {layout})", prompts=False)
            usable = usable or known
        if usable is not None:
            what = "is not that of the prompt, model, sampling and style that it was asked with"
            wrong = Finding(f"policies.{game}/{entrant}.digest", what, show(digest))
            return Cast(next(self._forms(entrant, usable)), prompts=False, wrong=wrong)
        # No call of it is kept: there is nothing to make a prompt from, and nothing to compare one with.
        unasked = PromptedPolicy(
            entrant, OperatorPrompt(entrant, ""), str(model), Sampling(), _styles(ordered, game)[0], rules, config
        )
        return Cast(next(self._forms(entrant, unasked)), prompts=False)


def _described(game: str, entrant: str, cast: Cast, said: Mapping[str, object]) -> Finding | None:
    """What the manifest says of a policy beside its digest and its model, if that is wrong."""
    altered = cast.policy
    due = {"alteration": altered.alteration, "of": altered.policy.digest} if isinstance(altered, Altered) else {}
    for key in sorted({*due, *said} - {"digest", "model"}):
        if said.get(key) != due.get(key) and (key != "of" or cast.prompts):
            what = "is not what is done to it"
            return Finding(f"policies.{game}/{entrant}.{key}", what, show(said.get(key)), show(due.get(key)))
    return None


@dataclass(frozen=True, slots=True)
class _Digest:
    """Stands for a policy where only its digest is looked at."""

    name: str
    model: str | None
    digest: str

    def sit(self, *_: object) -> Any:
        raise NotImplementedError(f"{self.name} is a digest alone")


def _guidances(system: str, wanted: str) -> Iterator[str]:
    """What of a system message can be the operator's guidance: by today's layout, as `wanted` has it around MARK, then
    its last lines, from anyone on, as a layout may have it whose texts are not known here."""
    before, _, after = wanted.partition(MARK)
    yield system.removeprefix(before).removesuffix(after)
    lines = system.split("\n")
    for start in range(len(lines)):
        yield "\n".join(lines[start:]).strip()


def _styles(ordered: Mapping[str, Any] | None, game: str) -> tuple[Style, ...]:
    """How an entrant is asked for answers, by its order; in any way where there is none."""
    if ordered is None:
        return STYLES
    return tuple(style for style in STYLES if style == _prompt(ordered, game)["style"])


def _prompt(ordered: Mapping[str, Any], game: str) -> Mapping[str, Any]:
    """What an order says of the prompt that plays a game. Raises LookupError."""
    prompts = ordered["prompts"]
    found: Mapping[str, Any] = prompts.get(game) or prompts["*"]
    return found


async def _nobody(*_: object) -> str:
    raise NotImplementedError("nobody plays in person here")
