"""Plays gates to their verdicts, and baselines to their files.

Owns the loop: play what the standing asks for, look again. The verdict is read from what is kept once all is played, so
that the same command gives it again, at no cost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.brake import Brake, Ceilings
from harness.cli.compose import adaptations, open_exchanges, require_ready, versions
from harness.cli.gate_arms import Arm, arm_run
from harness.cli.output import INTERRUPTED, INVALID, Refused
from harness.cli.stopping import stopping_on_signals
from harness.display_words import shown
from harness.gate.baseline import Baseline, BlockScores, FocalPolicy, made
from harness.gate.checks import CheckResult, run_checks
from harness.gate.conduct import conduct_of
from harness.gate.pairs import block_difference
from harness.gate.standing import Standing, Terms, stand
from harness.gate.verdict import BuildVerdict, GateVerdict, Spent, corrected, invalid, judged

if TYPE_CHECKING:
    from harness.cli.gate_arms import ArmOrder
    from harness.cli.gate_order import GateOrder
    from harness.gate.baseline import Conditions
    from harness.line import Exchange
    from harness.providers.endpoints import Endpoint

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
        means: list[float] = []
        saved = self.order.saved
        for n, block in enumerate(self.candidate.order.blocks[: self.terms.limit]):
            mine = self.candidate.scores(block)
            if saved is not None:
                theirs: tuple[float | None, ...] | None = saved.whole[n].scores
            else:
                theirs = self._baseline_scores(n)
            if mine is None or theirs is None:
                break
            differences.append(block_difference(mine, theirs))
            known = [score for score in theirs if score is not None]
            if len(known) == len(theirs):
                means.append(sum(known) / len(known))
        before = saved.means if saved is not None else means[: self.terms.first]
        return stand(differences, before, self.terms)

    def _baseline_scores(self, n: int) -> tuple[float | None, ...] | None:
        arm = self.baseline
        return None if arm is None else arm.scores(arm.order.blocks[n])

    async def play(self, start: int, count: int) -> None:
        """Play so many blocks from this one on, in both arms at once."""
        await play_together(self.arms, start, count)

    def status(self, status: str) -> None:
        for arm in self.arms:
            if arm.store.status != status:
                arm.store.set_status(status)


def run_gates(name: str, orders: Sequence[GateOrder], ceilings: Ceilings, beta: float, note: Note) -> BuildVerdict:
    """Play every gate that is valid to its end, one after the other; the verdict of the build.

    Raises Refused where a key is missing or a price unknown, before anything is played.
    """
    arms = [arm for order in orders for arm in order.arms]
    require_playable(arms, ceilings)
    with ExitStack() as stack:
        games = [_opened(order, stack) for order in orders]
        brake = brake_on([arm for game in games if game is not None for arm in game.arms], ceilings)
        drive(_play_all([game for game in games if game is not None], brake, note), brake)
        verdicts = [
            _told(order, game, brake) if game is not None else _invalid(order)
            for order, game in zip(orders, games, strict=True)
        ]
    left = any(gate.verdict == "invalid" and gate.reason == brake.reason for gate in verdicts)
    return BuildVerdict(name, corrected(verdicts, beta), interrupted=brake.pulled == "interrupted" and left)


@dataclass(frozen=True, slots=True)
class Saved:
    """A baseline that was played, and what it took."""

    baseline: Baseline
    spent: Spent


def save_baseline(order: ArmOrder, now: Conditions, ceilings: Ceilings, max_void_rate: float, note: Note) -> Saved:
    """Play a baseline's blocks. Raises Refused, with its exit code, where it comes to no end or too much is void."""
    require_playable([order], ceilings)
    with arm_run(order) as arm:
        brake = brake_on([arm], ceilings)
        drive(_play_arm(arm, brake, note), brake)
        scores = [arm.scores(block) for block in order.blocks]
        if any(each is None for each in scores):
            _close(arm, brake)
            code = INTERRUPTED if brake.pulled == "interrupted" else INVALID
            raise Refused(f"no baseline is saved: {brake.reason}; the same command goes on", code=code)
        blocks = [
            BlockScores(key=block.key, scores=each)
            for block, each in zip(order.blocks, scores, strict=True)
            if each is not None
        ]
        void = sum(not block.whole for block in blocks)
        if void > max_void_rate * len(blocks) or void == len(blocks):
            arm.store.set_status(f"stopped: {void} blocks are void")
            raise Refused(
                f"no baseline is saved: {void} of {len(blocks)} blocks are void; the same command plays them again",
                code=INVALID,
            )
        if arm.store.status != "finished":
            arm.store.set_status("finished")
        prompt = order.spec.prompt_for(now.game)
        policy = order.division.policies[order.role]
        focal = FocalPolicy(
            name=order.spec.name,
            digest=policy.digest,
            model=policy.model,
            prompt=None if prompt is None else prompt.sha256,
        )
        measures = conduct_of(arm.store, order.blocks, order.role)
        return Saved(made(now, focal, versions(), blocks, measures), arm.spent())


