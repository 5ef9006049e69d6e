"""Kills every step of a run at random points, and tries it again: ``python -m tests.kills --kills 60 --seed 1``."""

import random
import tempfile
import time
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path

from tests.kills.apps import WITH_WORKERS, WORKER, Chain, random_trial
from tests.kills.points import GROUP, ME, PARENT
from tests.kills.states import STEPS


def main() -> int:
    """As many kills as asked for, one line each; 1 where one of them could not be made good."""
    parser = ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=60, metavar="N", help="how many, over all steps (60)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the random points (1)")
    given = parser.parse_args()
    chance, killed, failed = random.Random(given.seed), Counter[str](), 0
    who = {step: [ME, PARENT, GROUP, *([WORKER] if step in WITH_WORKERS else [])] for step in STEPS}
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        chain = Chain.of_sample(Path(folder))
        print("seconds of each step:", {step: round(seconds, 1) for step, seconds in chain.seconds.items()}, flush=True)
        number = 0
        while sum(killed.values()) + failed < given.kills:
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
    return 1 if failed else 0
