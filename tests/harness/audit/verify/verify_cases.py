"""Played episodes for the tests of verification, made without the orchestrator: a second view of what a record is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Coroutine, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from weigh.games.game import Legal, State
from weigh.games.registry import game_named, read_config
from weigh.harness.audit.verify.record import verify_record
from weigh.harness.config.balance import describe
from weigh.harness.config.extension import take_turns
from weigh.harness.config.schedule import Episode, schedule
from weigh.harness.seeds import deal_aliases, stream
from weigh.harness.store.calls import Call, CallKey
from weigh.harness.store.manifest import Manifest, schedule_digest
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.policies.contract import Completion, Reply, Request, Sampling, Usage
from weigh.policies.layout import first_attempt, hint, second_attempt, system_text
from weigh.policies.operator_prompt import OperatorPrompt
from weigh.policies.prompted import PromptedPolicy
from weigh.policies.reply import Reading, read_reply
from weigh.policies.scripted.registry import scripted

MODEL = "openai:gpt-5"
GUIDANCE = "Play well.\n\nWatch the others."
FILE = f"---\nname: plain\n---\n{GUIDANCE}\n"
SEED = 4854
"""Seats everybody in the order of NAMES in the first row of the first two blocks of each game."""

NAMES = {"goofspiel": ("ann", "bob", "cy", "dee"), "oshi_zumo": ("ann", "bob")}
"""ann and cy are prompts, bob and dee scripts."""

GAMES = tuple(NAMES)


def episode(game: str, number: int = 0) -> Episode:
    block = f"{game}/b{number:04d}"
    return Episode(key=f"{block}/r0", game=game, block=block, entrants=NAMES[game], deal_key=block)


def play(
    planned: Episode,
    setting: Mapping[str, Any] | None = None,
    *,
    models: Sequence[int] = (),
    faults: float = 0.3,
    stop_after: int | None = None,
    episode_deadline: float | None = None,
    seed: int = SEED,
) -> tuple[Record, list[Call]]:
    """An episode of scripted seats that bid at random and model seats whose replies are wrong with chance `faults`."""
    game = game_named(planned.game)
    config = read_config(game, setting or {})
    deal = dict(game.deal(config, stream(seed, "deal", planned.deal_key)))
    seats = range(game.seat_count(config))
    entrants = (planned.entrants * 3)[: len(seats)]
    aliases = deal_aliases(len(seats), stream(seed, "aliases", planned.key))
    rng = Random(f"{seed} from {planned.key}")
    scripts = {
        seat: scripted(planned.game, "random").sit(seat, stream(seed, "seat", planned.key, seat), None)
        for seat in seats
        if seat not in models
    }
    asking = prompted(planned.game, config.model_dump(mode="json"))
    system = system_text(game.rulebook(config), asking.style, asking.prompt.text)
    state: State = game.start(config, deal)
    moves: list[list[Any]] = []
    decisions: list[dict[str, Any]] = []
    calls: list[Call] = []
    notes: dict[int, str | None] = {}
    while state.to_act and len(moves) != stop_after:
        step, chosen = len(moves), {}
        for seat in sorted(state.to_act):
            legal = state.legal(seat)
            noted: list[dict[str, str]] = []
            by, changed = "scripted", None
            seen = state.observe(seat, aliases)
            if seat not in models:
                chosen[seat] = made(scripts[seat].decide(seen, None))
            else:
                by = "fallback"
                messages = first_attempt(system, seen, asking.style, notes.get(seat))
                for attempt in (1, 2):
                    request = Request(MODEL, messages, asking.sampling)
                    call, reading = ask(CallKey(planned.key, seat, step, attempt), request, legal, rng, faults)
                    calls.append(call)
                    if reading.fault is None:
                        chosen[seat] = reading.move
                        by = "model" if attempt == 1 else "retry"
                        if reading.notes is not None and reading.notes != notes.get(seat):
                            changed = notes[seat] = reading.notes
                        break
                    noted.append({"fault": reading.fault, "detail": reading.detail})
                    said = call.completion.text if call.completion else None
                    messages = second_attempt(messages, said, hint(reading.fault, reading.detail, legal))
                else:
                    chosen[seat] = fall_back(state, planned, seat, step, aliases, seed)
            decisions.append({"step": step, "seat": seat, "by": by, "faults": noted, "notes": changed})
        state = state.play(chosen)
        moves.append([chosen.get(seat) for seat in seats])
    if state.to_act:
        state = state.stop()
    outcome = state.outcome
    assert outcome is not None
    record = Record.model_validate(
        {
            "key": planned.key,
            "block": planned.block,
            "game": planned.game,
            "config": config.model_dump(mode="json"),
            "deal": deal,
            "entrants": entrants,
            "policies": tuple(digest(planned.game, seat in models) for seat in seats),
            "models": tuple(MODEL if seat in models else None for seat in seats),
            "aliases": aliases,
            "fallback": game.fallback,
            "episode_deadline": episode_deadline,
            "moves": moves,
            "decisions": decisions,
            "events": [event.to_json() for event in state.events],
            "reason": outcome.reason,
            "ending": outcome.ending,
            "scores": [float(score) for score in outcome.scores],
            "measures": dict(outcome.measures),
            "fallbacks": [sum(d["by"] == "fallback" and d["seat"] == seat for d in decisions) for seat in seats],
            "times": {"started": "2026-05-01T14:22:40.000+00:00", "seconds": 1.5},
        }
    )
    return record, calls


def ask(key: CallKey, request: Request, legal: Legal, rng: Random, faults: float) -> tuple[Call, Reading]:
    completion: Completion | None = Completion(f'{{"bid": {legal.sample(rng)}, "notes": "n{key.step // 3}"}}', "end")
    if rng.random() < faults:
        completion = rng.choice(
            [
                None,
                Completion("I would rather not say.", "end"),
                Completion('{"bid": 99}', "end"),
                Completion("", "end"),
                Completion('{"bid": 1', "length"),
            ]
        )
    call = Call(
        key=key,
        number=0,
        request=request,
        fate="answered" if completion else "timed_out",
        completion=None if completion is None else Completion(completion.text, completion.stop, usage=Usage(90, 0, 12)),
        error=None if completion else "no answer within 60 s",
        billing="known" if completion else "unknown",
        cost=0.001 if completion else None,
        started="2026-05-01T14:22:40.000+00:00",
        latency=0.5,
    )
    if completion is None:
        return call, Reading(fault="timed_out", detail="no answer within 60 s")
    return call, read_reply(completion.text, completion.stop, legal)


def fall_back(state: State, planned: Episode, seat: int, step: int, aliases: Sequence[str], seed: int) -> Any:
    policy = scripted(planned.game, game_named(planned.game).fallback).without_habits()
    player = policy.sit(seat, stream(seed, "fallback", planned.key, step, seat), None)
    return made(player.decide(state.observe(seat, aliases), None))


def made(deciding: Coroutine[Any, Any, Reply]) -> Any:
    """The move of a script."""
    try:
        deciding.send(None)
    except StopIteration as done:
        return done.value.move
    raise AssertionError("a baseline waited")


def prompted(game: str, setting: Mapping[str, Any] | None = None) -> PromptedPolicy:
    """How ann and cy play."""
    rules, prompt = game_named(game), OperatorPrompt("plain", GUIDANCE)
    config = read_config(rules, setting or {})
    return PromptedPolicy("plain", prompt, MODEL, Sampling(max_tokens=200), "reason-then-json", rules, config)


def digest(game: str, model: bool) -> str:
    return prompted(game).digest if model else scripted(game, "random").digest


def ordered(name: str) -> dict[str, Any]:
    """An entrant as a config has it."""
    if name not in ("ann", "cy"):
        return {"scripted": "random"}
    prompt = {"file": "plain.md", "sha256": hashlib.sha256(FILE.encode()).hexdigest(), "style": "reason-then-json"}
    return {"model": MODEL, "prompts": {"*": prompt}, "sampling": Sampling(max_tokens=200).to_json()}


def new_run(
    folder: Path,
    *games: str,
    blocks: int = 1,
    kept: int | None = None,
    deadline: float | None = None,
    chained: bool = False,
) -> Store:
    """A ladder of `blocks` blocks of each game, the first `kept` episodes of it (None: all) played and kept."""
    episodes = take_turns([schedule(game, NAMES[game], len(NAMES[game]), blocks, SEED) for game in games])
    manifest = Manifest(
        run_id=f"run-{folder.name}",
        created="2026-05-01T14:22:33+00:00",
        seed=SEED,
        config={
            "seed": SEED,
            "games": {
                game: {
                    "blocks": blocks,
                    "rows": "williams",
                    "config": read_config(game_named(game), {}).model_dump(mode="json"),
                }
                for game in games
            },
            "entrants": {name: ordered(name) for game in games for name in NAMES[game]},
            "models": {MODEL: {}},
            "limits": {"episode_deadline": deadline, "decision_timeout": 60.0},
        },
        policies={
            f"{game}/{name}": {"digest": digest(game, seat % 2 == 0), "model": MODEL if seat % 2 == 0 else None}
            for game in games
            for seat, name in enumerate(NAMES[game])
        },
        schedule=schedule_digest(episodes),
        schedules={
            game: describe([each for each in episodes if each.game == game], NAMES[game]).to_json() for game in games
        },
        episodes=len(episodes),
        versions={},
        prompts={hashlib.sha256(FILE.encode()).hexdigest(): FILE},
        chained=chained,
    )
    store = Store.create(folder, manifest, episodes)
    for planned in episodes[:kept]:
        prompts = [seat for seat, name in enumerate(planned.entrants) if name in ("ann", "cy")]
        record, calls = play(planned, models=prompts)
        for call in calls:
            store.add_call(call)
        store.add_record(record)
    if kept is None:
        store.set_status("finished")
    return store


SMALL = {"goofspiel": {"seats": 3, "cards": 8}, "oshi_zumo": {"coins": 30, "size": 3}}


@cache
def _kept(game: str) -> str:
    for number in range(200):
        record, _ = play(episode(game, number), SMALL[game], models=(0, 2), faults=0.5)
        kinds = {event["type"] for event in record.events}
        if {each.by for each in record.decisions} == {"model", "retry", "fallback", "scripted"} and "overbid" in kinds:
            return json.dumps(record.model_dump(mode="json"))
    raise AssertionError("no such episode in 200")


def kept(game: str) -> dict[str, Any]:
    """The JSON of a small played record with moves of every provenance, an overbid, and every kind of event."""
    data: dict[str, Any] = json.loads(_kept(game))
    return data


def lines(data: object) -> list[str]:
    """What `verify_record` finds in `data`, as text."""
    return [str(finding) for finding in verify_record(data)]  # type: ignore[arg-type]
