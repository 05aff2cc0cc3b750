"""What would stop a run, looked for before it costs anything: `weigh doctor`.

Owns the checks of the machine, the installation, keys and prices, and a tiny question to each model in every way that
its entrants will ask it, schemas included, so that what a provider would refuse in a run, it refuses here. A check
never changes anything, and no key or header is ever shown.
"""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Literal, TypeAlias

from weigh.games.game import Json, Legal
from weigh.harness.config.config import LadderConfig
from weigh.harness.errors import LocalModelFailed
from weigh.harness.providers.endpoints.endpoints import Endpoint, proxy_for
from weigh.harness.providers.endpoints.prices import price_known
from weigh.harness.providers.errors.failures import CallFailed
from weigh.harness.providers.local.weights import missing
from weigh.harness.run.concurrency import shortage
from weigh.harness.run.folder import no_room
from weigh.harness.run.opening import calls_at_once, lacking, open_exchanges, schedule_of, versions
from weigh.harness.run.play.opening_lines import unsent
from weigh.harness.words import shown
from weigh.policies.contract import Completion, Message, ModelClient, Request, Sampling
from weigh.policies.layout import answer_schema
from weigh.policies.reply import read_reply

Level: TypeAlias = Literal["ok", "note", "fail"]
"""All is well; something to know; something that would stop a run."""

Note: TypeAlias = Callable[[str], None]

LITTLE_SPACE = 200 * 1024 * 1024
"""Bytes; a run of thousands of calls takes some tens of megabytes."""
BYTES_A_CALL = 2_000
"""On disk, prompt and reply whole: measured at 1,070 with short replies, for texts that repeat are kept once."""


FEW_TOKENS = 64
"""Enough for any answer to a probe; a model that reasons first may not get to it, which is no failure."""
TRIES = 3
"""Of a server that does not answer at all. One that says it is busy or loading is waited for."""
WAIT = 1.0
"""Seconds between tries, where the server asks for no wait of its own."""

ASK_PLAINLY = 'play it with style = "reason-then-json"'

UNCOUNTED = "no token counts"
"""What is said of an endpoint that reports no usage."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one check came to."""

    level: Level
    what: str
    found: str
    fix: str = ""
    """What to do, for a level that is not `ok`."""

    def told(self) -> str:
        """The finding and the advice as one line."""
        return shown(f"{self.found}: {self.fix}" if self.fix else self.found, limit=1_000)

    def to_json(self) -> dict[str, str]:
        return {"level": self.level, "check": self.what, "found": self.found, "fix": self.fix}


def examine(order: LadderConfig | None, *, ask: bool, within: float, note: Note) -> list[Found]:
    """Everything that was found; with `ask`, each model is asked too, `within` seconds for one question."""
    found = list(look_around(order))
    if order is not None:
        about, reachable = look_at_keys(order)
        found += about
        if ask:
            found += asyncio.run(ask_models(order, reachable, within, note))
    return found


def look_around(order: LadderConfig | None) -> Iterator[Found]:
    """The machine and the installation."""
    yield Found("ok", "python", f"{platform.python_version()} at {sys.prefix}")
    listed = versions()
    yield Found("ok", "packages", ", ".join(f"{name} {number}" for name, number in listed.items() if name != "python"))
    yield _embedded()
    yield _space(Path.cwd() if order is None else order.results)
    if order is not None:
        trouble = no_room(order.run_folder)
        if trouble is None:
            yield Found("ok", "results", f"this run will be kept in {order.run_folder}{_size(order)}")
        else:
            yield Found("fail", "results", trouble, "choose another folder with --results")
        short = shortage(order.endpoints, calls_at_once(order))
        if short is not None:
            yield Found("note", "open files", short)
        for warning in (*order.warnings, *unsent(order)):
            yield Found("note", "config", warning)


def _embedded() -> Found:
    trouble = missing()
    if trouble is not None:
        return Found("note", "embedded model", trouble, "run `weigh local setup` to play with it")
    return Found("ok", "embedded model", "local:smollm2 can be played with, without a key or a network")


def _size(order: LadderConfig) -> str:
    """How much the run's model calls will take on disk, where there are any: a bound from the games' longest play."""
    models = {spec.name for spec in order.entrants if spec.model is not None}
    steps = {entry.game.name: entry.game.longest(entry.config) for entry in order.games}
    decisions = sum(
        steps[episode.game] * sum(name in models for name in episode.entrants) for episode in schedule_of(order)
    )
    if not decisions:
        return ""
    return f": at most {decisions:,} decisions of models, and about {max(1, decisions * BYTES_A_CALL // 10**6):,} MB"


def _space(folder: Path) -> Found:
    there = next((place for place in (folder, *folder.absolute().parents) if place.is_dir()), Path("/"))
    free = shutil.disk_usage(there).free
    said = f"{free / 1e9:.1f} GB free at {there}"
    if free < LITTLE_SPACE:
        return Found("fail", "disk", said, "free some space, or choose another folder with --results")
    return Found("ok", "disk", said)


def look_at_keys(order: LadderConfig) -> tuple[list[Found], dict[str, Endpoint]]:
    """What can be said of each model without asking it, and the models that can be asked, by name."""
    found: list[Found] = []
    reachable: dict[str, Endpoint] = {}
    for model, endpoint in order.endpoints.items():
        line = lacking(endpoint)
        if line is not None:
            fix = "export it in the shell that runs weigh" if endpoint.api_key_env else ""
            found.append(Found("fail", model, line, fix))
            continue
        reachable[model] = endpoint
        if endpoint.api_key_env is not None:
            found.append(Found("ok", model, f"its key is set ({endpoint.api_key_env})"))
        proxy = proxy_for(endpoint, os.environ)
        if proxy is not None:
            found.append(Found("note", model, f"is asked through the proxy {proxy}", "NO_PROXY leaves hosts out of it"))
        found += _price(order, model, endpoint)
    return found, reachable


