"""Every refusal and failure that ends a command, drawn as one tree, and the exit code of each.

    WeighError                  one line or more for a person; `kind` for programs and tests       exit code
    ├── Refused                 a command cannot do what it was asked                                 2, or `code`
    ├── Unusable                what was given cannot be used; nothing was changed                    2
    │   ├── ConfigError         a config, or an entrant on the command line
    │   ├── EndpointInvalid     a model name or an endpoint setting
    │   ├── ScheduleInvalid     a table or a number of blocks that no design has
    │   ├── RowsInvalid         rows from which no ladder can be made
    │   ├── BaselineInvalid     a gate's baseline file
    │   ├── StoreRefused        a run that does not take what is asked of it
    │   └── TooLarge            a run that does not fit into one page
    └── Failed                  something underway failed; what was kept before stays readable        4
        ├── StoreFailed         a run could not be written or read
        └── LocalModelFailed    the embedded model cannot be found, started or kept running

    Below harness/, and mapped alike by `exit_code`
    games.game.GameError            a config, deal, move or step that the rules refuse                2
    policies.scripted.registry.UnknownPolicy, policies.operator_prompt.PromptInvalid                          2
    policies.contract.ProviderFailure                                                                 4
        Outage (nobody is charged: the episode is void) and Fatal (the run stops, resumable)

    Anything else that reaches the command line is a bug, told as an internal error                   4

No error of this tree is ever charged to a policy: what a policy is charged with are faults (`policies.contract.Fault`),
which are data and never raised past the decision they belong to.

Exit codes are a contract
    0    fine, or a check passed
    1    the checked thing is wrong: a regression, a record that does not re-derive
    2    usage, bad config, bad input
    3    inconclusive
    4    invalid: infrastructure, a ceiling reached, too many void episodes
    130  interrupted
"""

from __future__ import annotations

from typing import ClassVar, Final

FINE: Final = 0
WRONG: Final = 1
USAGE: Final = 2
INCONCLUSIVE: Final = 3
INVALID: Final = 4
INTERRUPTED: Final = 130


class WeighError(Exception):
    """What a person is told in `lines`, each saying what, where and what to do. `kind` names the reason for programs
    and tests, so that words may change; `code` is the exit code."""

    default_kind: ClassVar[str] = "failed"
    default_code: ClassVar[int] = INVALID

    def __init__(self, *lines: str, kind: str | None = None, code: int | None = None) -> None:
        super().__init__("\n".join(lines))
        self.lines = tuple(line for text in lines for line in text.splitlines())
        self.kind = self.default_kind if kind is None else kind
        self.code = self.default_code if code is None else code


class Refused(WeighError):
    """A command cannot do what it was asked."""

    default_kind = "refused"
    default_code = USAGE


class Unusable(WeighError):
    """What was given cannot be used; nothing was changed."""

    default_kind = "unusable"
    default_code = USAGE


class ConfigError(Unusable):
    """A config, or an entrant on the command line, cannot be used. `lines` name every problem found, one line each."""

    default_kind = "config"


class EndpointInvalid(Unusable, ValueError):
    """A model name or an endpoint setting cannot be used. One line that says what to write instead."""

    default_kind = "endpoint"


class ScheduleInvalid(Unusable, ValueError):
    """A schedule cannot be made from what was asked for. One line a person can act on."""

    default_kind = "schedule"


class RowsInvalid(Unusable, ValueError):
    """Rows from which no ladder can be made. One line a person can act on."""

    default_kind = "rows"


class BaselineInvalid(Unusable):
    """A file is no baseline that this version of weigh reads. One line."""

    default_kind = "baseline"


class StoreRefused(Unusable, ValueError):
    """What was asked cannot be done with this run as it is; nothing was changed. One line, for the person who asked."""

    default_kind = "run"


class TooLarge(Unusable, ValueError):
    """A run does not fit into one page. One line that says what does."""

    default_kind = "too-large"


class Failed(WeighError):
    """Something failed underway; what was kept before stays readable."""


class StoreFailed(Failed):
    """Keeping or reading a run failed underway. What was kept before stays readable. One line with what to do."""

    default_kind = "store"


class LocalModelFailed(Failed):
    """An embedded model cannot be found, started or kept running. One line that says what to do."""

    default_kind = "local-model"


def exit_code(error: Exception) -> int | None:
    """The exit code that an error stands for; None for what is no refusal and no failure of this tree: a bug."""
    if isinstance(error, WeighError):
        return error.code
    from weigh.games.game import GameError
    from weigh.policies.contract import ProviderFailure
    from weigh.policies.operator_prompt import PromptInvalid
    from weigh.policies.scripted.registry import UnknownPolicy

    if isinstance(error, GameError | UnknownPolicy | PromptInvalid):
        return USAGE
    return INVALID if isinstance(error, ProviderFailure) else None


def kind_of(error: Exception) -> str | None:
    """The short, stable name of what an error refuses or reports; None for a bug."""
    if isinstance(error, WeighError):
        return error.kind
    if isinstance(error, OSError) and error.filename is not None:
        return "path"
    from weigh.games.game import GameError
    from weigh.policies.contract import ProviderFailure
    from weigh.policies.operator_prompt import PromptInvalid
    from weigh.policies.scripted.registry import UnknownPolicy

    kinds: dict[type[Exception], str] = {
        GameError: "rules",
        UnknownPolicy: "unknown-policy",
        PromptInvalid: "prompt-invalid",
        ProviderFailure: "provider",
    }
    return next((kind for type_, kind in kinds.items() if isinstance(error, type_)), None)
