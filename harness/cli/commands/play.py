"""`weigh play`: one episode, shown as it is played."""

from __future__ import annotations

import json as json_module
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from weigh.games.game import Move, Seat, State
from weigh.harness.cli.human import People
from weigh.harness.cli.options import (
    BaseUrlOption,
    ConfigOption,
    MaxTokensOption,
    SettingOption,
    StyleOption,
    TemperatureOption,
    number,
    whole,
)
from weigh.harness.cli.output import print_json, print_note, print_sections, print_text
from weigh.harness.cli.outputs import check_output
from weigh.harness.cli.seating import seating, watching
from weigh.harness.cli.serving import ServeOption, port_misread, served
from weigh.harness.cli.tell import NOT_BY_SEAT, narrate, seats_named
from weigh.harness.errors import Refused
from weigh.harness.report.render.document import Column, Section, Table, cells
from weigh.harness.results.export import write_atomically
from weigh.harness.run.folder import require_room
from weigh.harness.run.play.single import Asked, Following, Single, play_single, prepare, unknown_seed
from weigh.harness.run.signals import require_own_loop
from weigh.harness.store.calls import Void
from weigh.harness.store.record import Decision, Record
from weigh.harness.store.usage import Usage
from weigh.harness.words import money, plural, shown, tokens_in_out
from weigh.policies.human import NAME as HUMAN


def play(
    context: typer.Context,
    game: Annotated[str, typer.Argument(metavar="GAME", help="A game; `weigh games` lists them.")],
    entrants: Annotated[
        list[str],
        typer.Argument(
            metavar="ENTRANT...", help="One per seat: match, random, PROMPT.md@provider:model, @name, human."
        ),
    ],
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=whole(0),
            help="Deal, aliases and scripted chance follow from it. Default 0; with a human, a new one.",
        ),
    ] = None,
    setting: SettingOption = None,
    config: ConfigOption = None,
    style: StyleOption = None,
    max_tokens: MaxTokensOption = None,
    temperature: TemperatureOption = None,
    base_url: BaseUrlOption = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", parser=number(0, above=True), help="For one attempt at one decision.")
    ] = 60.0,
    save: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the episode and every model call in this run folder.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the record as JSON to this file.")] = None,
    serve: ServeOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print the record as JSON and nothing else.")] = False,
) -> None:
    """Play one episode and show it round by round.

    The options from --style to --base-url are for entrants PROMPT.md@provider:model; an @name plays as its config says.
    With --save, every model call is kept as it returns: after a crash or Ctrl-C the same command goes on from there,
    and once the episode is finished it shows it again, without a call.

    With --serve, a page on this machine shows the episode as it is played, at an address that is told on standard error
    and cannot be guessed. It is there until the episode is over; pages that are open then are told so, and keep
    what they show.

    The entrant human is you: shown what your seat may know, asked until your move is legal, and in no hurry. Several
    humans share the screen, or with --serve have a page each. A line for each move may be piped in instead; one that is
    no legal move ends the command. Before the episode is over nothing that is shown says who the others are or what
    they hid; who typed the command knows the first. Without --seed the deal is a new one each time, and the seed is
    told at the end; a run folder (--save) keeps it and goes on with it. The folder also keeps what models were asked
    and answered in the round that is still open: nothing hides it from who opens the folder on this machine.

      weigh play goofspiel match hoard random random --seed 7
      weigh play goofspiel mine.md@openai:gpt-5-mini match --set cards=6 --save results/try
      weigh play oshi_zumo oshi_zumo/plain.md@local:smollm2 match --style schema --temperature 0
      weigh play oshi_zumo @careful random --config ladder.toml --out record.json
      weigh play ballast human steady --save results/me
      weigh play goofspiel human match --serve

    Exit codes: 0 played; 2 bad usage, config or input, or a missing key; 4 a provider failed; 130 interrupted.
    """
    require_own_loop()
    drawn = seed is None and HUMAN in entrants
    chosen = unknown_seed(save) if drawn else seed or 0
    asked = Asked(chosen, timeout, config, style, max_tokens, temperature, base_url)
    seats = [seat for seat, word in enumerate(entrants) if word == HUMAN]
    people = People(seats) if seats else None
    with port_misread(context.obj):
        single = prepare(game, entrants, settings_given(setting or []), asked, people)
    _require_writable(out)
    if out is not None:
        check_output("--out", out, [*(each.partition("@")[0] or each for each in entrants), *filter(None, [config])])
    with served(serve) as server:
        following = seating(single, people, server)
        if not json:
            following = _narrated(following, single, None if drawn else single.seed)
        played = play_single(single, save, following, print_note, shlex.join(["weigh", *context.obj]))
    record = played.record
    if out is not None:
        write_atomically(out, json_module.dumps(record.model_dump(mode="json"), indent=2) + "\n")
    if json:
        print_json(record.model_dump(mode="json"))
        return
    _conclude(record, played.usage)
    if drawn:
        print_text(f"seed {single.seed}")
    if save is not None:
        print_note(f"kept in {save}; `weigh verify {shlex.quote(str(save))}` recomputes it")
    if out is not None:
        print_note(f"record in {out}; `weigh verify {shlex.quote(str(out))}` recomputes it")
    if save is None and out is None:
        print_note("not kept: --out FILE writes the record, --save DIR keeps every model call too")