def _price(order: LadderConfig, model: str, endpoint: Endpoint) -> list[Found]:
    if price_known(endpoint):
        return []
    fix = f'give it one: [models."{model}"] price = {{ input = 1.0, output = 4.0 }} (US dollars per million tokens)'
    if order.limits.max_usd is not None:
        return [Found("fail", model, "its price is not known, so limits.max_usd cannot be kept", fix)]
    return [Found("note", model, "its price is not known, so its cost will be unknown", fix)]


@dataclass(frozen=True, slots=True)
class Probe:
    """One question to one model."""

    what: str
    request: Request
    legal: Legal | None = None
    """What the answer must be one of, where a schema is asked for."""


async def ask_models(order: LadderConfig, models: Mapping[str, Endpoint], within: float, note: Note) -> list[Found]:
    """What came of every probe, by model in the order of the config. `within` is in seconds, for one probe."""
    asked = [_ask_model(order, model, endpoint, within, note) for model, endpoint in models.items()]
    return [found for some in await asyncio.gather(*asked) for found in some]


async def _ask_model(order: LadderConfig, model: str, endpoint: Endpoint, within: float, note: Note) -> list[Found]:
    found: list[Found] = []
    try:
        async with open_exchanges({model: endpoint}, within) as exchanges:
            client = exchanges[model].client
            for probe in probes_of(order, model):
                found.append(await _ask(probe, client, within, note))
                if found[-1].level == "fail" and probe.legal is None:
                    break
            limits = order.limits
            if any(UNCOUNTED in one.found for one in found) and (limits.max_tokens or limits.max_usd):
                said = "it does not tell how many tokens it used, so limits count its calls from above"
                found.append(Found("note", model, said, "allow for that under [limits], or use max_calls"))
            found += [Found("note", model, line) for line in getattr(client, "adaptations", ())]
    except LocalModelFailed as failed:
        found.append(Found("fail", model, str(failed)))
    return found


def probes_of(order: LadderConfig, model: str) -> Iterator[Probe]:
    """A plain question for each sampling that entrants of the model use, then one for each schema."""
    schemas: list[Probe] = []
    seen: list[Sampling] = []
    for spec in order.entrants:
        if spec.model != model:
            continue
        sampling = _short(spec.sampling)
        if sampling not in seen:
            seen.append(sampling)
            who = "" if len(seen) == 1 else f" as {spec.name} asks"
            yield Probe(f"{model}{who}", _request(model, '{"bid": 1}', sampling))
        for entry in order.games:
            file = spec.prompt_for(entry.game.name)
            if file is None or spec.style_with(file) != "schema":
                continue
            state = entry.game.start(entry.config, entry.game.deal(entry.config, Random(0)))  # noqa: S311 - any deal will do
            legal = state.legal(min(state.to_act))
            request = _request(model, legal.answer.example, sampling, answer_schema(legal))
            if all(request != other.request for other in schemas):
                schemas.append(Probe(f"{model}, schema of {entry.game.name}", request, legal))
    yield from schemas


def _short(sampling: Sampling) -> Sampling:
    """The entrant's own way of sampling with a small cap; further fields may need the cap as it is."""
    return sampling if sampling.extra else replace(sampling, max_tokens=min(sampling.max_tokens, FEW_TOKENS))


def _request(model: str, answer: str, sampling: Sampling, schema: Mapping[str, Json] | None = None) -> Request:
    said = Message("user", f"Answer with the JSON object {answer} and nothing else.")
    return Request(model, (said,), sampling, schema)


async def _ask(probe: Probe, client: ModelClient, within: float, note: Note) -> Found:
    """One request, again after passing failures."""
    began = time.monotonic()
    silent = 0
    while True:
        left = within - (time.monotonic() - began)
        try:
            async with asyncio.timeout(left):
                answer = await client.complete(probe.request)
        except TimeoutError:
            late = f"no answer within {within:g} s"
            return Found("fail", probe.what, late, "is the model loaded, is the address right?")
        except CallFailed as failed:
            silent += failed.status is None
            wait = failed.wait if failed.wait is not None else WAIT
            waited = time.monotonic() - began
            if failed.decision != "wait" or silent >= TRIES or waited + wait >= within:
                fix = "without an answer no episode can be played" if probe.legal is None else ASK_PLAINLY
                return Found("fail", probe.what, failed.cause, fix)
            note(f"weigh: {probe.what}: {failed.cause}; asking again in {wait:g} s")
            await asyncio.sleep(wait)
            continue
        return _judged(probe, answer, time.monotonic() - began)


def _judged(probe: Probe, answer: Completion, seconds: float) -> Found:
    usage = answer.usage
    tokens = UNCOUNTED if usage.output is None else f"{usage.input} tokens in, {usage.output} out"
    served = f", served by {answer.served_by}" if answer.served_by else ""
    said = f"answered in {seconds:.2f} s ({answer.stop}), {tokens}{served}"
    if answer.stop == "length" or not answer.text.strip():
        cut = "the few tokens of this check were used up" if answer.stop == "length" else "the answer was empty"
        fix = "a model that reasons first needs room for it: see max_tokens of its entrants"
        return Found("note", probe.what, f"reachable, {said}, but {cut}", fix)
    if probe.legal is not None:
        reading = read_reply(answer.text, answer.stop, probe.legal)
        if reading.fault is not None:
            broken = f"took the schema and did not keep to it ({reading.detail}), {said}"
            return Found("note", probe.what, broken, ASK_PLAINLY)
        said = f"kept to the schema, {said}"
    return Found("ok", probe.what, said)
