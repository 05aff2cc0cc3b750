"""One episode without a ladder: read into a table of seats, opened, played, kept where a folder is given.

Owns the reading of what is asked for, and the sitting. Shows nothing: whoever follows it is handed in.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel

from weigh.games.game import AnyGame, Deal, Seat, State
from weigh.games.registry import game_named, read_config
from weigh.harness.config.config import bearing, load_config
from weigh.harness.config.entrants import EntrantSpec, parse_entrants, policies_for
from weigh.harness.config.schedule import Episode
from weigh.harness.errors import INTERRUPTED, INVALID, EndpointInvalid, Refused
from weigh.harness.providers.endpoints.endpoints import Endpoint, EndpointSettings, endpoint_for
from weigh.harness.run.folder import holds_run, opened, run_in
from weigh.harness.run.limits import Brake, Ceilings
from weigh.harness.run.opening import Unkept, brake_over, closing_notes, open_exchanges, ordered, require_ready
from weigh.harness.run.play.followers import Onlookers, Watching
from weigh.harness.run.play.opening_lines import require_known_prices
from weigh.harness.run.runner import Division, Onlooker, Pace, Run
from weigh.harness.run.signals import stopping_on_signals
from weigh.harness.seeds import deal_aliases, stream
from weigh.harness.store.calls import Call, CallKey, Void
from weigh.harness.store.manifest import Manifest
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.harness.store.usage import Usage
from weigh.harness.words import shown
from weigh.policies.contract import STYLES, Policy
from weigh.policies.human import NAME as HUMAN
from weigh.policies.scripted.registry import fallback_of


class People(Protocol):
    """Everybody who plays in person, and where they are asked."""

    seats: tuple[Seat, ...]
    brake: Brake | None
    """Set before they are asked: who stops playing stops the run."""

    def policy(self, game: str) -> Policy: ...

    def keep_in(self, folder: Path) -> None:
        """Keep every move in a run's folder, and play again the moves that are kept there."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the options of `weigh play` ask for; None leaves a thing to its default."""

    seed: int = 0
    timeout: float = 60.0
    config: Path | None = None
    style: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    base_url: str | None = None
    max_usd: float | None = None

    def for_prompts(self) -> list[str]:
        """The options given that only an entrant PROMPT.md@provider:model can follow."""
        given = {
            "--style": self.style,
            "--max-tokens": self.max_tokens,
            "--temperature": self.temperature,
            "--base-url": self.base_url,
        }
        return [name for name, value in given.items() if value is not None]


@dataclass(frozen=True, slots=True)
class Played:
    """How an episode ended, and what each seat's model calls took, those of earlier sittings included."""

    record: Record
    usage: Mapping[int, Usage]
    """By seat, of the seats that are models'."""


@dataclass(frozen=True, slots=True)
class Single:
    """One episode, ready to be played."""

    episode: Episode
    division: Division
    seed: int
    timeout: float
    endpoints: Mapping[str, Endpoint]
    people: People | None = None
    """Who plays in person; None where nobody does."""
    max_usd: float | None = None
    """The most that it may cost, over all sittings."""

    @property
    def names(self) -> tuple[str, ...]:
        """Who sits where, in seat order."""
        return self.episode.entrants

    @property
    def aliases(self) -> tuple[str, ...]:
        """What the seats are called."""
        return deal_aliases(len(self.names), stream(self.seed, "aliases", self.episode.key))

    def start(self) -> State:
        """The first position."""
        game, config = self.division.game, self.division.config
        return game.start(config, deal_of(game, config, self.seed))

    async def play(
        self, watch: Watching, store: Store | None, note: Callable[[str], None], onlookers: Sequence[Onlooker] = ()
    ) -> tuple[Record | Void, Mapping[int, Usage]]:
        """Play it, keeping it and its model calls in `store` if there is one; calls kept there are not made again.

        `onlookers` are told of it besides. Raises Refused when it comes to no end: no call can succeed, or a person
        stopped it.
        """
        brake = brake_over(Ceilings(usd=self.max_usd), [] if store is None else [store], self.endpoints)
        onlooker, unkept = _Onlooker(note, self.people is not None), Unkept()
        if self.people is not None:
            self.people.brake = brake
        async with AsyncExitStack() as stack:
            stack.enter_context(stopping_on_signals(brake, note))
            opening = open_exchanges(self.endpoints, self.timeout, note=onlooker.note)
            exchanges = await stack.enter_async_context(opening)
            run = Run(
                self.seed,
                {self.episode.game: self.division},
                unkept if store is None else store,
                exchanges,
                brake,
                Onlookers((onlooker, *onlookers)),
                Pace(decision_timeout=self.timeout, replays=0),
                watch=watch,
            )
            try:
                await run.play((self.episode,), frozenset())
            finally:
                if self.people is None or onlooker.result is not None:  # these lines name the models
                    for line in closing_notes(exchanges):
                        note(line)
        if onlooker.result is None:
            interrupted = brake.pulled == "interrupted"
            raise Refused(
                brake.reason or "the episode came to no end",
                kind="interrupted" if interrupted else "no-end",
                code=INTERRUPTED if interrupted else INVALID,
            )
        usage = _summed(unkept.calls) if store is None else store.usage(self.episode.key)
        return onlooker.result, usage

    def manifest(self) -> Manifest:
        """What the episode is ordered with, for a folder to keep it in."""
        config = {
            "games": {self.episode.game: {"blocks": 1, "config": self.division.config.model_dump(mode="json")}},
            "models": {model: bearing(endpoint) for model, endpoint in self.endpoints.items()},
            "limits": {"decision_timeout": self.timeout, "episode_deadline": None},
        }
        return ordered(self.seed, config, {self.episode.game: self.division}, (self.episode,))


