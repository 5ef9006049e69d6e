"""What the Spark apps share: their arguments, the run they work on, the session, and how they end."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.config import Policy, PolicyChanges, read_policy
from rocketmq_capacity.errors import CapacityError
from rocketmq_capacity.lake import Lake, Run
from rocketmq_capacity.run_lookup import existing_run, run_before
from rocketmq_capacity.session import start_session
from rocketmq_capacity.steps import Planning

APP_NAME: Final = "rocketmq_capacity_{step}"


def app_parser(description: str | None) -> ArgumentParser:
    """A parser with the arguments of every app; ``--run-id`` names the run, whichever cluster it is of."""
    parser = ArgumentParser(description=description, allow_abbrev=False)
    parser.add_argument("--lake", type=Path, required=True, metavar="DIR", help="the folder of all runs")
    parser.add_argument("--run-id", required=True, metavar="ID", help="letters, digits, '_', '.' and '-'")
    parser.add_argument("--policy", type=Path, metavar="FILE", help="what to decide otherwise than by default (YAML)")
    parser.add_argument("--policy-changes", default="", metavar="YAML", help="what this run decides otherwise again")
    parser.add_argument(
        "--strategies", default="", metavar="NAME,…", help="the strategies of this run, not the policy's"
    )
    return parser


def policy_of(args: Namespace) -> Policy:
    """The policy of the run. Errors: BadInput naming the file or the changes, the key and what was expected."""
    return read_policy(args.policy, PolicyChanges(tuple(filter(None, args.strategies.split(","))), args.policy_changes))


@contextmanager
def planning_of(run: Run, policy: Policy, step: str) -> Iterator[Planning]:
    """The run in a Spark session that ends with the body."""
    spark = start_session(APP_NAME.format(step=step))
    try:
        yield Planning(spark, run, policy)
    finally:
        spark.stop()


@contextmanager
def run_of(args: Namespace, step: str) -> Iterator[Planning]:
    """The run that the snapshot app stored; bad arguments and a missing run are told before Spark starts."""
    policy = policy_of(args)
    run = existing_run(Lake(args.lake), args.run_id)
    with planning_of(run, policy, step) as planning:
        yield planning


def findings_before(lake: Lake, planning: Planning) -> DataFrame | None:
    """What the run before found in the same cluster, for the rules that need two runs; None for a first run."""
    run = run_before(lake, planning.run)
    return None if run is None else replace(planning, run=run).read(contracts.Finding)


def run_app(main: Callable[[Sequence[str] | None], None]) -> None:
    """Run an app's ``main`` as a program: what this package says no to ends it with one line and its exit status."""
    try:
        main(None)
    except CapacityError as error:
        sys.stderr.write(f"{Path(sys.argv[0]).stem}: {error}\n")
        sys.exit(error.exit_status)
