"""Puts a run together from its config: divisions, schedule, manifest, and the open exchanges with models.

The one place where configs, games, policies, providers and stores meet. Owns too when what a run's clients learn of
their models is written down: after the call that taught it, so that no killed process takes it along. The calls of an
episode that is not kept last as long as the process.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import platform
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from weigh.harness.config.balance import describe
from weigh.harness.config.config import LadderConfig, LadderGame
from weigh.harness.config.extension import take_turns
from weigh.harness.config.schedule import Episode, schedule
from weigh.harness.errors import Refused
from weigh.harness.providers.endpoints.endpoints import Endpoint
from weigh.harness.providers.endpoints.prices import cost_of
from weigh.harness.providers.errors.failures import CallFailed
from weigh.harness.run.concurrency import Pause, Slots, fitted
from weigh.harness.run.lag import Lag
from weigh.harness.run.limits import Brake, Ceilings, Price, spent_before
from weigh.harness.run.model_calls import Exchange, MemoryLedger
from weigh.harness.run.runner import Division, Keeper, Pace
from weigh.harness.store.calls import Call, CallKey, Void
from weigh.harness.store.manifest import Manifest, new_run_id, schedule_digest
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.policies.contract import Message, ModelClient, Request, Sampling
from weigh.policies.prompted import PromptedPolicy
from weigh.policies.scripted.registry import fallback_of

if TYPE_CHECKING:
    from weigh.harness.config.entrants import EntrantSpec
    from weigh.harness.config.sections import Limits


class Learning:
    """A keeper that also keeps what was learned. Implements `harness.run.runner.Keeper`."""

    def __init__(self, keeper: Keeper, store: Store, exchanges: Mapping[str, Exchange]) -> None:
        """`keeper` keeps the run in `store`, perhaps with answers of an earlier run."""
        self._keeper = keeper
        self._store = store
        self._exchanges = exchanges
        self._known: dict[str, tuple[str, ...]] = {}

    def keep_learned(self) -> None:
        """Write down what is known of the models by now, if that is more than before."""
        now = learned(self._exchanges)
        if now != self._known:
            self._store.add_adaptations(now)
            self._known = now

    def paid(self, key: CallKey, request: Request) -> Call | None:
        return self._keeper.paid(key, request)

    def begin_call(self, key: CallKey, request: Request, started: str, cost: float | None) -> int:
        return self._keeper.begin_call(key, request, started, cost)

    def end_call(self, call: Call) -> None:
        self._keeper.end_call(call)
        self.keep_learned()

    def add_record(self, record: Record) -> None:
        self._keeper.add_record(record)

    def add_void(self, void: Void) -> None:
        self._keeper.add_void(void)


class Unkept(MemoryLedger):
    """A `harness.run.runner.Keeper` without a folder. Who wants the record is told of it as an onlooker."""

    def add_record(self, record: Record) -> None:
        return

    def add_void(self, void: Void) -> None:
        return


PACKAGES = ("weigh", "anthropic", "openai", "pydantic", "aiohttp", "tenacity", "xllamacpp")
"""Those whose versions a manifest holds."""


def divisions_of(config: LadderConfig) -> dict[str, Division]:
    """Every game of a ladder with the policies that play it, by game name."""
    return {
        entry.game.name: Division(
            game=entry.game,
            config=entry.config,
            policies={policy.name: policy for policy in config.policies(entry)},
            fallback=fallback_of(entry.game.name),
        )
        for entry in config.games
    }


def schedule_of(config: LadderConfig) -> tuple[Episode, ...]:
    """Every episode of a ladder; the blocks of several games take turns, so that a partial run has some of each."""
    return take_turns([_planned(config, entry) for entry in config.games])


def _planned(config: LadderConfig, entry: LadderGame) -> tuple[Episode, ...]:
    names = [spec.name for spec in config.playing(entry.game.name)]
    return schedule(entry.game.name, names, entry.seats, entry.blocks, config.seed, entry.rows)


def manifest_of(config: LadderConfig, episodes: Sequence[Episode]) -> Manifest:
    """What a run made now under `config` is ordered with; `episodes` are its schedule."""
    games = [entry.game.name for entry in config.games]
    reports = {
        game: describe(
            [episode for episode in episodes if episode.game == game], [spec.name for spec in config.playing(game)]
        )
        for game in games
    }
    schedules = {game: report.to_json() for game, report in reports.items()}
    return ordered(config.seed, config.to_json(), divisions_of(config), episodes, schedules)


def ordered(
    seed: int,
    config: dict[str, Any],
    divisions: Mapping[str, Division],
    episodes: Sequence[Episode],
    schedules: Mapping[str, dict[str, Any]] | None = None,
) -> Manifest:
    """The manifest of a run made now. `config` holds all that must be equal for the run to be gone on with; `schedules`
    says by game how balanced `episodes` are."""
    return Manifest(
        run_id=new_run_id(seed),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        seed=seed,
        config=config,
        policies={
            f"{game}/{entrant}": {"digest": policy.digest, "model": policy.model}
            for game, division in divisions.items()
            for entrant, policy in division.policies.items()
        },
        schedule=schedule_digest(episodes),
        schedules=dict(schedules or {}),
        episodes=len(episodes),
        versions=versions(),
        prompts=_prompts(policy for division in divisions.values() for policy in division.policies.values()),
        chained=True,
    )


def _prompts(policies: Iterable[object]) -> dict[str, str]:
    """The prompt files that policies play by, whatever was put around a policy, by their SHA-256."""
    found: dict[str, str] = {}
    for each in policies:
        policy: object | None = each
        while (within := getattr(policy, "policy", None)) is not None:
            policy = within
        if isinstance(policy, PromptedPolicy) and policy.prompt.whole:
            found[hashlib.sha256(policy.prompt.whole.encode()).hexdigest()] = policy.prompt.whole
    return found


def versions() -> dict[str, str]:
    """Of Python and the packages that matter; a package that is not installed is left out."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def pace_of(limits: Limits) -> Pace:
    """How fast a ladder is played, by [limits] of its config."""
    return Pace(
        episodes_in_flight=limits.episodes_in_flight,
        decision_timeout=limits.decision_timeout,
        episode_deadline=limits.episode_deadline,
        replays=limits.replays,
        outages_in_a_row=limits.outages_in_a_row,
    )


