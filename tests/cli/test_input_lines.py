"""Standard input, line by line: what is read, and what stays where it is until somebody asks."""

from __future__ import annotations

import asyncio
import os
import subprocess
from contextlib import contextmanager
from unittest import mock

import pytest

from weigh.harness.cli.human import LONGEST, Lines


@contextmanager
def piped():
    """Lines of a pipe, and its other end."""
    ours, theirs = os.pipe()
    with os.fdopen(ours) as stdin, os.fdopen(theirs, "wb", buffering=0) as end, mock.patch("sys.stdin", stdin):
        yield Lines(), end


def asked(lines, times):
    async def asking():
        return [await lines.next() for _ in range(times)]

    return asyncio.run(asking())


def test_lines_come_in_order_and_the_last_one_needs_no_end():
    with piped() as (lines, end):
        end.write(b"1\n\n\xff 2\r\n3")
        end.close()
        assert lines.wait_for_some()
        assert asked(lines, 5) == ["1", "", "\ufffd 2", "3", None]


def test_an_input_that_is_empty_has_none():
    with piped() as (lines, end):
        end.close()
        assert not lines.wait_for_some()


def test_what_nobody_asks_for_is_not_read(monkeypatch):
    taken = []
    read = os.read

    def counted(number, most):
        taken.append(len(piece := read(number, most)))
        return piece

    monkeypatch.setattr("weigh.harness.cli.human.os.read", counted)

    async def asking(lines):
        said = [await lines.next() for _ in range(3)]
        await asyncio.sleep(0.2)
        return said

    with subprocess.Popen(["yes", "99"], stdout=subprocess.PIPE) as endless:
        with mock.patch("sys.stdin", endless.stdout):
            said = asyncio.run(asking(Lines()))
        endless.kill()
    assert said == ["99"] * 3
    assert sum(taken) <= LONGEST


@pytest.mark.parametrize("length", [LONGEST - 1, LONGEST, LONGEST + 1, 3 * LONGEST])
def test_a_line_without_end_is_cut_at_the_longest(length):
    with piped() as (lines, end):
        end.write(b"x" * length)
        end.close()
        (line,) = asked(lines, 1)
        assert line == "x" * min(length, LONGEST)
