"""The folder of a run, found or made: the one place where a command decides to go on with a run or to refuse.

Owns these decisions. What a run holds is the store's.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from weigh.harness.audit.verify.planned import require_as_planned
from weigh.harness.config.schedule import Episode
from weigh.harness.errors import Refused, StoreFailed
from weigh.harness.store.manifest import Manifest, differences, version_notes
from weigh.harness.store.store import Store, is_run


@contextmanager
def run_in(
    folder: Path,
    manifest: Manifest,
    episodes: Sequence[Episode],
    another: str,
    advice: Callable[[Store], str | None] = lambda store: None,
    given: Mapping[str, int | None] | None = None,
    *,
    note: Callable[[str], None],
) -> Iterator[Store]:
    """The run in `folder`, open for writing: a new one, or the one that is there if it was ordered alike.

    `note` is told which versions differ. Raises Refused when it was ordered otherwise (`another` says how to give this
    one a place of its own, `advice` what else can be done with what is there, `given` is as in `differences`), or when
    nothing can be written there; then nothing is.
    """
    if not holds_run(folder):
        with opened(lambda: Store.create(folder, manifest, episodes)) as store:
            yield store
        return
    with opened(lambda: Store.open(folder)) as store:
        reasons = differences(store.manifest, manifest, given)
        if reasons:
            further = advice(store)
            raise Refused(
                f"{folder} holds a run made under another config; give this one {another}, or put back:",
                *(f"  {line}" for line in reasons),
                *([further] if further else []),
                kind="other-config",
            )
        require_as_planned([store], whole=False)
        for line in version_notes(store.manifest, manifest):
            note(f"weigh: {line}")
        yield store


def planned_in(store: Store) -> tuple[Episode, ...]:
    """Every episode that a run plans, in the order to play them."""
    return tuple(
        Episode(row.key, row.game, row.block, row.entrants, row.deal_key) for row in store.episodes() if row.deal_key
    )


def holds_run(folder: Path) -> bool:
    """Whether there is a run in `folder`. Raises Refused when there is none and none can be made."""
    try:
        if is_run(folder):
            return True
    except (OSError, ValueError) as error:
        raise Refused(
            f"{folder} cannot be a run's folder: {error.args[-1] if error.args else error}", kind="not-a-folder"
        ) from error
    require_room(folder)
    return False


def opened(how: Callable[[], Store]) -> Store:
    """The store that `how` opens. A place where nothing can be written is for the caller to change, and refused as
    such; a full disk is not."""
    try:
        return how()
    except StoreFailed as failed:
        cause = failed.__cause__
        if isinstance(cause, OSError) and cause.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise Refused(str(failed), kind=failed.kind) from failed
        raise


def require_room(folder: Path) -> None:
    """Raise Refused unless a folder can be made, or is there and can be written to."""
    trouble = no_room(folder)
    if trouble is not None:
        raise Refused(trouble, kind="not-writable")


def no_room(folder: Path) -> str | None:
    """Why a folder cannot be made or written to; None when it can."""
    for place in (folder, *folder.absolute().parents):
        try:
            found = place.is_dir()
            if not found and place.exists():
                return f"{folder} cannot be a run's folder: {place} is no folder"
        except (OSError, ValueError) as error:  # too long a name, a null character, a folder that may not be entered
            return f"{folder} cannot be a run's folder: {error.args[-1] if error.args else error}"
        if found:
            writable = os.access(place, os.W_OK | os.X_OK)
            return None if writable else f"{folder}: {place} cannot be written to; choose another folder"
    return None
