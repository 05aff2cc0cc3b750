"""Runs every bench, or those named: `python -m benches [NAME...]`.

What a bench prints that has a section in docs/explanation/validation.md is written there too, below the bench's own
words: between the comment that names its command and the next one.
"""

from __future__ import annotations

import io
import re
import sys
from contextlib import redirect_stdout
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import benches

PAGE = Path(__file__).resolve().parents[1] / "docs" / "explanation" / "validation.md"
SECTION = re.compile(r"(<!-- python -m benches (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
"""The opening comment, the bench, and the closing comment."""


class Copied(io.StringIO):
    """Keeps what is printed, and prints it."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)
        return super().write(text)

    def flush(self) -> None:
        sys.__stdout__.flush()


def section(bench: ModuleType, printed: str) -> str:
    """What stands between the comments of a bench."""
    return f"{cleandoc(bench.__doc__ or '')}\n\n{printed.strip()}\n"


def write(name: str, told: str) -> None:
    """Put it into the page, where the page has a section for this bench."""
    page = PAGE.read_text(encoding="utf-8")
    written = SECTION.sub(lambda at: f"{at[1]}{told}{at[3]}" if at[2] == name else at[0], page)
    if written != page:
        PAGE.write_text(written, encoding="utf-8")


def main(names: list[str]) -> int:
    known = [module.name for module in iter_modules(benches.__path__) if not module.name.startswith("_")]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no bench {', '.join(unknown)} (benches: {', '.join(known)})", file=sys.stderr)
        return 2
    for name in names or known:
        print(f"== {name}")
        bench = import_module(f"benches.{name}")
        with redirect_stdout(Copied()) as kept:
            bench.main()
        write(name, section(bench, kept.getvalue()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
