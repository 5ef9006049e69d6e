"""``python -m tests.advice``: how often plans find a fault, and only the fault, in fleets that are otherwise healthy.

A healthy fleet of each size should have nothing to say. Then each fault is put into a fleet by itself::

    python -m tests.advice --seeds 3 --only "a slow client"

Precision is the share of all causes that are the expected one; recall is the share of faults whose cause is found, with
the right first answer. It exits with 1 if a fault is missed, or if a healthy fleet is not silent.
"""

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tests.advice.faults import Fault, all_faults
from tests.advice.fleet import healthy
from tests.advice.judge import Judgement, noise
from tests.advice.plans import plan_of, session
from tests.advice.shape import SIZES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WIDTH: Final = 46
HEALTHY: Final = {f"healthy, {size}": (size, False) for size in SIZES} | {"healthy, with history": ("small", True)}
"""The healthy fleets that are planned: their size, and whether there is a history of them."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What all trials gave, in numbers."""

    trials: int = 0
    found: int = 0
    causes: int = 0
    right: int = 0
    failed: int = 0

    def with_judgement(self, judgement: Judgement) -> "Tally":
        cause, problems = judgement.cause, judgement.problems
        is_answered = cause is not None and cause["action"] in judgement.expected.actions
        return Tally(
            self.trials + 1,
            self.found + is_answered,
            self.causes + len(judgement.plan["causes"]),
            self.right + (cause is not None),
            self.failed + bool(problems),
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the trials, print a line for each and the figures over all, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.advice", description=__doc__.partition("\n")[0])
    parser.add_argument("--size", choices=[*SIZES], action="append", help="of healthy fleets (default: all)")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="fleets for each fault (default: 1)")
    parser.add_argument("--first-seed", type=int, default=1, metavar="N", help="the first of them (default: 1)")
    parser.add_argument("--only", action="append", metavar="WORDS", help="faults with these words in their name")
    parser.add_argument("--no-healthy", action="store_true", help="leave the healthy fleets out")
    parser.add_argument("--no-faults", action="store_true", help="leave the faults out")
    args = parser.parse_args(argv)
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    began = time.monotonic()
    with session() as spark:
        loud = 0 if args.no_healthy else _healthy(spark, args.size or [*SIZES], seeds)
        tally = Tally() if args.no_faults else _faults(spark, _chosen(args.only), seeds)
    print()
    if tally.trials:
        print(f"precision {_share(tally.right, tally.causes)} (the expected cause, of all causes)")
        print(f"recall    {_share(tally.found, tally.trials)} (faults with their cause and the right first answer)")
        print(f"{tally.failed} of {tally.trials} trials failed")
    if not args.no_healthy:
        print(f"{loud} healthy fleets were not silent")
    print(f"{time.monotonic() - began:.0f} s")
    return 1 if loud or tally.failed else 0


def _chosen(words: Sequence[str] | None) -> Mapping[str, Fault]:
    return {name: fault for name, fault in all_faults().items() if words is None or any(word in name for word in words)}


def _healthy(spark: "SparkSession", sizes: Sequence[str], seeds: Sequence[int]) -> int:
    """Plan healthy fleets; returns how many of them were not silent."""
    loud = 0
    for name, (size, with_history) in HEALTHY.items():
        for seed in seeds if size in sizes else ():
            problems = noise(plan_of(spark, healthy(size, seed, with_history=with_history)))
            loud += bool(problems)
            _print(name, seed, problems, "silent")
    return loud


def _faults(spark: "SparkSession", faults: Mapping[str, Fault], seeds: Sequence[int]) -> Tally:
    tally = Tally()
    for name, fault in faults.items():
        for seed in seeds:
            fleet, expected = fault.fleet(seed)
            judgement = Judgement(expected, plan_of(spark, fleet))
            tally = tally.with_judgement(judgement)
            _print(name, seed, judgement.problems, judgement.found)
    return tally


def _print(name: str, seed: int, problems: Sequence[str], found: str) -> None:
    verdict = "FAILED" if problems else "ok"
    print(f"{name:{WIDTH}} {seed:3} {verdict:6} {'' if problems else found}", flush=True)
    for line in _shown(problems):
        print(f"{'':{WIDTH}}     {line}", flush=True)


def _shown(problems: Sequence[str], most: int = 8) -> Iterator[str]:
    yield from (line[:220] for line in problems[:most])
    if len(problems) > most:
        yield f"and {len(problems) - most} more"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f} ({part} of {whole})" if whole else "nothing to count"
