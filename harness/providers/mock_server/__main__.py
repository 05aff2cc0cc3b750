"""`python -m weigh.harness.providers.mock_server [JSON]`: the server as a program for programs.

It prints one JSON line with its addresses when it is ready, and stops on SIGTERM or when its standard input, a pipe,
ends. People use `weigh mock-server`, which says more and does not depend on standard input.
"""

from __future__ import annotations

import json
import sys

from weigh.harness.providers.mock_server.options import read_options
from weigh.harness.providers.mock_server.process import Addresses, CannotListen, serve


def main(settings: str = "{}") -> int:
    """Run until told to stop. 0 after a clean stop, 2 for a setting that is wrong or an address that is taken."""
    try:
        serve(read_options(json.loads(settings)), _announce, with_stdin=True)
    except (ValueError, CannotListen) as error:
        print(f"mock server: {error}", file=sys.stderr)  # noqa: T201 - this is a program's entry
        return 2
    return 0


def _announce(addresses: Addresses) -> None:
    print(json.dumps(addresses.to_json()), flush=True)  # noqa: T201 - the line this program is for


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
