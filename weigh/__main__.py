"""`python -m weigh`: the command line."""

from __future__ import annotations

from weigh.harness.cli.app import main

if __name__ == "__main__":
    main()
