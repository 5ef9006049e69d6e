"""Loses power at every moment of every step of a run: ``python -m tests.power_loss --tries 5``."""

import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path

from tests.fixtures.environment import set_environment


def main() -> int:
    """A line for each step, of a new run and of a published one."""
    from rocketmq_capacity.spark.session import session_under_way
    from tests.kills.states import STEPS
    from tests.power_loss.steps import lose_power, prepared

    parser = ArgumentParser(prog="python -m tests.power_loss", description=__doc__)
    parser.add_argument("--tries", type=int, default=5, metavar="N", help="states of each that are tried again (5)")
    tries = parser.parse_args().tries
    with tempfile.TemporaryDirectory(prefix="power-loss-") as folder, session_under_way("power_loss", 0) as session:
        lakes = Path(folder) / "lakes"
        lakes.mkdir()
        prepared(lakes, session)
        for step in STEPS:
            for is_repeated in (False, True):
                place = Path(folder) / f"{step}-{is_repeated}"
                place.mkdir()
                states = lose_power(step, lakes, place, session, is_repeated=is_repeated, tried_again=tries)
                told = "of a published run" if is_repeated else "of a new run"
                print(f"{step} {told}: {states} states, nothing half-written, {tries} tried again", flush=True)
    return 0


if __name__ == "__main__":
    set_environment()
    sys.exit(main())
