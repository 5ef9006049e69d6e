"""Kills every step of a run at random points, and tries it again.

``python -m tests.kills --kills 60 --steps 200 --seed 1``: 60 kills of whole apps, of the driver, the JVM, a worker or
all, and 200 of single steps in processes of their own, which take seconds.
"""

import random
import tempfile
import time
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path

from tests.kills.apps import WITH_WORKERS, WORKER, Chain, random_trial
from tests.kills.points import GROUP, ME, PARENT
from tests.kills.single_steps import kill_steps
from tests.kills.states import STEPS


def main() -> int:
    """As many kills as asked for, one line each; 1 where one of them could not be made good."""
    parser = ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=60, metavar="N", help="how many of apps, over all steps (60)")
    parser.add_argument("--steps", type=int, default=200, metavar="N", help="how many of single steps (200)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the random points (1)")
    given = parser.parse_args()
    failed = 0
    if given.steps:
        with tempfile.TemporaryDirectory(prefix="kills-") as folder:
            failed = kill_steps(given.steps, random.Random(given.seed), Path(folder))
    if given.kills:
        failed += _kill_apps(given.kills, random.Random(given.seed))
    return 1 if failed else 0


def _kill_apps(kills: int, chance: random.Random) -> int:
    """As many kills as asked for, one line each; how many of them could not be made good."""
    killed, failed = Counter[str](), 0
    who = {step: [ME, PARENT, GROUP, *([WORKER] if step in WITH_WORKERS else [])] for step in STEPS}
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        chain = Chain.of_sample(Path(folder))
        print("seconds of each step:", {step: round(seconds, 1) for step, seconds in chain.seconds.items()}, flush=True)
        number = 0
        while sum(killed.values()) + failed < kills:
            step = STEPS[number % len(STEPS)]
            trial = random_trial(chain, step, who[step][number // len(STEPS) % len(who[step])], chance)
            number += 1
            began = time.monotonic()
            try:
                is_killed = trial.run(chain, Path(folder))
            except AssertionError as error:
                failed += 1
                print(f"FAILED {trial}: {error}", flush=True)
                continue
            killed[step] += is_killed
            told = "good again" if is_killed else "ended before it was killed"
            print(f"{trial}: {told} ({time.monotonic() - began:.0f} s)", flush=True)
    print(f"{sum(killed.values())} kills made good again ({dict(killed)}), {failed} not")
    return failed
