"""Asking the models of a config a tiny question each, in every way that its entrants will ask them.

Owns the questions, the patience with a server that is still loading, and what each answer means. A probe has the
sampling and the schemas of the entrants, so that what a provider would refuse in a run, it refuses here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

from weigh.games.game import Json, Legal
from weigh.harness.cli.preflight import Found
from weigh.harness.errors import LocalModelFailed
from weigh.harness.providers.endpoints.endpoints import Endpoint
from weigh.harness.providers.errors.failures import CallFailed
from weigh.harness.run.opening import open_exchanges
from weigh.policies.contract import Completion, Message, ModelClient, Request, Sampling
from weigh.policies.layout import answer_schema
from weigh.policies.reply import read_reply

if TYPE_CHECKING:
    from weigh.harness.config.config import LadderConfig

FEW_TOKENS = 64
"""Enough for any answer to a probe; a model that reasons first may not get to it, which is no failure."""
TRIES = 3
"""Of a server that does not answer at all. One that says it is busy or loading is waited for."""
WAIT = 1.0
"""Seconds between tries, where the server asks for no wait of its own."""

ASK_PLAINLY = 'play it with style = "reason-then-json"'

Note = Callable[[str], None]


UNCOUNTED = "no token counts"
"""What is said of an endpoint that reports no usage."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One question to one model."""

    what: str
    request: Request
    legal: Legal | None = None
    """What the answer must be one of, where a schema is asked for."""


async def ask_models(order: LadderConfig, models: Mapping[str, Endpoint], patience: float, note: Note) -> list[Found]:
    """What came of every probe, by model in the order of the config. `patience` is in seconds, for one probe."""
    asked = [_ask_model(order, model, endpoint, patience, note) for model, endpoint in models.items()]
    return [found for some in await asyncio.gather(*asked) for found in some]


async def _ask_model(order: LadderConfig, model: str, endpoint: Endpoint, patience: float, note: Note) -> list[Found]:
    found: list[Found] = []
    try:
        async with open_exchanges({model: endpoint}, patience) as exchanges:
            client = exchanges[model].client
            for probe in probes_of(order, model):
                found.append(await _ask(probe, client, patience, note))
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


async def _ask(probe: Probe, client: ModelClient, patience: float, note: Note) -> Found:
    """One request, again after passing failures."""
    began = time.monotonic()
    silent = 0
    while True:
        left = patience - (time.monotonic() - began)
        try:
            async with asyncio.timeout(left):
                answer = await client.complete(probe.request)
        except TimeoutError:
            late = f"no answer within {patience:g} s"
            return Found("fail", probe.what, late, "is the model loaded, is the address right?")
        except CallFailed as failed:
            silent += failed.status is None
            wait = failed.wait if failed.wait is not None else WAIT
            waited = time.monotonic() - began
            if failed.decision != "wait" or silent >= TRIES or waited + wait >= patience:
                mend = "without an answer no episode can be played" if probe.legal is None else ASK_PLAINLY
                return Found("fail", probe.what, failed.cause, mend)
            note(f"weigh: {probe.what}: {failed.cause}; asking again in {wait:g} s")
            await asyncio.sleep(wait)
            continue
        return _judged(probe, answer, time.monotonic() - began)


def _judged(probe: Probe, answer: Completion, seconds: float) -> Found:
    usage = answer.usage
    told = usage.input is not None and usage.output is not None
    tokens = f"{usage.input} tokens in, {usage.output} out" if told else UNCOUNTED
    served = f", served by {answer.served_by}" if answer.served_by else ""
    said = f"answered in {seconds:.2f} s ({answer.stop}), {tokens}{served}"
    if answer.stop == "length" or not answer.text.strip():
        cut = "the few tokens of this check were used up" if answer.stop == "length" else "the answer was empty"
        mend = "a model that reasons first needs room for it: see max_tokens of its entrants"
        return Found("note", probe.what, f"reachable, {said}, but {cut}", mend)
    if probe.legal is not None:
        reading = read_reply(answer.text, answer.stop, probe.legal)
        if reading.fault is not None:
            broken = f"took the schema and did not keep to it ({reading.detail}), {said}"
            return Found("note", probe.what, broken, ASK_PLAINLY)
        said = f"kept to the schema, {said}"
    return Found("ok", probe.what, said)
