"""How long replies of every shape take to read, up to the bounds on a reply: CPU milliseconds, best of several runs.

The first few are what models write; the others are what a broken or a hostile one might, at the bounds on characters
and brackets.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from time import process_time

from weigh.games.goofspiel.rules import GOOFSPIEL, GoofspielConfig
from weigh.policies.reply import MAX_BRACKETS, read_reply

RUNS = 5

SHAPES: dict[str, Callable[[], str]] = {
    "a plain answer": lambda: '{"bid": 5}',
    "reasoning and an answer": lambda: "I compare the hands and the prizes. " * 40 + '\n```json\n{"bid": 5}\n```',
    "2,000 answers, all equal": lambda: '{"bid": 5}\n' * 2_000,
    "openings": lambda: "{" * MAX_BRACKETS,
    "openings with a quote": lambda: '{"' * MAX_BRACKETS,
    "openings with a key": lambda: '{"a":x' * MAX_BRACKETS,
    "objects in objects": lambda: '{"a":' * MAX_BRACKETS,
    "arrays in arrays": lambda: "[" * MAX_BRACKETS,
    "nests that break off": lambda: ('{"a":' * 60 + "x ") * 1_600,
    "a string that never ends": lambda: '{"bid": "' + "x" * 1_900_000,
    "escapes that never end": lambda: '{"bid": "' + "\\n" * 900_000,
    "a huge number": lambda: '{"bid": ' + "9" * 1_900_000 + "}",
    "a long array": lambda: '{"bid": 5, "a": [' + "1," * 900_000 + "1]}",
    "answers, all equal": lambda: '{"bid": 5}' * (MAX_BRACKETS // 2),
    "answers, all different": lambda: "".join(f'{{"bid": {n}}}' for n in range(MAX_BRACKETS // 2)),
    "objects that are no answers": lambda: "".join(f'{{"a": {n}}}' for n in range(MAX_BRACKETS // 2)),
    "answers in an array": lambda: "[" + '{"bid":5},' * (MAX_BRACKETS // 2 - 2) + '{"bid":5}]',
    "prose": lambda: "word " * 390_000,
    "backticks": lambda: "`" * 1_900_000,
    "fences": lambda: "```\n" * 470_000,
    "fenced strings": lambda: '```\n"' * 380_000,
    "closing marks, nearly": lambda: "</think " * 230_000,
    "closing marks": lambda: "</think>" * 230_000,
    "closing marks with attributes, nearly": lambda: "</think a" * 210_000,
    "channels": lambda: "<|channel|>final x" * 100_000,
    "channels, nearly": lambda: "<|channel|>final" + "<|message|" * 180_000,
    "turn marks": lambda: '{"bid":5}{"bid":6}' + "<|im_end|>" * 190_000,
    "odd spaces": lambda: '{"bid":' + "\u200b" * 1_900_000 + "5}",
    "rules": lambda: '{"bid":5}{"bid":6}' + "-" * 1_900_000 + ".",
    "quotes": lambda: '"' * 1_900_000,
    "openings far apart": lambda: ("{" + " " * 18) * MAX_BRACKETS,
    "two answers and closers": lambda: '{"bid":5}{"bid":6}' + "}`" * (MAX_BRACKETS - 5),
    "a key many times": lambda: '{"bid":5' + ',"a":1' * 300_000 + "}",
    "every key twice": lambda: '{"bid":5' + "".join(f',"{n}":1,"{n}":1' for n in range(80_000)) + "}",
    "white space": lambda: "x" + "\n" * 1_900_000 + "x",
}


def main() -> None:
    config = GoofspielConfig()
    legal = GOOFSPIEL.start(config, GOOFSPIEL.deal(config, Random(1))).legal(0)
    print(f"{'shape':<30}{'characters':>12}{'ms':>10}  read as")
    for name, make in SHAPES.items():
        text = make()
        best = float("inf")
        for _ in range(RUNS):
            began = process_time()
            reading = read_reply(text, "end", legal)
            best = min(best, process_time() - began)
        print(f"{name:<30}{len(text):>12,}{1000 * best:>10.3f}  {reading.fault or reading.move}")
