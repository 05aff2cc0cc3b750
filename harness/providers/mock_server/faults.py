"""Shares of faults as one word on the command line: `illegal=0.1,empty=0.02,429=0.05,reset=0.01`.

Owns that word. Faults of the reply are drawn from the request alone, so a request always gets the same one. Faults of
the transport are drawn from the request and how often it was seen, so that sending it again may succeed; they become
rules at the end of the fault plan.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from weigh.harness.providers.mock_server.actions import Cut, Respond
from weigh.harness.providers.mock_server.plan import Rule
from weigh.harness.words import did_you_mean

ReplyFault: TypeAlias = Literal["illegal", "unreadable", "ambiguous", "empty", "truncated", "refused", "timed_out"]
"""A reply that gives no legal move. `timed_out` is never answered."""

REPLY_FAULTS: tuple[ReplyFault, ...] = get_args(ReplyFault)

_SHARE = re.compile(r"(?:0|1|0?\.\d+|0\.\d*|1\.0*)", re.ASCII)
_STATUS = re.compile(r"[45]\d\d", re.ASCII)
_RETRY_AFTER = "1s"


@dataclass(frozen=True, slots=True)
class Faults:
    """Which share of the requests meets which fault."""

    replies: Mapping[ReplyFault, float] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    """Rules for the faults of the transport."""

    def reply(self, draw: float) -> ReplyFault | None:
        """The fault that a draw from [0, 1) stands for."""
        for name, share in self.replies.items():
            draw -= share
            if draw < 0:
                return name
        return None


def parse_faults(text: str) -> Faults:
    """Read `NAME=SHARE,...`: names are the faults of a reply, statuses from 400 to 599, and `reset`.

    A 429 or 503 announces `Retry-After: 1`. Raises ValueError with one line.
    """
    shares: dict[str, float] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, equals, share = (part.strip() for part in item.partition("="))
        if not (name in REPLY_FAULTS or name == "reset" or _STATUS.fullmatch(name)):
            known = (*REPLY_FAULTS, "reset", "429", "500", "503")
            raise ValueError(f"faults {text!r}: no fault is called {name!r}{did_you_mean(name, known)}")
        if not equals or not _SHARE.fullmatch(share):
            raise ValueError(f"faults {text!r}: {item!r} needs a share from 0 to 1, e.g. {name}=0.1")
        if name in shares:
            raise ValueError(f"faults {text!r}: {name!r} is there twice")
        shares[name] = float(share)
    replies = {name: shares.pop(name) for name in REPLY_FAULTS if name in shares}
    for group in (replies, shares):
        if sum(group.values()) > 1 + 1e-9:
            raise ValueError(f"faults {text!r}: the shares of {', '.join(group)} add up to more than 1")
    return Faults(replies, _rules(shares))


def _rules(shares: Mapping[str, float]) -> tuple[Rule, ...]:
    """Rules are asked in turn, so each share is taken of what the rules before it leave."""
    rules = []
    left = 1.0
    for name, share in shares.items():
        if name == "reset":
            action: Respond | Cut = Cut(after=None)
        else:
            status = int(name)
            action = Respond(status=status, retry_after=_RETRY_AFTER if status in (429, 503) else None)
        rules.append(Rule(action=action, name=name, share=min(1.0, share / left) if left > 0 else 0.0))
        left -= share
    return tuple(rules)