@dataclass(frozen=True, slots=True)
class Following:
    """How an episode is followed while it is played, and who is told of its end."""

    started: Callable[[], None] = lambda: None
    """Called once all is open and nothing is asked yet."""
    watch: Watching = lambda table: None
    onlookers: tuple[Onlooker, ...] = ()
    ended: Callable[[Record | Void | str], None] = lambda result: None
    """Called once: with the record, with the void, or with why there is neither."""


def play_single(
    single: Single, save: Path | None, following: Following, note: Callable[[str], None], again: str
) -> Played:
    """Play an episode to its record, kept in the run folder `save` if one is given, or go on with it there.

    Raises Refused when it is void or comes to no end; `again` is the command that then goes on with what is kept.
    """
    with ExitStack() as stack:
        store = None
        if save is not None:
            place = "a folder of its own (--save)"
            store = stack.enter_context(run_in(save, single.manifest(), (single.episode,), place, note=note))
            if single.people is not None:
                single.people.keep_in(save)
            store.set_status("running")
        following.started()
        try:
            result, spending = asyncio.run(single.play(following.watch, store, note, following.onlookers))
        except (KeyboardInterrupt, asyncio.CancelledError, Refused) as error:
            stopped = (
                error if isinstance(error, Refused) else Refused("interrupted", kind="interrupted", code=INTERRUPTED)
            )
            following.ended(str(stopped))
            if store is None:
                raise stopped from None
            store.set_status("interrupted" if stopped.code == INTERRUPTED else f"stopped: {stopped}")
            raise Refused(*stopped.lines, f"go on with: {again}", kind=stopped.kind, code=stopped.code) from None
        following.ended(result)
        if store is not None:
            store.set_status("finished" if isinstance(result, Record) else "stopped: the episode is void")
    if not isinstance(result, Record):
        raise Refused(f"the episode is void: {result.cause}", kind="void", code=INVALID)
    return Played(result, spending)


def unknown_seed(save: Path | None) -> int:
    """A seed that nobody knows before the end: the one of the run that is gone on with, or else a fresh one."""
    if save is not None and holds_run(save):
        with opened(lambda: Store.open(save, readonly=True)) as store:
            return store.manifest.seed
    return secrets.randbelow(2**31)


class _Onlooker:
    """Remembers how the episode ended, and tells of calls that are made again and of pauses, so that a silence is
    explained.

    With `people` in the game, before its end it says of them only that there are some: who is asked, where and by what
    name belongs to what people may not know.
    """

    def __init__(self, note: Callable[[str], None], people: bool) -> None:
        self._note = note
        self.people = people
        self.result: Record | Void | None = None
        self._held: list[str] = []
        self._waiting: set[CallKey] = set()

    def episode_started(self, key: str, entrants: Sequence[str]) -> None:
        return

    def episode_finished(self, record: Record) -> None:
        self.result = record
        self._tell()

    def episode_void(self, void: Void) -> None:
        self.result = void
        self._tell()

    def call_finished(self, call: Call) -> None:
        if call.fate != "wait":
            self._waiting.discard(call.key)
            return
        line = shown(f"seat {call.key.seat}: a passing failure: {call.error}", limit=500)
        if not self.people:
            self._note(line)
            return
        self._held.append(line)
        if not self._waiting:
            self._note("waiting for a provider")
        self._waiting.add(call.key)

    def note(self, line: str) -> None:
        if self.people and self.result is None:
            self._held.append(line)
        else:
            self._note(line)

    def _tell(self) -> None:
        for line in self._held:
            self._note(line)


def _summed(calls: Iterable[Call]) -> dict[int, Usage]:
    """What calls took, by seat."""
    sums: dict[int, Usage] = {}
    for call in calls:
        sums[call.key.seat] = sums.get(call.key.seat, Usage()) + Usage.of(call)
    return sums


