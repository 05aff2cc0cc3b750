"""What is installed is `weigh` and nothing else, from a checkout as from an sdist, beside anybody's files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cli.runner import ENVIRONMENT, ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

LINKS = ("games", "policies", "prompts", "harness")
CELL = """
import asyncio, weigh
async def cell():
    return weigh.play("goofspiel", ["match", "hoard"], seed=7, settings={"cards": 4})
print(len(asyncio.run(cell()).record.moves), weigh.__file__)
"""


def left_out(folder: str, names: list[str]) -> list[str]:
    """What no build may need: what is not in the repository."""
    top = Path(folder) == ROOT
    return [name for name in names if name == "__pycache__" or (top and (name[0] == "." or name == "results"))]


def done(*words: object, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={
            **{name: value for name, value in ENVIRONMENT.items() if name != "PYTHONPATH"},
            **environ,
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        timeout=300,
    )


def well(*words: object, cwd: Path, **environ: str) -> str:
    result = done(*words, cwd=cwd, **environ)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel of the checkout, and the wheel of the sdist of the checkout."""
    home = tmp_path_factory.mktemp("built")
    got = done(sys.executable, "-m", "pip", "install", "-q", "--target", home / "hatch", "hatchling>=1.27,<2", cwd=home)
    if got.returncode:
        pytest.skip(f"the build backend cannot be installed here: {got.stderr.strip().splitlines()[-1:]}")
    shutil.copytree(ROOT, home / "checkout", symlinks=True, ignore=left_out)
    shutil.copy(ROOT / ".gitignore", home / "checkout")

    def build(kind: str, folder: Path) -> Path:
        well(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder / "dist", cwd=folder, **backend)
        (found,) = (folder / "dist").glob("*.whl" if kind == "wheel" else "*.tar.gz")
        return found

    backend = {"PYTHONPATH": str(home / "hatch")}
    wheel = build("wheel", home / "checkout")
    shutil.unpack_archive(build("sdist", home / "checkout"), home / "unpacked", filter="data")
    (sources,) = (home / "unpacked").iterdir()
    return {"checkout": wheel, "sdist": build("wheel", sources)}


@pytest.fixture(scope="module")
def installed(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the path that holds the installed wheel, and nothing of the checkout."""
    site = tmp_path_factory.mktemp("site")
    well(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", site, built["sdist"], cwd=site)
    return site


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder with packages of its own under the names of our top-level folders, none of which may be imported."""
    for name in LINKS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"raise AssertionError('the foreign {name} was imported')\n")
    return tmp_path


def test_both_wheels_are_equal_and_hold_only_weigh(built: dict[str, Path]) -> None:
    held = []
    for path in built.values():
        with zipfile.ZipFile(path) as wheel:
            held.append({name: wheel.read(name) for name in wheel.namelist()})
    assert held[0] == held[1]
    tops = {name.partition("/")[0] for name in held[0]}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"weigh"}
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "weigh").glob("*.py")}
    modules |= {
        f"weigh/{path.relative_to(ROOT).as_posix()}"
        for link in LINKS
        for path in (ROOT / link).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert modules <= set(held[0])


@pytest.mark.parametrize("before", ["", "."])
def test_the_command_runs_beside_packages_of_the_same_names(installed: Path, foreign: Path, before: str) -> None:
    path = os.pathsep.join(filter(None, [before, str(installed)]))
    words = [sys.executable, "-m", "weigh", "play", "goofspiel", "match", "hoard", "--set", "cards=4"]
    assert "goofspiel, seed 0" in well(*words, cwd=foreign, PYTHONPATH=path)
    moves, place = well(sys.executable, "-c", CELL, cwd=foreign, PYTHONPATH=path).split()
    assert int(moves) > 0
    assert Path(place).is_relative_to(installed)


def test_the_demo_runs_from_a_wheel_in_a_folder_without_a_checkout(installed: Path, foreign: Path) -> None:
    told = well(sys.executable, "-m", "weigh", "demo", "--mock", cwd=foreign, PYTHONPATH=str(installed))
    assert "results/demo-mock: OK, 60 records" in told
    assert (foreign / "results" / "demo-mock" / "view.html").is_file()
    again = well(sys.executable, "-m", "weigh", "verify", "results/demo-mock", cwd=foreign, PYTHONPATH=str(installed))
    assert "60 records" in again


def test_a_stranger_named_games_comes_and_goes_beside_it(built: dict[str, Path], tmp_path: Path) -> None:
    stranger = tmp_path / "stranger-1.0-py3-none-any.whl"
    with zipfile.ZipFile(stranger, "w") as wheel:
        info = "stranger-1.0.dist-info"
        wheel.writestr("games/__init__.py", "WHOSE = 'a stranger'\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    well(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    pip = [python, "-m", "pip", "--disable-pip-version-check", "-q"]

    def ours() -> set[str]:
        code = "import pathlib, weigh.games; print(*pathlib.Path(weigh.__file__).parent.rglob('*.py'))"
        return set(well(python, "-c", code, cwd=tmp_path).split())

    well(*pip, "install", "--no-deps", built["checkout"], cwd=tmp_path)
    before = ours()
    well(*pip, "install", stranger, cwd=tmp_path)
    assert well(python, "-c", "import games; print(games.WHOSE)", cwd=tmp_path) == "a stranger\n"
    assert ours() == before
    well(*pip, "uninstall", "-y", "stranger", cwd=tmp_path)
    assert ours() == before
    well(*pip, "install", stranger, cwd=tmp_path)
    well(*pip, "uninstall", "-y", "weigh", cwd=tmp_path)
    assert well(python, "-c", "import games; print(games.WHOSE)", cwd=tmp_path) == "a stranger\n"


def test_a_checkout_whose_links_are_text_says_so_in_one_line(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "weigh", tmp_path / "weigh", symlinks=True, ignore=left_out)
    for name in LINKS:
        (tmp_path / "weigh" / name).unlink()
        (tmp_path / "weigh" / name).write_text(f"../{name}")
    command = done(sys.executable, "-m", "weigh", "games", cwd=tmp_path, PYTHONPATH=".")
    script = done(sys.executable, "-c", "import weigh", cwd=tmp_path, PYTHONPATH=".")
    assert command.returncode == script.returncode == 1
    (line,) = command.stderr.splitlines()
    assert "pip install" in line
    assert script.stderr.splitlines()[-1] == f"ImportError: {line}"


def test_the_linter_reads_every_file_once() -> None:
    files = well(sys.executable, "-m", "ruff", "check", "--show-files", ".", cwd=ROOT).split()
    inside = {Path(file).relative_to(ROOT).parts[:2] for file in files if Path(file).is_relative_to(ROOT / "weigh")}
    assert inside == {("weigh", path.name) for path in (ROOT / "weigh").glob("*.py")}