def _narrated(following: Following, single: Single, seed: int | None) -> Following:
    """`following`, and the terminal, which is told of every step; `seed` is told where anybody may know it."""
    narrator = _Narrator(single.aliases, afterwards=single.people is not None)

    def started() -> None:
        following.started()
        _introduce(single, seed)
        narrator.step_played(single.start(), {}, ())

    def ended(result: Record | Void | str) -> None:
        following.ended(result)
        if not isinstance(result, str):
            narrator.tell()

    return replace(following, started=started, watch=watching(narrator, following.watch), ended=ended)


def settings_given(words: list[str]) -> dict[str, Any]:
    """`KEY=VALUE` words as a game config: values are JSON, or plain text where they are not."""
    settings: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise Refused(f"--set {word}: write KEY=VALUE, e.g. --set cards=6", kind="not-key-value")
        if key in settings:
            raise Refused(f"--set {key}: given twice", kind="given-twice")
        try:
            settings[key] = json_module.loads(value)
        except (ValueError, RecursionError):
            settings[key] = value
    return settings


def _require_writable(out: Path | None) -> None:
    """Refuse, before anything is paid for, a file that could not be written afterwards."""
    if out is None:
        return
    if out.is_dir():
        raise Refused(f"--out {out}: is a folder; give the name of a file", kind="target-is-folder")
    if not out.absolute().parent.is_dir():
        raise Refused(f"--out {out}: its folder does not exist", kind="no-folder")
    require_room(out.absolute().parent)


def _introduce(single: Single, seed: int | None) -> None:
    print_text(single.episode.game if seed is None else f"{single.episode.game}, seed {seed}")
    if single.people is not None:
        # Who the others are, a person learns when the episode is over.
        own = "you" if len(single.people.seats) == 1 else "a person"
        for seat, alias in enumerate(single.aliases):
            print_text(f"seat {seat}  {alias:<10} {own if seat in single.people.seats else ''}".rstrip())
        return
    for seat, (name, alias) in enumerate(zip(single.names, single.aliases, strict=True)):
        model = single.division.policies[name].model
        print_text(f"seat {seat}  {alias:<10} {shown(name)}{f'  ({shown(model)})' if model else ''}")


class _Narrator:
    """Shows each step once it is sealed: who did not move at the first attempt, and the events it made.

    With `afterwards`, once the episode is over: a reply that was no legal move, quoted among its faults, may hold what
    a seat that is still playing must not know.
    """

    def __init__(self, aliases: tuple[str, ...], afterwards: bool) -> None:
        self._aliases = aliases
        self._shown = 0
        self._kept: list[tuple[State, tuple[Decision, ...]]] | None = [] if afterwards else None

    def step_played(self, state: State, moves: Mapping[Seat, Move], decisions: tuple[Decision, ...]) -> None:
        if self._kept is None:
            self.show(state, decisions)
        else:
            self._kept.append((state, decisions))

    def tell(self) -> None:
        """What was kept until now."""
        for state, decisions in self._kept or ():
            self.show(state, decisions)

    def show(self, state: State, decisions: Sequence[Decision] = ()) -> None:
        rows = []
        for decision in decisions:
            if decision.faults:
                causes = ", then ".join(f"{note.fault} ({note.detail})" for note in decision.faults)
                rows.append(("", f"{self._aliases[decision.seat]} moved by {decision.by} after {causes}"))
        events = state.events
        rows += [(f"{event.kind:<8}", narrate(event, self._aliases)) for event in events[self._shown :]]
        self._shown = len(events)
        if rows:
            _print_rows(rows)


def _print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Columns without headings, the last of sentences."""
    columns = [Column("", numeric=False) for _ in rows[0][:-1]]
    table = Table("", (*columns, Column("", numeric=False, prose=True)), cells(rows))
    print_sections([Section("", blocks=(table,))])


def _conclude(record: Record, usage: Mapping[int, Usage]) -> None:
    print_text(f"\n{record.reason}: {record.ending}")
    rows = []
    for seat in sorted(range(len(record.scores)), key=lambda seat: -record.scores[seat]):
        rows.append(
            (f"{record.scores[seat]:+.4f}", record.aliases[seat], record.entrants[seat], _measured(record, seat))
        )
        if record.models[seat]:
            rows.append(("", "", "", _conduct(record, seat, usage.get(seat))))
    _print_rows(rows)
    whole = [f"{key} {_figure(value)}" for key, value in record.measures.items() if isinstance(value, int | float)]
    named = {key: seats_named(key, value, record.aliases) for key, value in record.measures.items()}
    whole += [f"{key} {seats}" for key, seats in named.items() if seats is not None]
    if whole:
        print_text(", ".join(whole))


def _measured(record: Record, seat: int) -> str:
    """What the game reports of one seat: every measure with one number per seat."""
    parts = []
    for key, values in record.measures.items():
        if isinstance(values, list) and len(values) == len(record.scores) and key not in NOT_BY_SEAT:
            value = values[seat]
            if value is None or isinstance(value, int | float):
                parts.append(f"{key} {_figure(value)}")
    return ", ".join(parts)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _conduct(record: Record, seat: int, used: Usage | None) -> str:
    """How a model came by its moves, and what that took."""
    by = [decision.by for decision in record.decisions if decision.seat == seat]
    parts = [f"moves: {by.count('model')} first try, {by.count('retry')} retry, {by.count('fallback')} fallback"]
    if used is not None and used.calls:
        parts.append(plural(used.calls, "call"))
        parts.append(tokens_in_out(used.input_tokens, used.output_tokens, used.unknown_usage_calls))
        parts.append(money(used.cost_known_usd, used.unknown_cost_calls))
        if used.latency.mean is not None:
            parts.append(f"{used.latency.mean:.2f} s a call")
    return "; ".join(parts)
