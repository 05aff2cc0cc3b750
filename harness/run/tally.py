"""The running counts behind every display, and what is said of them.

Owns what is counted, per entrant and for the run, from the events a run reports; the sentences about a whole run, the
same in every display; and the warnings while there is still money to save, each given once per entrant (thresholds:
`harness.config.thresholds`). Draws nothing and starts no thread; the clock is handed in. Its memory depends on
entrants, games and episodes in flight, never on episodes played.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from weigh.harness.config.thresholds import (
    CUT_ANSWERS,
    CUT_GAP,
    FORMAT_ATTEMPTS,
    FORMAT_FAULTS,
    FORMAT_RATE,
    HOLLOW_ANSWERS,
    HOLLOW_RATE,
)
from weigh.harness.run.events import Closing, Plan
from weigh.harness.store.calls import Call, CallKey, Void
from weigh.harness.store.record import Record
from weigh.harness.store.usage import Usage
from weigh.harness.words import duration, fault_counts, money, plural, tokens_in_out
from weigh.policies.contract import Fault


def in_short(tally: Tally) -> str:
    """What is going on and what it took so far, in one line."""
    whole = tally.totals()
    parts = [
        f"{tally.in_flight} in flight",
        *took(whole.usage),
    ]
    if tally.waiting:
        parts.append(plural(tally.waiting, "retry", "retries") + " waiting")
    if tally.outages:
        parts.append(plural(tally.outages, "outage"))
    return ", ".join(parts)


def took(used: Usage) -> list[str]:
    """Calls, tokens and cost, in words."""
    return [
        plural(used.calls, "call"),
        tokens_in_out(used.input_tokens, used.output_tokens, used.unknown_usage_calls),
        f"cost {money(used.cost_known_usd, used.unknown_cost_calls)}",
    ]


def farewell(tally: Tally, closing: Closing) -> list[str]:
    """The last lines of a run: what was played, what it took, and how to go on."""
    used = tally.totals().usage
    void = f", {closing.void} void" if closing.void else ""
    spent = f"; {', '.join(took(used))}" if used.calls else ""
    if tally.waits:
        spent += f", {plural(tally.waits, 'call')} made again after a passing failure"
    lines = [
        f"{closing.ended}: {closing.finished} of {plural(closing.total, 'episode')} finished{void} "
        f"in {duration(tally.elapsed)}{spent}"
    ]
    if used.unknown_cost_calls:
        lines.append(f"nobody knows the cost of {plural(used.unknown_cost_calls, 'call')}")
    if closing.detail not in ("", closing.ended):
        lines.append(closing.detail)
    if closing.resume:
        lines.append(f"go on with: {closing.resume}")
    return lines


_CURES: dict[Fault, str] = {
    "truncated": "raise its max_tokens",
    "empty": "look at a reply in the record; a reasoning model may need more max_tokens",
    "unreadable": 'look at a reply in the record; style = "schema" makes the provider enforce the answer',
    "ambiguous": "look at a reply in the record; the prompt should ask for one JSON object, at the end",
}


class Watch:
    """Remembers what has been said, so that it is said once."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._said: set[tuple[str, str]] = set()

    def after_call(self, entrant: str | None) -> list[str]:
        """Warnings that one more counted call of `entrant` gives rise to."""
        row = self._tally.rows.get(entrant) if entrant else None
        if entrant is None or row is None:
            return []
        return [line for line in (self._cut(entrant, row), self._hollow(entrant, row)) if line]

    def after_episode(self, entrants: tuple[str, ...]) -> list[str]:
        """Warnings that one more counted episode of `entrants` gives rise to."""
        lines = (self._format(name, self._tally.rows[name]) for name in dict.fromkeys(entrants))
        return [line for line in lines if line]

    def _first(self, kind: str, entrant: str) -> bool:
        if (kind, entrant) in self._said:
            return False
        self._said.add((kind, entrant))
        return True

    def _format(self, entrant: str, row: Row) -> str | None:
        kinds = {kind: row.faults[kind] for kind in FORMAT_FAULTS if kind in row.faults}
        number = sum(kinds.values())
        if row.attempts < FORMAT_ATTEMPTS or number <= FORMAT_RATE * row.attempts or not self._first("form", entrant):
            return None
        worst = max(kinds, key=lambda kind: kinds[kind])
        return (
            f"{entrant}: {number / row.attempts:.0%} of {row.attempts} attempts gave no answer that could be read "
            f"({fault_counts(kinds)}); {_CURES[worst]}"
        )

    def _cut(self, entrant: str, row: Row) -> str | None:
        rates = {
            name: each.usage.truncation_rate or 0.0
            for name, each in self._tally.rows.items()
            if name and each.usage.brought >= CUT_ANSWERS
        }
        rate = rates.get(entrant, 0.0)
        if rate == 0:
            return None
        least, name = min((other, name) for name, other in rates.items())
        if rate - least < CUT_GAP or not self._first("cut", entrant):
            return None
        other = self._tally.rows[name]
        return (
            f"{entrant}: {rate:.0%} of its answers are cut at its cap of {row.max_tokens} tokens, "
            f"{name}: {least:.0%} at {other.max_tokens}; that is no fair race: raise the max_tokens of {entrant}"
        )

    def _hollow(self, entrant: str, row: Row) -> str | None:
        empty, brought = row.usage.reasoning_only_calls, row.usage.brought
        if brought < HOLLOW_ANSWERS or empty <= HOLLOW_RATE * brought or not self._first("hollow", entrant):
            return None
        return (
            f"{entrant}: {empty} of {brought} answers are empty with reasoning beside them; "
            "look at the server's reasoning parser: it may take the answer for reasoning"
        )


