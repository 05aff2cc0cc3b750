"""Runs as the run loop plays them: killed and resumed, no call is paid for twice, and everything re-derives."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from weigh.games.registry import game_named, read_config
from weigh.harness.audit.verify.run import verify_run
from weigh.harness.config.balance import describe
from weigh.harness.config.schedule import Episode, schedule
from weigh.harness.run.concurrency import Slots
from weigh.harness.run.limits import Brake
from weigh.harness.run.model_calls import Exchange
from weigh.harness.run.runner import Division, Run
from weigh.harness.store.calls import Call, Void
from weigh.harness.store.manifest import Manifest, schedule_digest
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.policies.contract import Completion, Policy, Request, Sampling, Usage
from weigh.policies.operator_prompt import OperatorPrompt
from weigh.policies.prompted import PromptedPolicy
from weigh.policies.scripted.registry import scripted

GAMES = ("goofspiel", "oshi_zumo")
MODEL = "openai:gpt-5"
SEED = 3


class Killed(SystemExit):
    """Stands for the death of the process: nothing after it runs."""


class Fake:
    """A model that answers from the digest of the question: now a bid, now nonsense, now nothing legal."""

    def __init__(self, dies_after: int | None = None) -> None:
        self.asked: list[str] = []
        self._left = dies_after

    async def complete(self, request: Request) -> Completion:
        await asyncio.sleep(0)
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise Killed
        self.asked.append(request.digest)
        dice = hashlib.sha256(request.digest.encode()).digest()
        text = ("no", "", '{"bid": 40}', '{"bid":1,"bid":2}')[dice[1] % 4]
        if dice[0] > 90:
            text = f'Hm.\n{{"bid": {dice[1] % 6 + 1}, "notes": "seen {dice[2] % 3} \\ud83d"}}'
        return Completion(text, "length" if dice[3] < 10 else "end", usage=Usage(50, 0, 9))


class SilentOnlooker:
    def episode_started(self, key: str, entrants: Sequence[str]) -> None: ...
    def episode_finished(self, record: Record) -> None: ...
    def episode_void(self, void: Void) -> None: ...
    def call_finished(self, call: Call) -> None: ...
    def note(self, line: str) -> None: ...


def divisions() -> dict[str, Division]:
    made = {}
    for name in GAMES:
        game = game_named(name)
        config = read_config(game, {"cards": 6} if name == "goofspiel" else {"coins": 8})
        plain = PromptedPolicy(
            "plain",
            OperatorPrompt("plain", "Play well."),
            MODEL,
            Sampling(max_tokens=200),
            "reason-then-json",
            game,
            config,
        )
        policies: dict[str, Policy] = {"plain": plain}
        policies |= {each: scripted(name, each) for each in ("match", "hoard", "random")}
        made[name] = Division(game, config, policies, scripted(name, game.fallback))
    return made


def planned() -> tuple[Episode, ...]:
    return tuple(
        each
        for name, seats in (("goofspiel", 4), ("oshi_zumo", 2))
        for each in schedule(name, ("plain", "match", "hoard", "random"), seats, 3, SEED)
    )


def create(folder: Path) -> None:
    episodes = planned()
    made = divisions()
    Store.create(
        folder,
        Manifest(
            run_id="played",
            created="2026-05-01T14:22:33+00:00",
            seed=SEED,
            config={
                "seed": SEED,
                "games": {
                    name: {"blocks": 3, "rows": "williams", "config": each.config.model_dump(mode="json")}
                    for name, each in made.items()
                },
                "entrants": {each: {"scripted": each} for each in ("match", "hoard", "random")}
                | {
                    "plain": {
                        "model": MODEL,
                        "prompts": {"*": {"file": "plain.md", "sha256": "5" * 64, "style": "reason-then-json"}},
                        "sampling": Sampling(max_tokens=200).to_json(),
                    }
                },
                "models": {},
                "limits": {"decision_timeout": 30.0, "episode_deadline": None},
            },
            policies={
                f"{name}/{entrant}": {"digest": policy.digest, "model": policy.model}
                for name, each in made.items()
                for entrant, policy in each.policies.items()
            },
            schedule=schedule_digest(episodes),
            schedules={
                name: describe([each for each in episodes if each.game == name], list(made[name].policies)).to_json()
                for name in GAMES
            },
            episodes=len(episodes),
            versions={},
        ),
        episodes,
    ).close()


def sit(folder: Path, model: Fake) -> None:
    with Store.open(folder) as store:
        exchange = Exchange(model, Slots(8), lambda usage, served_by: 0.0, decision_timeout=30.0)
        run = Run(SEED, divisions(), store, {MODEL: exchange}, Brake(), SilentOnlooker())
        asyncio.run(run.play(planned(), frozenset(store.finished())))


def records(folder: Path) -> list[str]:
    with Store.open(folder, readonly=True) as store:
        return [record.comparable() for record in store.records()]


def test_a_played_run_re_derives_with_every_kind_of_decision(tmp_path: Path) -> None:
    create(tmp_path / "run")
    model = Fake()
    sit(tmp_path / "run", model)
    with Store.open(tmp_path / "run", readonly=True) as store:
        verdict = verify_run(store)
        made = {decision.by for record in store.records() for decision in record.decisions}
    assert [str(finding) for finding in verdict.findings] == []
    assert (verdict.records, verdict.planned, verdict.calls) == (18, 18, len(model.asked))
    assert made == {"model", "retry", "fallback", "scripted"}


def test_o13_a_run_that_dies_again_and_again_ends_as_if_it_never_had(tmp_path: Path) -> None:
    create(tmp_path / "whole")
    whole = Fake()
    sit(tmp_path / "whole", whole)
    create(tmp_path / "run")
    asked: list[str] = []
    for deaths in range(1000):
        model = Fake(dies_after=7 + deaths % 5)
        try:
            sit(tmp_path / "run", model)
        except Killed:
            asked += model.asked
            continue
        asked += model.asked
        break
    else:
        raise AssertionError("it never ended")
    assert deaths > 10
    assert records(tmp_path / "run") == records(tmp_path / "whole")
    assert sorted(asked) == sorted(whole.asked), "no call that had returned is made again"
    with Store.open(tmp_path / "run", readonly=True) as store:
        assert [str(finding) for finding in verify_run(store).findings] == []


@pytest.mark.parametrize("game", GAMES)
def test_a_scripted_move_the_script_does_not_make_is_found(tmp_path: Path, game: str) -> None:
    create(tmp_path / "run")
    sit(tmp_path / "run", Fake())
    with Store.open(tmp_path / "run", readonly=True) as store:
        records_of_game = [record for record in store.records() if record.game == game]
    # Who sat as `random` is said to have been `match`: all else in the record stays consistent.
    match, random = scripted(game, "match").digest, scripted(game, "random").digest
    changed = next(record for record in records_of_game if random in record.policies)
    policies = [match if digest == random else digest for digest in changed.policies]
    db = sqlite3.connect(tmp_path / "run" / "run.sqlite", isolation_level=None)
    db.execute(
        "UPDATE records SET body = json_set(body, '$.policies', json(?)) "
        "WHERE episode = (SELECT id FROM episodes WHERE key = ?)",
        (json.dumps(policies), changed.key),
    )
    with Store.open(tmp_path / "run", readonly=True) as store:
        found = [str(finding) for finding in verify_run(store).findings]
    assert any(f"{changed.key}: policies" in line for line in found), found
    place = f'$.policies."{game}/random".digest'
    ordered = "$.config.entrants.random.scripted"
    db.execute(
        "UPDATE meta SET value = json_set(value, ?, ?, ?, 'match') WHERE name = 'manifest'", (place, match, ordered)
    )
    db.close()
    with Store.open(tmp_path / "run", readonly=True) as store:
        found = [str(finding) for finding in verify_run(store).findings]
    assert any(line.startswith(f"{changed.key}: moves") and "is not what match plays" in line for line in found), found