def calls_at_once(config: LadderConfig) -> int:
    """The most calls that a ladder has in flight: every seat of every episode in flight."""
    return config.limits.episodes_in_flight * max(entry.seats for entry in config.games)


def ceilings_of(limits: Limits) -> Ceilings:
    """What a ladder may spend, by [limits] of its config."""
    return Ceilings(calls=limits.max_calls, tokens=limits.max_tokens, usd=limits.max_usd, seconds=limits.max_seconds)


def brake_over(ceilings: Ceilings, stores: Iterable[Store], endpoints: Mapping[str, Endpoint]) -> Brake:
    """The brake of a run, or of several under the same ceilings. What earlier sittings of them took counts."""

    def price_of(model: str) -> Price:
        endpoint = endpoints.get(model)  # None for a model whose entrants were withdrawn
        return (lambda usage, served_by: None) if endpoint is None else partial(cost_of, endpoint)

    return Brake(ceilings, spent_before(stores, ceilings, price_of))


def require_ready(endpoints: Mapping[str, Endpoint], specs: Iterable[EntrantSpec]) -> None:
    """Refuse, before anything is made or paid for, models that lack a key or their weights, each with its entrants."""
    users: dict[str, list[str]] = {}
    for spec in specs:
        if spec.model is not None:
            users.setdefault(spec.model, []).append(spec.name)
    lacks = {model: lacking(endpoint) for model, endpoint in endpoints.items()}
    lines = [f"{', '.join(dict.fromkeys(users[model]))}: {line}" for model, line in lacks.items() if line is not None]
    if lines:
        raise Refused(*lines, kind="not-ready")


