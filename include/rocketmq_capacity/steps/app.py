"""What the Spark apps share: their arguments, their run, the session, their log, and how they end.

An app imports a step's code while its Spark session starts: both take seconds.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rocketmq_capacity.collector import end_without_collector
from rocketmq_capacity.errors import CapacityError, one_line
from rocketmq_capacity.language.current import Spoken
from rocketmq_capacity.plan_file.own_policy import OwnPolicy
from rocketmq_capacity.progress.lines import stamped
from rocketmq_capacity.progress.on_stream import progress_on
from rocketmq_capacity.progress.progress import ERROR, INFO, Progress
from rocketmq_capacity.settings.policy import Policy, PolicyChanges, read_policy
from rocketmq_capacity.spark.daemon import without_archives
from rocketmq_capacity.steps.asked_language import in_asked_language
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.place import errors_in_one_line, usable_place, variables_of
from rocketmq_capacity.store.run_lookup import existing_run

if TYPE_CHECKING:
    from rocketmq_capacity.steps.planning import Planning

APP_NAME: Final = "rocketmq_capacity_{step}"


def app_parser(description: str | None) -> ArgumentParser:
    """A parser with the arguments of every app; ``--run-id`` names the run, of whatever cluster."""
    parser = ArgumentParser(description=description, allow_abbrev=False)
    parser.add_argument("--lake", type=usable_place, required=True, metavar="DIR|URL", help="the folder of all runs")
    parser.add_argument("--run-id", required=True, metavar="ID", help="letters, digits, '_', '.' and '-'")
    parser.add_argument("--policy", type=Path, metavar="FILE", help="a policy file (YAML); it replaces defaults")
    parser.add_argument("--policy-changes", default="", metavar="YAML", help="changes of the policy for this run")
    parser.add_argument(
        "--strategies", default="", metavar="NAME,…", help="the strategies of this run, not the policy's"
    )
    return parser


def policy_of(args: Namespace) -> Policy:
    """The policy that the arguments ask for. Errors: BadInput naming the file or the changes, and the key."""
    return read_policy(args.policy, PolicyChanges(tuple(filter(None, args.strategies.split(","))), args.policy_changes))


def of_run(policy: Policy, run: Run) -> Policy:
    """The policy with the strategies that the run has stored. Errors: BadInput for a damaged file of the run."""
    stored = OwnPolicy.read(run.own_policy)
    return policy if stored is None else policy.model_copy(update={"strategies": stored.strategies})


def log_of(policy: Policy) -> Progress:
    """The app's log, in the policy's language, which its task shows."""
    return progress_on(sys.stderr, said=Spoken(policy.language))


@contextmanager
def computing(args: Namespace, step: str) -> Iterator["Planning"]:
    """The run that the snapshot app stored, with a Spark session that starts while the step's code is imported.

    Bad arguments and a missing run are errors before Spark starts.
    """
    policy = policy_of(args)
    run = existing_run(Lake(args.lake), args.run_id)
    policy = of_run(policy, run)
    from rocketmq_capacity.spark.session import session_under_way

    with log_of(policy) as progress:
        name = APP_NAME.format(step=step)
        starting = session_under_way(name, run.snapshot_bytes(), progress.tell, variables_of(run.folder))
        with errors_in_one_line(run.folder), starting as session:
            from rocketmq_capacity.steps.planning import Planning, waited_for

            yield Planning(waited_for(session, progress), run, policy, progress)
        progress.tell(f"{step}: the tables are in {run.tables}", INFO)


def see_executors(lake: Lake, progress: Progress) -> None:
    """Check that executors can do the work of a run, before a cluster is asked. Errors: those of `check_executors`."""
    from rocketmq_capacity.spark.executors import check_executors
    from rocketmq_capacity.spark.session import session_under_way

    name = APP_NAME.format(step="check")
    with session_under_way(name, 0, progress.tell, variables_of(lake.root)) as session:
        check_executors(session().sparkContext, lake.root)
    progress.tell("snapshot: executors see the lake, and can write there", INFO)


@contextmanager
def storing(run: Run, policy: Policy, step: str, progress: Progress) -> Iterator["Planning"]:
    """A run whose step only moves tables. Spark starts if the step asks for it."""
    from rocketmq_capacity.spark.session import session_if_asked
    from rocketmq_capacity.steps.planning import Planning, waited_for

    name = APP_NAME.format(step=step)
    with errors_in_one_line(run.folder), session_if_asked(name, progress.tell, variables_of(run.folder)) as session:
        yield Planning(waited_for(session, progress), run, policy, progress)
    progress.tell(f"{step}: the run is in {run.folder}", INFO)


def run_app(main: Callable[[Sequence[str] | None], None]) -> None:
    """Run an app's ``main`` as a program: an error of this package ends it with one line and its exit status.

    The line is an ERROR of the app's log, whose other lines are those of the progress. All of them are in the policy's
    language.
    """
    sys.path[:] = without_archives(sys.path)
    end_without_collector()
    try:
        main(None)
    except CapacityError as error:
        said = in_asked_language(one_line(error), sys.argv[1:])
        sys.stderr.write(stamped(ERROR, f"{Path(sys.argv[0]).stem}: {said}"))
        sys.exit(error.exit_status)