def _opened(order: GateOrder, stack: ExitStack) -> Game | None:
    if order.problems or order.candidate is None or order.terms is None:
        return None
    candidate = stack.enter_context(arm_run(order.candidate))
    baseline = None if order.baseline is None else stack.enter_context(arm_run(order.baseline))
    return Game(order, order.terms, candidate, baseline)


def require_playable(arms: Sequence[ArmOrder], ceilings: Ceilings) -> None:
    from harness.prices import price_known

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
    spent = sum((arm.spent() for arm in arms), Spent())
    return Brake(ceilings, calls=spent.calls, tokens=spent.tokens, usd=spent.cost_known_usd)


def drive(playing: Any, brake: Brake) -> None:
    """Run it to its end; a second Ctrl-C, and what stops every call, end it with the brake pulled."""
    from harness.providers.local import LocalModelFailed
    from policies.contract import ProviderFailure

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
    async with AsyncExitStack() as stack:
        exchanges = await _exchanges([arm.order for arm in game.arms], stack)
        for arm in game.arms:
            arm.sit_down(exchanges, brake, note)
        try:
            while standing.more and not brake.pulled:
                await game.play(standing.judged, standing.more)
                standing = game.standing()
                note(_progress(game, standing))
        finally:
            for line in adaptations(exchanges):
                note(line)


async def _play_arm(arm: Arm, brake: Brake, note: Note) -> None:
    from harness.cli.gate_arms import play_arm

    with stopping_on_signals(brake, note):
        if all(arm.settled(episode.key) for episode in arm.order.episodes()):
            return
        async with AsyncExitStack() as stack:
            exchanges = await _exchanges([arm.order], stack)
            await play_arm(arm, arm.order.blocks, exchanges, brake, note)


async def _exchanges(arms: Sequence[ArmOrder], stack: AsyncExitStack) -> Mapping[str, Exchange]:
    return await stack.enter_async_context(exchanges_for(arms))


def exchanges_for(arms: Sequence[ArmOrder]) -> AbstractAsyncContextManager[dict[str, Exchange]]:
    """What arms that are played together need, opened as long as the context lasts."""
    endpoints = {model: endpoint for arm in arms for model, endpoint in arm.endpoints.items()}
    most = sum(arm.conduction.episodes_in_flight for arm in arms if arm.endpoints)
    return open_exchanges(endpoints, arms[0].timeout, most or None)


async def play_together(arms: Sequence[Arm], start: int, count: int) -> None:
    """Play so many blocks from this one on, in all arms at once. Raises what is a bug, when all have come to rest."""
    turns = [arm.play(arm.order.blocks[start : start + count]) for arm in arms]
    ended = await asyncio.gather(*turns, return_exceptions=True)
    for error in ended:
        if isinstance(error, BaseException):
            raise error


def _told(order: GateOrder, game: Game, brake: Brake) -> GateVerdict:
    """The verdict by what is kept. Says so in the runs, too."""
    standing, void = game.standing(), _void(order)
    spent = sum((arm.spent() for arm in game.arms), Spent())
    if standing.more:
        game.status("interrupted" if brake.pulled == "interrupted" else f"stopped: {brake.reason}")
        known: dict[str, Any] = {"standing": standing, "spent": spent, "baseline_void": void}
        return invalid(order.subject, order.terms, [brake.reason], "the same command goes on from here", **known)
    checks: tuple[CheckResult, ...] = ()
    if order.checks and not standing.too_void:
        blocks = game.candidate.order.blocks[: standing.judged]
        mine = conduct_of(game.candidate.store, blocks, "candidate")
        checks = run_checks(order.checks, mine, _before(order, game, standing.judged))
    verdict = judged(order.subject, game.terms, standing, checks, spent, void)
    game.status(f"stopped: {verdict.reason}" if verdict.verdict == "invalid" else "finished")
    return verdict


def _before(order: GateOrder, game: Game, count: int) -> Mapping[str, float | None]:
    """The baseline's measures."""
    if game.baseline is None:
        return {} if order.saved is None else order.saved.measures
    return conduct_of(game.baseline.store, game.baseline.order.blocks[:count], "baseline")


def _invalid(order: GateOrder) -> GateVerdict:
    remedy = "put it right, or save the baseline again with --save-baseline"
    return invalid(order.subject, order.terms, order.problems, remedy, baseline_void=_void(order))


def _void(order: GateOrder) -> int:
    return 0 if order.saved is None else len(order.saved.blocks) - len(order.saved.whole)


def _close(arm: Arm, brake: Brake) -> None:
    arm.store.set_status("interrupted" if brake.pulled == "interrupted" else f"stopped: {brake.reason}")


def _progress(game: Game, standing: Standing) -> str:
    look = standing.look
    name = shown(game.order.subject.name)
    if look is None or look.mean is None:
        return f"{name}: no block has a difference yet"
    more = f"; {standing.more} more blocks" if standing.more else ""
    return f"{name}: {look.n} blocks, difference {look.mean:+.4f}, likelihood ratio {look.llr:+.2f}{more}"