def lacking(endpoint: Endpoint) -> str | None:
    """What a model still needs on this machine, in one line with what to do; None when it can be asked."""
    if endpoint.wire != "local":
        from weigh.harness.providers import client  # its transports take a quarter of a second

        return client.lacking(endpoint, os.environ)
    from weigh.harness.errors import LocalModelFailed
    from weigh.harness.providers.local.weights import require_server, weights_of

    try:
        weights_of(endpoint.model)
        require_server()
    except LocalModelFailed as failed:
        return f"{endpoint.name}: {failed}"
    return None


@asynccontextmanager
async def open_exchanges(
    endpoints: Mapping[str, Endpoint],
    decision_timeout: float,
    calls: int | None = None,
    note: Callable[[str], None] = lambda line: None,
) -> AsyncIterator[dict[str, Exchange]]:
    """A client, slots and a price for every model; local models are started, and everything is closed at the end.

    `calls` is the most that is asked at once, where it is known. `note` is told when a model is paused, and goes on.
    """
    async with AsyncExitStack() as stack:
        exchanges: dict[str, Exchange] = {}
        lag = Lag()
        stack.callback(lag.stop)
        if endpoints:  # loads the transports, which no scripted run needs
            from weigh.harness.providers.client import client_for
        for model, given in fitted(endpoints, calls).items():
            # A prompt cache forgets what was not read for five minutes, and keeps it for an hour at a higher price.
            endpoint = replace(given, cache_ttl=given.cache_ttl or ("1h" if decision_timeout > 300 else "5m"))
            if endpoint.wire == "local":
                from weigh.harness.providers.local.server import LocalServer

                endpoint = await stack.enter_async_context(LocalServer(endpoint))
            client = client_for(endpoint, os.environ)
            stack.push_async_callback(client.aclose)
            slots = Slots.for_endpoint(endpoint)
            slots.pauses.follow(partial(_tell_of_pause, note, model))
            exchanges[model] = Exchange(client, slots, partial(cost_of, endpoint), decision_timeout, lag=lag)
        await asyncio.gather(*(_warm_up(model, exchange.client, note) for model, exchange in exchanges.items()))
        if exchanges:
            lag.start()
        yield exchanges


LOADING = ("ollama", "lmstudio", "vllm", "llamacpp")
"""Providers that may load a model when it is first asked."""
LOADED_WITHIN = 300.0
"""Seconds; what takes longer is asked all the same, and its time is then the decision's."""


async def _warm_up(model: str, client: ModelClient, note: Callable[[str], None]) -> None:
    """Ask a server of one's own for one token, which costs nothing and is kept nowhere, so that no decision waits until
    its model is loaded. What fails here is told by the first decision."""
    if model.partition(":")[0] not in LOADING:
        return
    note(f"{model} is asked for one token first, so that it is loaded")
    asked = Request(model, (Message("user", "Say OK."),), Sampling(max_tokens=1))
    try:
        async with asyncio.timeout(LOADED_WITHIN):
            await client.complete(asked)
    except (CallFailed, TimeoutError) as failed:
        note(f"{model}: its first call, which is no decision's, failed: {str(failed) or 'no answer'}")


def _tell_of_pause(note: Callable[[str], None], model: str, pause: Pause | None) -> None:
    note(f"{model} goes on after its pause" if pause is None else f"{model} is {pause}")


def learned(exchanges: Mapping[str, Exchange]) -> dict[str, tuple[str, ...]]:
    """What was learned of each model and is done otherwise than ordered, by model; none without anything."""
    found = {model: tuple(getattr(exchange.client, "adaptations", ())) for model, exchange in exchanges.items()}
    return {model: lines for model, lines in found.items() if lines}


def closing_notes(exchanges: Mapping[str, Exchange]) -> list[str]:
    """What is told of the models at the end, a line each: what was learned of them, and when they were paused; and of
    this process, where it could not keep up."""
    found = [f"{model}: {line}" for model, lines in learned(exchanges).items() for line in lines]
    pauses = {model: str(exchange.slots.pauses) for model, exchange in exchanges.items()}
    lags = dict.fromkeys(str(exchange.lag) for exchange in exchanges.values())
    return [*found, *(f"{model}: {line}" for model, line in pauses.items() if line), *filter(None, lags)]