@dataclass(slots=True)
class Mean:
    """A mean that grows."""

    n: int = 0
    total: float = 0.0

    @property
    def value(self) -> float:
        """Only where n > 0."""
        return self.total / self.n


@dataclass(slots=True)
class Row:
    """What one entrant has done so far."""

    scores: dict[str, Mean] = field(default_factory=dict)
    """By game; n counts seat-episodes."""
    usage: Usage = field(default_factory=Usage)
    """Of its calls in this invocation, without their latencies."""
    max_tokens: int | None = None
    """The token cap of the latest call."""
    attempts: int = 0
    """Attempts at decisions of finished episodes, scripted ones left out."""
    faults: dict[Fault, int] = field(default_factory=dict)
    """By kind, of the same attempts."""
    fallbacks: int = 0


@dataclass(slots=True)
class _Flight:
    """One episode that is being played."""

    game: str
    entrants: tuple[str, ...]
    since: float


@dataclass(slots=True)
class _Pace:
    """How long finished episodes of one game took, in this sitting."""

    n: int = 0
    seconds: float = 0.0


class Tally:
    """Counts for one run. Not thread-safe: who draws from another thread holds a lock around both."""

    def __init__(self, plan: Plan, clock: Callable[[], float]) -> None:
        self.plan = plan
        self._clock = clock
        self._since = clock()
        self.rows: dict[str, Row] = {name: Row() for name in plan.entrants}
        for (game, entrant), (n, total) in plan.scores.items():
            self._row(entrant).scores[game] = Mean(n, total)
        self.total = sum(plan.episodes.values())
        self.done = sum(plan.finished.values())
        self._voided: dict[str, None] = {}
        self._left = {game: number - plan.finished.get(game, 0) for game, number in plan.episodes.items()}
        self._paces: dict[str, _Pace] = {}
        self._busy = 0.0
        """Seconds that ended episodes, void ones included, were in flight."""
        self._flights: dict[str, _Flight] = {}
        self._waiting: dict[CallKey, None] = {}
        self.outages = 0
        """Calls given up past patience."""
        self.waits = 0
        """Calls that failed in passing and were to be made again."""

    def _row(self, entrant: str) -> Row:
        return self.rows.setdefault(entrant, Row())

    @property
    def void(self) -> int:
        """Episodes that an outage ended and that have not been started again."""
        return len(self._voided)

    @property
    def in_flight(self) -> int:
        """Episodes being played."""
        return len(self._flights)

    @property
    def waiting(self) -> int:
        """Attempts whose last call failed in passing and has not been answered since."""
        return len(self._waiting)

    @property
    def elapsed(self) -> float:
        """Seconds since the run started, this sitting."""
        return self._clock() - self._since

    def episode_started(self, key: str, entrants: tuple[str, ...]) -> None:
        game = key.split("/", 1)[0]
        if key in self._voided:
            del self._voided[key]
            self._left[game] = self._left.get(game, 0) + 1
        self._flights[key] = _Flight(game, entrants, self._clock())

    def episode_finished(self, record: Record) -> None:
        seconds = self._land(record.key, record.game)
        pace = self._paces.setdefault(record.game, _Pace())
        pace.n += 1
        pace.seconds += seconds
        self.done += 1
        for entrant, score in zip(record.entrants, record.scores, strict=True):
            mean = self._row(entrant).scores.setdefault(record.game, Mean())
            mean.n += 1
            mean.total += score
        for decision in record.decisions:
            if decision.by in ("scripted", "human"):
                continue
            row = self._row(record.entrants[decision.seat])
            row.attempts += len(decision.faults) + (decision.by != "fallback")
            row.fallbacks += decision.by == "fallback"
            for note in decision.faults:
                row.faults[note.fault] = row.faults.get(note.fault, 0) + 1

    def episode_void(self, void: Void) -> None:
        self._land(void.episode, void.game)
        self._voided[void.episode] = None

    def _land(self, key: str, game: str) -> float:
        """Take an episode out of the air; gives the seconds it was there."""
        flight = self._flights.pop(key, None)
        seconds = self._clock() - flight.since if flight is not None else 0.0
        self._busy += seconds
        self._left[game] = max(0, self._left.get(game, 0) - 1)
        for waiting in [waiting for waiting in self._waiting if waiting.episode == key]:
            del self._waiting[waiting]
        return seconds

    def answered(self, key: CallKey) -> None:
        """Nobody waits for this attempt any more. Its call is still to be counted."""
        self._waiting.pop(key, None)

    def call_finished(self, call: Call) -> str | None:
        """Count a call; gives the entrant it was made for, None when its episode is not in flight."""
        if call.fate == "wait":
            self.waits += 1
            self._waiting[call.key] = None
        elif self._waiting:
            self._waiting.pop(call.key, None)
        if call.fate == "outage":
            self.outages += 1
        flight = self._flights.get(call.key.episode)
        entrant = flight.entrants[call.key.seat] if flight is not None else None
        # Calls made outside an episode still cost money: they count under no name.
        row = self._row(entrant or "")
        row.usage += replace(Usage.of(call), seconds=())
        row.max_tokens = call.request.sampling.max_tokens
        return entrant

    def totals(self) -> Row:
        """Calls, tokens, costs and faults of all entrants together; no scores."""
        whole = Row()
        for row in self.rows.values():
            whole.usage += row.usage
            whole.attempts += row.attempts
            whole.fallbacks += row.fallbacks
            for kind, number in row.faults.items():
                whole.faults[kind] = whole.faults.get(kind, 0) + number
        return whole

    def seconds_left(self) -> float | None:
        """An estimate of the time until the last episode ends; None before anything can be said.

        Work left is episodes left times the mean length of their game (of all games, where it has none yet), with
        episodes in flight credited for their age; it is divided by how many episodes ran at once so far, on average.
        """
        finished = sum(pace.n for pace in self._paces.values())
        spent = sum(pace.seconds for pace in self._paces.values())
        now = self._clock()
        elapsed = now - self._since
        if finished < 3 or spent <= 0 or elapsed <= 0:
            return None
        overall = spent / finished
        work = sum(number * self._typical(game, overall) for game, number in self._left.items())
        ages = 0.0
        for flight in self._flights.values():
            age = now - flight.since
            ages += age
            work -= min(age, self._typical(flight.game, overall))
        return max(0.0, work / ((self._busy + ages) / elapsed))

    def _typical(self, game: str, otherwise: float) -> float:
        pace = self._paces.get(game)
        return pace.seconds / pace.n if pace is not None and pace.n else otherwise
