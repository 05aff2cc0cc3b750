"""`python -m weigh.harness.providers.mock_server`: the server as a program for programs.

It prints one JSON line with its addresses when it is ready, and stops on SIGTERM or when its standard input ends.
People use `weigh mock-server`, which says more and does not depend on standard input.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from weigh.harness.providers.mock_server.options import Options
from weigh.harness.providers.mock_server.plan_file import load_plan, plan_document
from weigh.harness.providers.mock_server.running import Addresses, CannotListen, serve

_TEXTS = ("host", "latency", "faults", "answer_style", "constant")
_WHOLE = ("port", "seed", "log_size")
_DECIMAL = ("requests_per_minute", "notes_share")


def main(arguments: list[str] | None = None) -> int:
    """Run until told to stop. 0 after a clean stop, 2 for a setting that is wrong or an address that is taken."""
    try:
        options = _options(arguments)
        serve(options, _announce, with_stdin=True)
    except (ValueError, CannotListen) as error:
        print(f"mock server: {error}", file=sys.stderr)  # noqa: T201 - this is a program's entry
        return 2
    return 0


def _options(arguments: list[str] | None) -> Options:
    """The settings of a command line. A flag wins over `--options`; flags are the settings with dashes."""
    parser = argparse.ArgumentParser(prog="python -m weigh.harness.providers.mock_server", description=__doc__)
    parser.add_argument("--options", default="{}", help="settings as a JSON object")
    parser.add_argument("--plan", type=Path, help="a fault plan, TOML or JSON")
    parser.add_argument("--model", dest="models", action="append", help="a model to list; may be repeated")
    parser.add_argument("--only-listed", action="store_true", default=None, help="answer 404 for other models")
    for names, kind in ((_TEXTS, str), (_WHOLE, int), (_DECIMAL, float)):
        for name in names:
            parser.add_argument(f"--{name.replace('_', '-')}", type=kind)
    given = {name: value for name, value in vars(parser.parse_args(arguments)).items() if value is not None}
    settings = json.loads(given.pop("options"))
    if "plan" in given:
        given["plan"] = plan_document(load_plan(given["plan"]))
    return Options.from_json({**settings, **given})


def _announce(addresses: Addresses) -> None:
    print(json.dumps(addresses.to_json()), flush=True)  # noqa: T201 - the line this program is for


if __name__ == "__main__":
    sys.exit(main())
