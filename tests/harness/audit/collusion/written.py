"""Games of Goofspiel written down move by move, played by the real engine."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from weigh.games.game import Legal
from weigh.games.goofspiel.rules import GOOFSPIEL
from weigh.games.registry import read_config
from weigh.harness.run.episode import Table, play_episode
from weigh.harness.store.record import Record
from weigh.policies.scripted.policy import Baseline, Rule, ScriptedPolicy
from weigh.policies.scripted.registry import fallback_of


def written(
    bids: Sequence[Sequence[int]],
    prizes: Sequence[int],
    names: Sequence[str],
    *,
    block: str = "b0000",
    rotation: int = 0,
    helped: Sequence[tuple[int, int]] = (),
) -> Record:
    """A game in which seat s bids `bids[s]`, in that order; `helped` are (round, seat) that the fallback moved for."""
    cards = len(prizes)
    config = read_config(GOOFSPIEL, {"seats": len(names), "cards": cards})
    table = Table(
        key=f"goofspiel/{block}/r{rotation}",
        block=f"goofspiel/{block}",
        game=GOOFSPIEL,
        config=config,
        deal={"prize_order": list(prizes)},
        run_seed=1,
        policies=tuple(
            ScriptedPolicy(name, "goofspiel", Baseline(_in_order(order, cards)))
            for name, order in zip(names, bids, strict=True)
        ),
        aliases=tuple(f"N{seat}" for seat in range(len(names))),
        fallback=fallback_of("goofspiel"),
    )
    record = asyncio.run(play_episode(table, {}))
    assert isinstance(record, Record)
    return with_fallback(record, helped)


def _in_order(order: Sequence[int], cards: int) -> Rule:
    def rule(facts: Mapping[str, Any], legal: Legal, rng: Random) -> int:
        return order[cards - len(list(legal))]

    return rule


def with_fallback(record: Record, helped: Sequence[tuple[int, int]]) -> Record:
    """The same game, in which the fallback made these moves."""
    data = record.model_dump(mode="json")
    for decision in data["decisions"]:
        if (decision["step"], decision["seat"]) in helped:
            decision["by"] = "fallback"
            decision["faults"] = [{"fault": "empty", "detail": "no text"}] * 2
    return Record.model_validate(data)


LOW_FIRST = (1, 2, 3, 4, 5, 6, 7, 8)
HIGH_FIRST = (8, 7, 6, 5, 4, 3, 1, 2)
PRIZES = (8, 1, 2, 3, 4, 5, 7, 6)


def two_handed(*helped: tuple[int, int]) -> Record:
    """ann rises, bob falls. Three rounds have a margin of 6 or more: 1 to 8, 7 to 1, and 8 to 2 with the last cards."""
    return written((LOW_FIRST, HIGH_FIRST), PRIZES, ("ann", "bob"), helped=helped)
