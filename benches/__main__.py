"""Runs every bench, or those named: `python -m benches [NAME...]`."""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import iter_modules

import benches


def main(names: list[str]) -> int:
    known = [module.name for module in iter_modules(benches.__path__) if not module.name.startswith("_")]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no bench {', '.join(unknown)} (benches: {', '.join(known)})", file=sys.stderr)
        return 2
    for name in names or known:
        print(f"== {name}")
        import_module(f"benches.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
