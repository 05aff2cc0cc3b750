"""Plays gates to their verdicts.

Owns the loop: play what the standing asks for, look again. The verdict is read from what is kept once all is played, so
that the same command gives it again, at no cost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from weigh.harness.errors import Refused
from weigh.harness.gate.arms import Arm, arm_run
from weigh.harness.gate.checks import CheckResult, Measures, run_checks
from weigh.harness.gate.conduct import conduct_of, freedom_of, measures_of, rates_of
from weigh.harness.gate.differences import block_difference
from weigh.harness.gate.judgements import others, read
from weigh.harness.gate.spent import Spent
from weigh.harness.gate.standing import Standing, Terms, largest_loss, stand
from weigh.harness.gate.verdict import BuildVerdict, GateVerdict, corrected, invalid, judged, judgement_of
from weigh.harness.run.limits import Brake, Ceilings
from weigh.harness.run.opening import brake_over, closing_notes, open_exchanges, require_ready
from weigh.harness.run.signals import stopping_on_signals
from weigh.harness.words import shown
from weigh.policies.contract import canonical

if TYPE_CHECKING:
    from weigh.harness.gate.arms import ArmOrder
    from weigh.harness.gate.order import GateOrder
    from weigh.harness.providers.endpoints.endpoints import Endpoint
    from weigh.harness.run.model_calls import Exchange

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Game:
    """One gate with its arms open."""

    order: GateOrder
    terms: Terms
    candidate: Arm
    baseline: Arm | None

    @property
    def arms(self) -> tuple[Arm, ...]:
        return (self.candidate,) if self.baseline is None else (self.candidate, self.baseline)

    def standing(self) -> Standing:
        """By the blocks that are settled in both arms, from the first on without a gap."""
        differences: list[float | None] = []
        for n, block in enumerate(self.candidate.order.blocks[: self.terms.limit]):
            mine, theirs = self.candidate.scores(block), self._baseline_scores(n)
            if mine is None or theirs is None:
                break
            differences.append(block_difference(mine, theirs))
        before = self.baseline_means(len(differences))
        return stand(differences, before if self.baseline is None else before[: self.terms.first], self.terms)

    def baseline_means(self, count: int | None = None) -> list[float]:
        """The baseline's mean score in its whole blocks: all of a file's, or those among the first `count` played."""
        if self.order.saved is not None:
            return list(self.order.saved.means)
        number = len(self.candidate.order.blocks[: self.terms.limit]) if count is None else count
        found = [self._baseline_scores(n) for n in range(number)]
        whole = [[score for score in scores if score is not None] for scores in found if scores and None not in scores]
        return [sum(scores) / len(scores) for scores in whole]

    def _baseline_scores(self, n: int) -> tuple[float | None, ...] | None:
        if self.order.saved is not None:
            return self.order.saved.whole[n].scores
        arm = self.baseline
        return None if arm is None else arm.scores(arm.order.blocks[n])

    async def play(self, start: int, count: int) -> None:
        """Play so many blocks from this one on, in both arms at once."""
        await play_together(self.arms, start, count)

    def status(self, status: str) -> None:
        for arm in self.arms:
            arm.end(status)


def run_gates(name: str, orders: Sequence[GateOrder], ceilings: Ceilings, beta: float, note: Note) -> BuildVerdict:
    """Play every gate that is valid to its end, one after the other; the verdict of the build.

    Raises Refused where a key is missing or a price unknown, before anything is played.
    """
    arms = [arm for order in orders for arm in order.arms]
    require_playable(arms, ceilings)
    with ExitStack() as stack:
        games = [_opened(order, stack) for order in orders]
        opened = [game for game in games if game is not None]
        before = _spent(opened)
        brake = brake_on([arm for game in opened for arm in game.arms], ceilings)
        drive(_play_all(opened, brake, note), brake)
        told = [
            _told(order, game, brake) if game is not None else _invalid(order)
            for order, game in zip(orders, games, strict=True)
        ]
        left = any(gate.verdict == "invalid" and gate.reason == brake.reason for gate in told)
        verdicts = tuple(
            verdict if game is None else _remembered(game, verdict)
            for verdict, game in zip(corrected(told, beta), games, strict=True)
        )
        sitting = _spent(opened) - before
    return BuildVerdict(name, verdicts, interrupted=brake.pulled == "interrupted" and left, sitting=sitting)


def _spent(games: Sequence[Game]) -> Spent:
    """What the runs of these gates hold, over all sittings."""
    return sum((arm.spent() for game in games for arm in game.arms), Spent())


def _remembered(game: Game, verdict: GateVerdict) -> GateVerdict:
    """The verdict with those the same candidate got under other terms; and it is kept beside them."""
    store, now = game.candidate.store, judgement_of(verdict, game.order.checks)
    before = others(read(store.verdicts()), now)
    if now is not None:
        store.keep_verdict(canonical(now.to_json()))
    return replace(verdict, judged_before=before)


def _opened(order: GateOrder, stack: ExitStack) -> Game | None:
    if order.problems or order.candidate is None or order.terms is None:
        return None
    candidate = stack.enter_context(arm_run(order.candidate))
    baseline = None if order.baseline is None else stack.enter_context(arm_run(order.baseline))
    return Game(order, order.terms, candidate, baseline)


def require_playable(arms: Sequence[ArmOrder], ceilings: Ceilings) -> None:
    """Refuse, before anything is paid for, a missing key or weights, and a limit in dollars without a price."""
    from weigh.harness.providers.endpoints.prices import price_known

    endpoints: dict[str, Endpoint] = {}
    for arm in arms:
        endpoints.update(arm.endpoints)
    require_ready(endpoints, [arm.spec for arm in arms])
    unknown = [model for model, endpoint in endpoints.items() if not price_known(endpoint)]
    if ceilings.usd is not None and unknown:
        raise Refused(
            f"a limit in dollars cannot be kept: the cost of {', '.join(unknown)} is not known; give a price in a gate "
            f'file, as [models."{unknown[0]}"] price = {{ input = 1.0, output = 4.0 }}, or drop max_usd'
        )


def brake_on(arms: Sequence[Arm], ceilings: Ceilings) -> Brake:
    """The brake of these arms; what their runs took in earlier sittings counts towards the ceilings."""
    endpoints = {model: endpoint for arm in arms for model, endpoint in arm.order.endpoints.items()}
    return brake_over(ceilings, [arm.store for arm in arms], endpoints)


def drive(playing: Any, brake: Brake) -> None:
    """Run it to its end; a second Ctrl-C, and what stops every call, end it with the brake pulled."""
    from weigh.harness.errors import LocalModelFailed
    from weigh.policies.contract import ProviderFailure

    try:
        asyncio.run(playing)
    except (KeyboardInterrupt, asyncio.CancelledError):
        brake.pull("interrupted", "interrupted")
    except (LocalModelFailed, ProviderFailure) as failed:
        brake.pull("fatal", str(failed))


async def _play_all(games: Sequence[Game], brake: Brake, note: Note) -> None:
    with stopping_on_signals(brake, note):
        for game in games:
            if not brake.pulled:
                await _play(game, brake, note)


async def _play(game: Game, brake: Brake, note: Note) -> None:
    """Blocks as the standing asks for them, until the gate is over or the brake is pulled."""
    standing = game.standing()
    if not standing.more:
        return
    for warning in _warnings(game, standing):
        note(f"{shown(game.order.subject.name)}: {warning}")
    async with AsyncExitStack() as stack:
        exchanges = await stack.enter_async_context(exchanges_for([arm.order for arm in game.arms], note))
        for arm in game.arms:
            arm.sit_down(exchanges, brake, note)
        try:
            while standing.more and not brake.pulled:
                await game.play(standing.judged, standing.more)
                standing = game.standing()
                note(_progress(game, standing))
        finally:
            for line in closing_notes(exchanges):
                note(line)


def exchanges_for(arms: Sequence[ArmOrder], note: Note) -> AbstractAsyncContextManager[dict[str, Exchange]]:
    """What arms that are played together need, opened as long as the context lasts; `note` is told of pauses."""
    endpoints = {model: endpoint for arm in arms for model, endpoint in arm.endpoints.items()}
    most = sum(arm.conduction.episodes_in_flight for arm in arms if arm.endpoints)
    return open_exchanges(endpoints, arms[0].timeout, most or None, note)


async def play_together(arms: Sequence[Arm], start: int, count: int) -> None:
    """Play so many blocks from this one on, in all arms at once. Raises what is a bug, when all have come to rest."""
    turns = [arm.play(arm.order.blocks[start : start + count]) for arm in arms]
    ended = await asyncio.gather(*turns, return_exceptions=True)
    for error in ended:
        if isinstance(error, BaseException):
            raise error


def _told(order: GateOrder, game: Game, brake: Brake) -> GateVerdict:
    """The verdict by what is kept. Says so in the runs, too."""
    standing = game.standing()
    blocks = slice(0, standing.judged)
    mine = conduct_of(game.candidate.store, game.candidate.order.blocks[blocks], "candidate")
    rates = (rates_of(mine), rates_of(_before(order, game, standing.judged, ()).values))
    known: dict[str, Any] = {
        "spent": sum((arm.spent(arm.order.blocks[blocks]) for arm in game.arms), Spent()),
        "all_sittings": sum((arm.spent() for arm in game.arms), Spent()),
        "baseline_void": _void(order),
        "warnings": _warnings(game, standing),
    }
    if standing.more:
        game.status("interrupted" if brake.pulled == "interrupted" else f"stopped: {brake.reason}")
        known |= {"standing": standing, "candidate_rates": rates[0], "baseline_rates": rates[1]}
        return invalid(order.subject, order.terms, [brake.reason], "the same command goes on from here", **known)
    checks: tuple[CheckResult, ...] = ()
    if order.checks and not standing.too_void:
        relative = [check.measure for check in order.checks if (check.max_increase, check.max_decrease) != (None, None)]
        shown_now = measures_of(game.candidate.store, game.candidate.order.blocks[blocks], "candidate", relative)
        checks = run_checks(order.checks, shown_now, _before(order, game, standing.judged, relative))
    verdict = judged(order.subject, game.terms, standing, checks, rates, **known)
    game.status(f"stopped: {verdict.reason}" if verdict.verdict == "invalid" else "finished")
    return verdict


def _before(order: GateOrder, game: Game, count: int, relative: Sequence[str]) -> Measures:
    """The baseline's measures, with errors of those that a change is checked of."""
    if game.baseline is not None:
        return measures_of(game.baseline.store, game.baseline.order.blocks[:count], "baseline", relative)
    if order.saved is None:
        return Measures()
    number = len(order.saved.blocks)
    return Measures(order.saved.measures, order.saved.errors, freedom_of(number), number)


