"""Real ladders as a person runs them: a config file, a `weigh` process, and the mock server in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weigh.harness.providers.mock_server import MockServerProcess
from weigh.harness.store.calls import Call, Void
from weigh.harness.store.store import Store

ROOT = Path(__file__).parents[2]
KEY = "sk-test-3f9c1d7be2a04c55aa17"
PATIENCE = 120.0
"""Seconds after which a ladder that does not end has failed its test."""


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    code: int
    """Its exit code; minus the number of the signal that killed it."""
    out: str
    err: str

    def __str__(self) -> str:
        return f"exit code {self.code}\n{self.out}\n{self.err}"


@dataclass
class Ladder:
    """One config in a folder of its own, and the run it makes."""

    folder: Path
    text: str
    environ: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in ("plain", "bold"):
            (self.folder / f"{name}.md").write_text(f"---\nname: {name}\n---\nPlay in a {name} way.\n")
        self.write(self.text)

    @property
    def config(self) -> Path:
        return self.folder / "ladder.toml"

    @property
    def run(self) -> Path:
        return self.folder / "results" / "ladder"

    def write(self, text: str) -> None:
        self.config.write_text(text)

    def start(self, *words: str, **environ: str) -> subprocess.Popen[str]:
        return start("ladder", str(self.config), *words, **{**self.environ, **environ})

    def play(self, *words: str, **environ: str) -> Ended:
        return ended(self.start(*words, **environ))

    @contextmanager
    def _store(self) -> Iterator[Store]:
        with Store.open(self.run, readonly=True) as store:
            yield store

    @property
    def records(self) -> list[str]:
        """The finished episodes in the order a reader gets them, without their times."""
        with self._store() as store:
            return [record.comparable() for record in store.records()]

    @property
    def calls(self) -> list[Call]:
        with self._store() as store:
            return list(store.calls())

    @property
    def voids(self) -> list[Void]:
        with self._store() as store:
            return list(store.voids())

    @property
    def status(self) -> str:
        with self._store() as store:
            return store.status

    def count(self, what: str) -> int:
        """Rows of a table, 0 before there is a run: cheap enough to ask again and again."""
        import sqlite3

        path = self.run / "run.sqlite"
        if not path.is_file():
            return 0
        db = sqlite3.connect(path)
        try:
            return int(db.execute(f"SELECT count(*) FROM {what}").fetchone()[0])
        finally:
            db.close()


def start(*words: str, **environ: str) -> subprocess.Popen[str]:
    """Start `weigh` with these words, without keys and proxies of the machine."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_API_KEY") and not name.lower().endswith("_proxy")
    }
    return subprocess.Popen(
        [sys.executable, "-m", "weigh.harness.cli.app", *words],
        cwd=ROOT,
        env={**inherited, **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str], patience: float = PATIENCE) -> Ended:
    """Wait for a process to end, and end it if it does not."""
    try:
        out, err = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"still running after {patience:g} s\n{out}\n{err}") from None
    return Ended(process.returncode, out, err)


def weigh(*words: str, **environ: str) -> Ended:
    return ended(start(*words, **environ))


def when(process: subprocess.Popen[str], holds: Callable[[], bool], patience: float = 60.0) -> None:
    """Wait until something is the case while a process runs."""
    end = time.monotonic() + patience
    while not holds():
        if process.poll() is not None or time.monotonic() > end:
            process.kill()
            raise AssertionError(f"it was never the case\n{ended(process)}")
        time.sleep(0.005)


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def config(
    server: MockServerProcess | None,
    *,
    entrants: Sequence[tuple[str, str]],
    games: str = "[games.goofspiel]\nseats = 4\ncards = 5\nblocks = 2\n",
    limits: str = "",
    models: str = "",
    seed: int = 5,
) -> str:
    """A config whose models lie on the mock server: `chat:NAME` by OpenAI's wire, `claude:NAME` by Anthropic's."""
    lines = ['name = "ladder"', f"seed = {seed}", "baselines = false", games, "[entrants]"]
    lines += [f'{name} = "{word}"' for name, word in entrants]
    if server is not None:
        lines += ["[models.chat]", f'base_url = "{server.openai_url}"', 'wire = "openai-chat"']
        lines += ["[models.claude]", f'base_url = "{server.anthropic_url}"', 'wire = "anthropic"']
    return "\n".join([*lines, models, "[limits]", limits, ""])


def texts_of(body: Mapping[str, Any]) -> tuple[str, ...]:
    """What a request on either wire says: model, then every turn's text."""
    turns = [body["system"], *(turn["content"] for turn in body["messages"])] if "system" in body else None
    turns = turns or [turn["content"] for turn in body["messages"]]
    return (body["model"], *(_plain(turn) for turn in turns))


def _plain(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def texts_sent(call: Call) -> tuple[str, ...]:
    """The same of a call that a run has kept."""
    return (call.request.model.partition(":")[2], *(message.text for message in call.request.messages))
