"""Fuzzes every door for bytes from outside: ``python -m tests.fuzz --executions 1000000 --only bodies``.

Each target runs in a process of its own, with limits of time and memory for an input. What it finds interesting stays
in ``.cache/fuzz/TARGET``, where the next run goes on. An input that fails is written to ``tests/fuzz/corpus/TARGET``:
there the tests read it again, until the defect is mended and ever after.
"""

import re
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tests.fixtures.environment import ROOT
from tests.fuzz.target import CORPUS, Target
from tests.fuzz.targets import MODULES, target_of

INPUT_S: Final = 60
"""Seconds for one input on a loaded machine; none takes more than a second on a quiet one."""
MEMORY_MIB: Final = 2_048
"""Of the whole process; that of a target has up to 400 before its first input."""
FOUND: Final = ROOT / ".cache/fuzz"
SHOWN: Final = 3_000
"""Characters of what libFuzzer said that are shown."""
NO_ATHERIS: Final = "atheris is not installed: it has no wheel for this machine or this Python"
DONE: Final = re.compile(r"stat::number_of_executed_units:\s+(\d+)")
COVERED: Final = re.compile(r"cov: (\d+) ft: (\d+)")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one target.

    Attributes:
        executions: inputs that were tried.
        places: places of the code that they reached.
        failed: files with inputs that failed.
        said: the end of what libFuzzer said.
    """

    executions: int
    places: int
    failed: list[Path]
    said: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz the targets one after the other, a line for each; 1 if an input failed, 2 without atheris."""
    parser = ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--executions", type=int, default=1_000_000, metavar="N", help="over all targets (1000000)")
    parser.add_argument("--only", choices=MODULES, action="append", help="a target; can be given more than once")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the mutations (1)")
    given = parser.parse_args(arguments)
    if find_spec("atheris") is None:
        print(NO_ATHERIS)
        return 2
    targets = [target_of(name) for name in given.only or MODULES]
    total, failed = 0, list[Path]()
    shares = sum(target.share for target in targets)
    for target in targets:
        outcome = fuzz(target, round(given.executions * target.share / shares), given.seed)
        total += outcome.executions
        failed += outcome.failed
        print(f"{target.name}: {outcome.executions:,} executions, {outcome.places:,} places reached", flush=True)
        if outcome.failed:
            print(f"{target.name}: FAILED {[file.name for file in outcome.failed]}\n{outcome.said}", flush=True)
    print(f"{total:,} executions, {len(failed)} inputs failed")
    return 1 if failed else 0


def fuzz(target: Target, executions: int, seed: int) -> Outcome:
    """Fuzz one target; it stops at the first input that fails."""
    found, seeds, corpus = FOUND / target.name, FOUND / ".seeds" / target.name, CORPUS / target.name
    for folder in (found, seeds, corpus):
        folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(target.seeds()):
        (seeds / str(number)).write_bytes(data)
    before = set(corpus.iterdir())
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.fuzz.one",
            target.name,
            *map(str, (found, corpus, seeds)),
            f"-runs={executions}",
            f"-seed={seed}",
            f"-max_len={target.longest}",
            f"-timeout={INPUT_S}",
            f"-report_slow_units={INPUT_S}",
            f"-rss_limit_mb={MEMORY_MIB}",
            f"-artifact_prefix={corpus}/",
            "-print_final_stats=1",
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    counted, covered = DONE.findall(done.stdout), COVERED.findall(done.stdout)
    failed = sorted(set(corpus.iterdir()) - before)
    if done.returncode and not failed:
        raise RuntimeError(f"{target.name} ended with {done.returncode}: {done.stdout[-SHOWN:]}")
    return Outcome(
        executions=int(counted[-1]) if counted else 0,
        places=int(covered[-1][0]) if covered else 0,
        failed=failed,
        said=done.stdout[-SHOWN:],
    )
