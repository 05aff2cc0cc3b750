"""Answers of an earlier run, used again where a run asks the very same question. Off unless a person asks for it.

Owns which earlier answer may stand in for a call, and how that is written down. Knows no provider and no prompt.

The rule
1. A question is the same when the request (model, messages, sampling, schema), the model's address, its endpoint as far
   as it bears on answers, the episode's key, the seat, the step and the attempt are the same.
2. Answers are used again, whatever they are worth: also those cut at the token cap or without a move, which are data.
   Failures, timeouts, lost calls and refusals are not, nor answers that an earlier version took for whole although the
   provider's word for why it stopped means something else: such a question is asked anew.
3. What is used again is kept in the run like any answer, so that the run can be checked by itself, with the fate
   `reused` and the name of the run it came from. It is no call: it costs nothing and counts under no ceiling.

Why the episode must be the same. Two episodes that ask the same question draw two answers, and their scores are taken
for two experiments. One answer in both would be one experiment counted twice, and every interval too narrow. An answer
that goes back to its own episode is used once in the new run, as it was in the earlier one, whatever the order in which
calls happen to be made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from weigh.harness.errors import StoreRefused
from weigh.harness.providers.wire.finish_reasons import meaning_of
from weigh.harness.store.calls import BROUGHT, Call, CallKey, Void
from weigh.harness.store.manifest import Manifest
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.policies.contract import Request


class Earlier:
    """The answers of one earlier run."""

    def __init__(self, store: Store, manifest: Manifest, addresses: Mapping[str, str]) -> None:
        """`store` is open for reading; `manifest` is that of the run that wants its answers, `addresses` where it asks
        its models."""
        self._store = store
        before, now, asked = _models(store.manifest), _models(manifest), store.addresses()
        self._models = frozenset(
            model
            for model in now
            if before.get(model) == now[model]
            and (asked.get(model) == (addresses.get(model),) if model in asked else _says_where(now[model]))
        )
        self.otherwise = tuple(model for model in now if model in before and model not in self._models)
        """Models that both runs ask, at other addresses or at endpoints that differ in what bears on answers: theirs
        are not used again. Of a run that does not know where it asked, none is."""

    def answer(self, key: CallKey, request: Request) -> Call | None:
        """The call whose answer may stand in for this one."""
        if request.model not in self._models:
            return None
        found = self._store.paid(key, request)
        if found is None or found.fate not in BROUGHT or found.completion is None:
            return None
        stop, word = found.completion.stop, found.completion.stop_detail
        broken_off = stop == "end" and word is not None and meaning_of(word) != "end"
        return None if stop == "refusal" or broken_off else found

    def origin(self, call: Call) -> str:
        """Where its answer comes from first of all: `RUN_ID EPISODE`."""
        return call.reused_from or f"{self._store.manifest.run_id} {call.key.episode}"


@contextmanager
def earlier_run(folder: Path, manifest: Manifest, into: Path, addresses: Mapping[str, str]) -> Iterator[Earlier]:
    """The answers of the run in `folder`, for the run ordered by `manifest` and kept in `into`, which need not exist,
    that asks its models at `addresses`.

    Raises StoreRefused when there is no run in `folder`, when it is that of `into`, and when it asked no such model.
    """
    if into.exists() and folder.exists() and folder.samefile(into):
        raise StoreRefused(
            f"{folder} is this run itself, which goes on without being told to; drop --reuse", kind="reuses-itself"
        )
    with Store.open(folder, readonly=True) as store:
        if not _models(store.manifest).keys() & _models(manifest).keys():
            raise StoreRefused(
                f"{folder} asked none of this run's models, so there is nothing to use again", kind="nothing-to-reuse"
            )
        yield Earlier(store, manifest, addresses)


class Reusing:
    """A run's store that answers from an earlier run before anything is asked. Implements
    `harness.run.runner.Keeper`."""

    def __init__(self, store: Store, earlier: Earlier) -> None:
        self._store = store
        self._earlier = earlier

    def paid(self, key: CallKey, request: Request) -> Call | None:
        """What settled this attempt before: in this run, else in the earlier one, and then it is kept in this one."""
        settled = self._store.paid(key, request)
        if settled is not None:
            return settled
        found = self._earlier.answer(key, request)
        if found is None:
            return None
        call = Call(
            key=key,
            number=self._store.next_number(key),
            request=request,
            fate="reused",
            completion=found.completion,
            error=None,
            billing="none",
            cost=0.0,
            started=datetime.now(UTC).isoformat(timespec="milliseconds"),
            latency=0.0,
            reused_from=self._earlier.origin(found),
        )
        self._store.add_call(call)
        return call

    def begin_call(self, key: CallKey, request: Request, started: str, cost: float | None = None) -> int:
        return self._store.begin_call(key, request, started, cost)

    def end_call(self, call: Call) -> None:
        self._store.end_call(call)

    def add_record(self, record: Record) -> None:
        self._store.add_record(record)

    def add_void(self, void: Void) -> None:
        self._store.add_void(void)


def _models(manifest: Manifest) -> Mapping[str, object]:
    """What a run was ordered with of each model's endpoint."""
    models = manifest.config.get("models")
    return models if isinstance(models, Mapping) else {}


def _says_where(endpoint: object) -> bool:
    """Whether what a run was ordered with names the address: servers on this machine all look alike there."""
    if not isinstance(endpoint, Mapping):
        return False
    return endpoint.get("wire") == "local" or endpoint.get("base_url") != "this machine"