def deal_of(game: AnyGame, config: BaseModel, seed: int) -> Deal:
    """The deal of the one episode played with a seed."""
    return dict(game.deal(config, stream(seed, "deal", _key(game.name))))


def _key(game: str) -> str:
    return f"{game}/play"


def prepare(
    game: str,
    words: Sequence[str],
    settings: Mapping[str, Any],
    asked: Asked,
    people: People | None = None,
) -> Single:
    """An episode of `game`, one word a seat. Raises what is one line for a person: nothing is started yet.

    `people` are those who play in person, at every seat whose word is `human`; without them nobody can.
    """
    rules = game_named(game)
    specs, given = entrants_of([word for word in words if word != HUMAN], asked)
    game_config = _config(rules, words, settings)
    for spec in specs:
        if not spec.plays(game):
            raise Refused(f"{spec.name} does not play {game}; `weigh policies` lists what does", kind="wrong-game")
    endpoints = _endpoints(specs, given)
    require_ready(endpoints, specs)
    if asked.max_usd is not None:
        require_known_prices(endpoints, "--max-usd")
    policies: dict[str, Policy] = {policy.name: policy for policy in policies_for(specs, rules, game_config)}
    if HUMAN in words:
        policies[HUMAN] = _in_person(game, policies, people)
    others = iter(specs)
    names = tuple(HUMAN if word == HUMAN else next(others).name for word in words)
    key = _key(game)
    return Single(
        episode=Episode(key=key, game=game, block=key, entrants=names, deal_key=key),
        division=Division(rules, game_config, policies, fallback_of(game)),
        seed=asked.seed,
        timeout=asked.timeout,
        endpoints=endpoints,
        people=people,
        max_usd=asked.max_usd,
    )


def _in_person(game: str, others: Iterable[str], people: People | None) -> Policy:
    """How those play who play in person. `others` are the names of everybody else."""
    if HUMAN in others:
        raise Refused(
            f"{HUMAN} is a person here, and the name of an entrant of the config as well; rename that one",
            kind="human-is-an-entrant",
        )
    if people is None:
        raise Refused(f"{HUMAN}: nobody can be asked here; `weigh play` in a terminal asks people", kind="no-people")
    return people.policy(game)


def _config(rules: AnyGame, words: Sequence[str], settings: Mapping[str, Any]) -> BaseModel:
    """The game's config, for as many seats as there are entrants unless it says otherwise."""
    low, high = rules.seats.start, rules.seats.stop - 1
    wanted = dict(settings)
    if "seats" not in wanted and len(words) not in rules.seats:
        span = str(low) if low == high else f"{low} to {high}"
        raise Refused(
            f"{rules.name} is for {span} seats, and {_named(words)}; give one entrant for each seat", kind="wrong-seats"
        )
    if "seats" in rules.config_type.model_fields:
        wanted.setdefault("seats", len(words))
    config = read_config(rules, wanted)
    seats = rules.seat_count(config)
    if len(words) != seats:
        raise Refused(f"{rules.name} has {seats} seats under this config, and {_named(words)}", kind="wrong-seats")
    return config


def _named(words: Sequence[str]) -> str:
    return "1 entrant is named" if len(words) == 1 else f"{len(words)} entrants are named"


def entrants_of(words: Sequence[str], asked: Asked) -> tuple[tuple[EntrantSpec, ...], Mapping[str, EndpointSettings]]:
    """The entrants named, and the endpoint settings that a config gives."""
    style = next((style for style in STYLES if style == asked.style), None)
    options: dict[str, Any] = {"max_tokens": asked.max_tokens, "temperature": asked.temperature, "style": style}
    given: dict[str, EndpointSettings] = {}
    if asked.config is not None:
        order = load_config(asked.config)
        options["known"] = {spec.name: spec for spec in order.entrants}
        given.update(order.model_settings)
    specs = parse_entrants(words, Path.cwd(), **options)
    prompted = [spec for word, spec in zip(words, specs, strict=True) if not word.startswith("@") and spec.model]
    if not prompted and (idle := asked.for_prompts()):
        raise Refused(
            f"{', '.join(idle)}: only an entrant PROMPT.md@provider:model can follow it, and none is named "
            "(@names play as their config says)",
            kind="option-without",
        )
    if asked.base_url is not None:
        for model in (spec.model for spec in prompted):
            if model is not None:
                before = given.get(model, EndpointSettings())
                given[model] = before.model_copy(update={"base_url": asked.base_url}, deep=True)
    return specs, given


def _endpoints(specs: Iterable[EntrantSpec], given: Mapping[str, EndpointSettings]) -> dict[str, Endpoint]:
    try:
        return {spec.model: endpoint_for(spec.model, given) for spec in specs if spec.model is not None}
    except EndpointInvalid as error:
        hint = "" if "base_url" not in str(error) else "; --base-url gives it, or [models] of a config (--config)"
        raise Refused(f"{error}{hint}", kind=error.kind) from error
