"""`weigh prompt show` and `weigh diff-prompts`: what a model is really sent, and where two prompts differ in it."""

from __future__ import annotations

import asyncio
import json as json_module
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weigh.harness.cli.help import Group, Page
from weigh.harness.cli.options import JsonFlag, SettingOption, whole
from weigh.harness.cli.output import print_json, print_rich, print_text
from weigh.harness.errors import WRONG, Refused

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.text import Text

    from weigh.games.game import AnyGame
    from weigh.harness.config.entrants import EntrantSpec
    from weigh.harness.config.prompt_files import PromptFile
    from weigh.harness.planning.prompt_comparison import Compared, Comparison, Side
    from weigh.harness.providers.endpoints.endpoints import EndpointSettings
    from weigh.policies.prompted import PromptedPolicy

NO_MODEL = "none:none"
"""Stands for the model of a prompt file that is compared alone; never asked and never shown."""

COLOURS = {"same": "", "gone": "red", "new": "green", "place": "cyan"}

MOST_HIDDEN = 12
"""Characters that are named, of those that had to be escaped."""


prompt = typer.Typer(
    help="""
    Show exactly what a prompt sends to a model, round by round.

      weigh prompt show goofspiel goofspiel/tempo.md --round 3

    Exit codes: see `weigh prompt show --help`.
    """,
    cls=Group,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@prompt.callback()
def _prompt() -> None:
    """A group with one command would otherwise lose its name."""


@prompt.command("show", cls=Page)
def show(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A game; `weigh games` lists them.")],
    entrant: Annotated[
        str, typer.Argument(metavar="ENTRANT", help="A prompt file, PROMPT.md@provider:model, or @name.")
    ],
    round_: Annotated[
        int, typer.Option("--round", metavar="N", parser=whole(1), help="Which question of the episode, from 1.")
    ] = 1,
    setting: SettingOption = None,
    config: Annotated[
        Path | None, typer.Option(metavar="CONFIG.toml", help="A ladder config that defines @names.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Print exactly what a model is sent in a round, how many tokens that is, and the share read from a cache.

    The prompt is seated in an episode in which scripted policies move. Nobody is asked, and no key is needed. The
    cached share is by the rules that the model's provider documents, after the earlier questions of the same episode.
    With --json, the body of the request as well.

      weigh prompt show goofspiel goofspiel/tempo.md
      weigh prompt show goofspiel mine.md@anthropic:claude-opus-5-5 --round 13
      weigh prompt show ballast @careful --config ladder.toml --json

    Exit codes: 0 shown; 2 bad usage or input.
    """
    from weigh.games.registry import read_config
    from weigh.harness.cli.commands.play import settings_given
    from weigh.harness.planning.prompt_comparison import questions, sent, tokens
    from weigh.harness.providers.endpoints.endpoints import endpoint_for
    from weigh.harness.words import plural, shown
    from weigh.policies.show import escaped

    known, models = _known(config)
    spec = _spec(entrant, known)
    rules = _game(game, (entrant,), (spec,))
    policy = _policy(entrant, spec, rules, read_config(rules, settings_given(setting or [])))
    asked = asyncio.run(questions(policy))
    if round_ > len(asked):
        raise Refused(f"--round {round_}: the episode has {plural(len(asked), 'question')}", kind="no-such-round")
    question = asked[round_ - 1]
    request = question.request
    leaves = None if spec.model is None else sent(asked[:round_], endpoint_for(spec.model, models))[-1]
    count = tokens(question.characters) if leaves is None else leaves.tokens
    if json:
        print_json(
            {
                "game": rules.name,
                "entrant": entrant,
                "model": spec.model,
                "round": round_,
                "rounds": len(asked),
                "messages": [{"role": message.role, "text": message.text} for message in request.messages],
                "schema": request.schema,
                "tokens": count,
                "cached_tokens": None if leaves is None else leaves.cached,
                "cached_share": None if leaves is None else leaves.cached / leaves.tokens,
                "body": None if leaves is None else leaves.body,
            }
        )
        return
    cached = "" if leaves is None else f", {leaves.cached / leaves.tokens:.0%} of them read from the prompt cache"
    print_text(f"{shown(entrant)} in {rules.name}, question {round_} of {len(asked)}: about {count:,} tokens{cached}")
    for message in request.messages:
        print_text(f"\n--- {message.role}\n{escaped(message.text)}")
    if request.schema is not None:
        print_text(f"\n--- schema\n{json_module.dumps(request.schema)}")


def diff_prompts(
    first: Annotated[str, typer.Argument(metavar="A", help="A prompt file, PROMPT.md@provider:model, or @name.")],
    second: Annotated[str, typer.Argument(metavar="B", help="What it is compared with, likewise.")],
    game: Annotated[
        str | None, typer.Option(metavar="GAME", help="The game; needed where both prompts suit several.")
    ] = None,
    setting: SettingOption = None,
    config: Annotated[
        Path | None, typer.Option(metavar="CONFIG.toml", help="A ladder config that defines @names.")
    ] = None,
    step: Annotated[
        int | None,
        typer.Option(metavar="N", parser=whole(0), help="Show the question at this step of the episode, from 0."),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Show every question of the episode.")] = False,
    words: Annotated[bool, typer.Option("--words", help="Mark changed words instead of changed lines.")] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with 1 when a model is sent something else.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Show where two prompts differ in what a model is really sent.

    Both are seated in the same episode, in which scripted policies move, and the whole messages are compared: rules,
    how to answer, advice, position. Nobody is asked, and no key is needed. Without --step or --all it is the first
    question. What the eye cannot tell (trailing blanks, odd blanks, letters of other scripts) is written as an escape
    and named.

      weigh diff-prompts prompts/mine.md prompts/new.md --game goofspiel
      weigh diff-prompts goofspiel/plain.md goofspiel/tempo.md --words
      weigh diff-prompts old.md@openai:gpt-5-mini new.md@openai:gpt-5-mini --game ballast --all --exit-code

    Exit codes: 0 compared, whether they differ or not; 1 they differ, with --exit-code; 2 bad usage or input.
    """
    if all_ and step is not None:
        raise Refused("--step and --all: give one of them", kind="options-conflict")
    compared = _compared(first, second, game, setting or [], config)
    steps = _steps(compared, step, all_)
    if json:
        print_json(compared.to_json(steps))
    else:
        print_rich(*_lines(compared, steps, words))
    if exit_code and compared.differs:
        raise typer.Exit(WRONG)


def _compared(first: str, second: str, game: str | None, setting: list[str], config: Path | None) -> Comparison:
    from weigh.games.registry import read_config
    from weigh.harness.cli.commands.play import settings_given
    from weigh.harness.planning.prompt_comparison import SEAT, Comparison

    known, _ = _known(config)
    specs = [_spec(word, known) for word in (first, second)]
    rules = _game(game, (first, second), specs)
    settings = read_config(rules, settings_given(setting))
    sides = [_side(word, spec, rules, settings) for word, spec in zip((first, second), specs, strict=True)]
    return Comparison(
        game=rules.name,
        config=settings.model_dump(mode="json"),
        seats=rules.seat_count(settings),
        seat=SEAT,
        first=sides[0],
        second=sides[1],
    )


def _known(config: Path | None) -> tuple[Mapping[str, EntrantSpec] | None, Mapping[str, EndpointSettings]]:
    """The entrants of a config by name, and its settings of models."""
    if config is None:
        return None, {}
    from weigh.harness.config.config import load_config

    loaded = load_config(config)
    return {spec.name: spec for spec in loaded.entrants}, loaded.model_settings


def _spec(word: str, known: Mapping[str, EntrantSpec] | None) -> EntrantSpec:
    """What a word stands for; a prompt file alone is an entrant without a model. Raises Refused for a script."""
    from weigh.harness.config.entrants import ANY_GAME, EntrantSpec, every_scripted, parse_entrant
    from weigh.harness.config.prompt_files import read_prompt

    if word.startswith("@") or ".md@" in word:
        spec = parse_entrant(word, Path.cwd(), known=known)
    elif word in every_scripted() and not Path(word).exists():
        spec = EntrantSpec(word, scripted=word)
    else:
        file = read_prompt(word, Path.cwd())
        return EntrantSpec(file.prompt.name, prompts={ANY_GAME: file})
    if spec.scripted is not None:
        raise Refused(f"{word} plays {spec.scripted}, a scripted policy: it has no prompt", kind="scripted")
    return spec


def _game(wanted: str | None, words: Sequence[str], specs: Sequence[EntrantSpec]) -> AnyGame:
    """The game asked for, or the only one that both prompts suit."""
    from weigh.games.registry import GAMES, game_named
    from weigh.harness.words import shown

    suited = [[game for game in GAMES if spec.prompt_for(game) is not None] for spec in specs]
    both = [game for game in GAMES if all(game in games for games in suited)]
    if wanted is not None:
        game = game_named(wanted)
        for word, games in zip(words, suited, strict=True):
            if game.name not in games:
                raise Refused(
                    f"{shown(word)} is no prompt for {game.name}, but for {', '.join(games) or 'no game'}",
                    kind="wrong-game",
                )
        return game
    if len(both) == 1:
        return game_named(both[0])
    if both:
        raise Refused(f"both prompts suit {', '.join(both)}: say with --game which it shall be", kind="several-games")
    told = "; ".join(f"{shown(word)}: {', '.join(games)}" for word, games in zip(words, suited, strict=True))
    raise Refused(f"no game suits both prompts ({told})", kind="no-common-game")


def _side(word: str, spec: EntrantSpec, game: AnyGame, config: BaseModel) -> Side:
    from weigh.harness.planning.prompt_comparison import Side, form_of, questions

    file, policy = _file(word, spec, game), _policy(word, spec, game, config)
    return Side(
        word=word,
        file=file,
        form=form_of(_content(file)),
        style=policy.style,
        model=spec.model,
        sampling=spec.sampling if spec.model is not None else None,
        policy=policy.digest if spec.model is not None else None,
        questions=asyncio.run(questions(policy)),
    )


def _file(word: str, spec: EntrantSpec, game: AnyGame) -> PromptFile:
    file = spec.prompt_for(game.name)
    if file is None:
        raise AssertionError(f"{word} does not suit {game.name}, and was let through")
    return file


def _policy(word: str, spec: EntrantSpec, game: AnyGame, config: BaseModel) -> PromptedPolicy:
    """Without a model of its own it stands for any model, and may only be asked what it would send."""
    from weigh.policies.prompted import PromptedPolicy

    file = _file(word, spec, game)
    style = spec.style_with(file)
    return PromptedPolicy(spec.name, file.prompt, spec.model or NO_MODEL, spec.sampling, style, game, config)


def _content(file: PromptFile) -> bytes:
    """The bytes of a file that was read before. Raises Refused when they are not the same any more."""
    from hashlib import sha256

    content = file.place.read_bytes()
    if sha256(content).hexdigest() != file.sha256:
        raise Refused(f"{file.place}: was changed while it was read; run the command again", kind="file-changed")
    return content


def _steps(compared: Comparison, step: int | None, everything: bool) -> Sequence[int]:
    there = [question.step for question in compared.first.questions]
    if everything:
        return there
    if step is None:
        return there[:1]
    if step not in there:
        listed = ", ".join(map(str, there))
        raise Refused(
            f"--step {step}: seat {compared.seat} is not asked then; it is asked at steps {listed}", kind="no-such-step"
        )
    return [step]


def _lines(compared: Comparison, steps: Sequence[int], words: bool) -> Iterator[Text]:
    from rich.text import Text

    from weigh.harness.planning.prompt_diff import by_lines, by_words
    from weigh.harness.words import plural, shown

    asked = len(compared.first.questions)
    seats = plural(compared.seats, "seat")
    yield Text(f"{compared.game}, {seats}: what seat {compared.seat} is asked in an episode of {asked} questions")
    yield from _sizes(compared)
    for change in compared.header:
        note = "" if change.sent else "  (never sent)"
        yield Text(f"{change.key}: {shown(change.first)} -> {shown(change.second)}{note}")
    for line in compared.unsent:
        yield Text(f"file: {line}  (never sent)")
    if not compared.differs:
        yield Text("the same: a model is sent the same messages by both", style="bold")
        return
    if "messages" not in compared.differs:
        yield Text(f"the messages are the same; what differs: {', '.join(compared.differs)}", style="bold")
        return
    if "schema" in compared.differs:
        yield Text(f"only {'A' if compared.first.style == 'schema' else 'B'} also sends a JSON schema of the answer")
    same: list[int] = []
    for message in compared.messages(steps, by_words if words else by_lines):
        if message.same and message.role == "user":
            same.append(message.step)
            continue
        yield from _message(message, compared, words)
    if same:
        where = f"at step {same[0]}" if len(same) == 1 else f"at {len(same)} of {len(steps)} steps"
        yield Text(f"\nuser message {where}: the same", style="bold")


def _sizes(compared: Comparison) -> Iterator[Text]:
    from rich.text import Text

    from weigh.harness.planning.prompt_comparison import tokens
    from weigh.harness.words import shown

    for name, side in (("A", compared.first), ("B", compared.second)):
        question = side.questions[0]
        yield Text(
            f"{name}  {shown(side.word)}: {question.characters:,} characters, about {tokens(question.characters):,} "
            f"tokens; {tokens(side.characters):,} an episode"
        )
        digests = {"file": side.file.sha256, "question": question.digest, "policy": side.policy}
        yield Text("   " + ", ".join(f"{key} {digest[:12]}" for key, digest in digests.items() if digest))
    more = compared.second.questions[0].characters - compared.first.questions[0].characters
    episode = tokens(compared.second.characters) - tokens(compared.first.characters)
    yield Text(f"B - A: {more:+,} characters, about {tokens(more):+,} tokens; {episode:+,} an episode")


def _message(message: Compared, compared: Comparison, words: bool) -> Iterator[Text]:
    from rich.text import Text

    from weigh.harness.words import shown

    where = "system message" if message.role == "system" else f"user message at step {message.step}"
    if message.same:
        yield Text(f"\n{where}: the same", style="bold")
        return
    only = ": only blanks and line breaks differ" if message.diff.respaced else ""
    yield Text(f"\n{where}{only}", style="bold")
    if not words or message.diff.respaced:
        yield Text(f"--- A {shown(compared.first.word)}", style="bold")
        yield Text(f"+++ B {shown(compared.second.word)}", style="bold")
    for line in message.diff.lines:
        text = Text()
        for piece in line:
            marked = _marked(piece.kind, piece.text) if words and not message.diff.respaced else piece.text
            text.append((" " if len(text) else "") + marked, style=COLOURS[piece.kind])
        yield text
    for one in message.diff.hidden[:MOST_HIDDEN]:
        yield Text(f"hidden: {one.named}: {one.first} in A, {one.second} in B", style="yellow")
    if len(message.diff.hidden) > MOST_HIDDEN:
        yield Text(f"hidden: {len(message.diff.hidden) - MOST_HIDDEN} more characters", style="yellow")


def _marked(kind: str, text: str) -> str:
    """Changed words as `git diff --word-diff` writes them."""
    return {"gone": f"[-{text}-]", "new": f"{{+{text}+}}"}.get(kind, text)
