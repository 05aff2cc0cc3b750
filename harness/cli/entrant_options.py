"""The options that say how entrants of the command line play, for every command that takes such entrants.

Owns their words and what they are read by. `harness.cli.single` has what they mean.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.options import number, one_of, whole
from policies.contract import STYLES

ConfigOption = Annotated[
    Path | None, typer.Option(metavar="CONFIG.toml", help="A ladder config that defines @names and [models].")
]
StyleOption = Annotated[
    str | None,
    typer.Option(metavar="STYLE", parser=one_of(STYLES), help="How to ask: reason-then-json, json-only, schema."),
]
MaxTokensOption = Annotated[
    int | None, typer.Option(metavar="N", parser=whole(1), help="Cap on one reply, hidden reasoning included.")
]
TemperatureOption = Annotated[
    float | None, typer.Option(metavar="T", parser=number(0, 2), help="0 is sent as 0; default: the provider's.")
]
BaseUrlOption = Annotated[
    str | None, typer.Option(metavar="URL", help="Where models are asked, e.g. http://127.0.0.1:8000/v1.")
]