def _warnings(game: Game, standing: Standing) -> tuple[str, ...]:
    """What the terms probably do not mean."""
    told = []
    fewest = standing.design.fewest_to_pass
    if fewest > game.terms.limit:
        told.append(
            f"a candidate just as good can hardly pass: {fewest} blocks that all agree exclude a loss of "
            f"{game.terms.margin:g}, and {game.terms.limit} may be played; allow more, or a larger margin"
        )
    loss = largest_loss(game.baseline_means(), game.terms.lowest)
    if loss is None or game.terms.margin < loss:
        return tuple(told)
    told.append(
        f"the margin {game.terms.margin:g} is beyond any possible loss: the baseline's mean leaves {loss:.3g} to lose, "
        "so whatever plays passes"
    )
    return tuple(told)


def _invalid(order: GateOrder) -> GateVerdict:
    remedy = "put it right, or save the baseline again with --save-baseline"
    return invalid(order.subject, order.terms, order.problems, remedy, baseline_void=_void(order))


def _void(order: GateOrder) -> int:
    return 0 if order.saved is None else len(order.saved.blocks) - len(order.saved.whole)


def _progress(game: Game, standing: Standing) -> str:
    look = standing.look
    name = shown(game.order.subject.name)
    if look is None or look.mean is None:
        return f"{name}: no block has a difference yet"
    more = f"; {standing.more} more blocks" if standing.more else ""
    return f"{name}: {look.n} blocks, difference {look.mean:+.4f} ({look.lower:+.4f} to {look.upper:+.4f}){more}"
