"""The command line ``rocketmq-capacity``; its arguments and results are the public contract.

The commands import what they need, so that errors in arguments come at once.
"""

import difflib
import os
import re
import signal
import sys
from argparse import Action, ArgumentParser, HelpFormatter, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from rocketmq_capacity.collector import end_without_collector
from rocketmq_capacity.errors import BadInput, CapacityError, NotWritten, is_writable, one_line
from rocketmq_capacity.steps.asked_language import asked_language, in_asked_language
from rocketmq_capacity.vocabulary import ENGLISH, LANGUAGES, Language

if TYPE_CHECKING:
    from rocketmq_capacity.progress.progress import Progress
    from rocketmq_capacity.settings.policy import Policy
    from rocketmq_capacity.simulation.scenario import Scenario
    from rocketmq_capacity.steps.inputs import TakenSnapshot

PROGRAM: Final = "rocketmq-capacity"
APP_NAME: Final = f"{PROGRAM} plan"
ON_UNITS: Final = tuple(f"{__package__}.steps.{step}" for step in ("allocate", "assess", "recommend"))
"""The modules of a plan's steps whose functions Spark's Python workers run."""
A_MOMENT_S: Final = 0.01
URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
"""How a URL begins as a path, which has one of its slashes: it would be a folder named ``s3:``."""
STANDARD_ERROR: Final = 2
"""Its number, the highest of the three streams that every program has."""

DESCRIPTION: Final = "Plan the consumer capacity of an Apache RocketMQ cluster."
HELP: Final = "show this help message and exit"
VERSION: Final = "print the version and exit"


def _path(text: str) -> Path:
    """A path of the arguments. Errors: BadInput for an empty one, which would be the current folder."""
    if not text:
        raise BadInput("arguments", "", "a file or a folder has an empty name; expected a path")
    return Path(text)


_NAMESERVER: Final = {"metavar": "HOST:PORT[;…]", "help": "name servers of a live cluster"}
_CONNECTION: Final = {
    "type": _path,
    "metavar": "FILE",
    "help": "TLS, access keys and time limits of the live cluster (YAML)",
}
_POLICY: Final = {"type": _path, "metavar": "FILE", "help": "policy file (YAML)"}
_OVERWRITE: Final = {"action": "store_true", "help": "replace a file, or an earlier plan, at --out"}
_QUIET: Final = {"action": "store_true", "help": "do not tell on standard error how far the work is"}
_LANGUAGE: Final = {"choices": LANGUAGES, "help": "of the page and all lines; default: the policy's language"}

OPTIONS: Final[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
    "snapshot": {
        "--nameserver": {**_NAMESERVER, "required": True},
        "--out": {"type": _path, "metavar": "FILE", "required": True, "help": "where the inventory file goes"},
        "--connection": _CONNECTION,
        "--policy": _POLICY,
        "--language": {**_LANGUAGE, "help": "of all lines; default: the policy's language"},
        "--overwrite": _OVERWRITE,
        "--quiet": _QUIET,
    },
    "plan": {
        "--out": {
            "type": _path,
            "metavar": "DIR",
            "required": True,
            "help": "where report.html, plan.json and tables/ go",
        },
        "--inventory": {"type": _path, "metavar": "FILE", "help": "an inventory file"},
        "--nameserver": _NAMESERVER,
        "--connection": _CONNECTION,
        "--policy": _POLICY,
        "--scenario": {"type": _path, "metavar": "FILE", "help": "a what-if (YAML)"},
        "--history": {"type": _path, "metavar": "DIR", "help": "earlier inventory files of the cluster"},
        "--language": _LANGUAGE,
        "--overwrite": _OVERWRITE,
        "--quiet": _QUIET,
    },
    "doctor": {
        "--nameserver": _NAMESERVER,
        "--connection": _CONNECTION,
        "--language": {"choices": LANGUAGES, "default": ENGLISH, "help": "of its lines"},
        "--airflow": {"action": "store_true", "help": "check what the daily Dag needs of this machine's Airflow, too"},
    },
}
"""The options of each command, as `argparse` takes them."""


class _Help(HelpFormatter):
    """The help as argparse lays it out, with its first word in another language."""

    def __init__(self, prog: str, usage: str) -> None:
        super().__init__(prog)
        self._first_word = usage

    def add_usage(self, usage: str | None, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, self._first_word if prefix is None else prefix)


class _Parser(ArgumentParser):
    """A parser whose errors are one line, like every other bad input."""

    def __init__(self, prog: str, *, said: Callable[[str], str], description: str, allow_abbrev: bool = True) -> None:
        """``said`` is how the texts of the help are said."""
        form = partial(_Help, usage=said("usage: "))
        super().__init__(
            prog, description=said(description), formatter_class=form, add_help=False, allow_abbrev=allow_abbrev
        )
        self._said, self._options = said, self.add_argument_group(said("options"))
        self.option("-h", "--help", action="help", help=HELP)

    def option(self, *names: str, **settings: Any) -> None:
        """Add an option, as `argparse` takes it."""
        self._options.add_argument(*names, **{**settings, "help": self._said(settings["help"])})

    def error(self, message: str) -> NoReturn:
        command = self.prog.removeprefix(PROGRAM).strip() or "arguments"
        raise BadInput(command, "", f"{message}; {self.prog} --help says what is expected")


class _Version(Action):
    """Prints the version of this distribution. It is looked up only then."""

    def __call__(self, parser: ArgumentParser, *_ignored: object) -> NoReturn:
        from importlib.metadata import version

        sys.stdout.write(f"{PROGRAM} {version(PROGRAM)}\n")
        parser.exit()


def arguments(words: Sequence[str], language: Language = ENGLISH) -> Namespace:
    """The command with its options. Errors: BadInput for arguments that the command line does not have."""
    said = _texts_in(language)
    parser = _Parser(PROGRAM, said=said, description=DESCRIPTION)
    parser.option("--version", action=_Version, nargs=0, help=VERSION)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title=said("commands"))
    for function in COMMANDS:
        name, does = function.__name__, function.__doc__ or ""
        command = commands.add_parser(name, help=said(does), description=does, said=said, allow_abbrev=False)
        command.set_defaults(function=function)
        for option, settings in OPTIONS[name].items():
            command.option(option, **settings)
    if not words:
        parser.print_help(sys.stderr)
        sys.exit(BadInput.exit_status)
    namespace, unknown = parser.parse_known_args(words)
    if unknown:
        near = difflib.get_close_matches(unknown[0].partition("=")[0], OPTIONS[namespace.command], n=1)
        expected = near or OPTIONS[namespace.command]
        raise BadInput(namespace.command, "", f"no such argument: {unknown[0]}; expected {', '.join(expected)}")
    return namespace


def _texts_in(language: Language) -> Callable[[str], str]:
    """How texts of the help are said; English needs no catalogue."""
    if language == ENGLISH:
        return str
    from rocketmq_capacity.language.catalogue import words_of

    return words_of(language).texts.gettext


def texts_of_help() -> Iterator[str]:
    """All of them, in English."""
    yield from ("usage: ", "options", "commands", DESCRIPTION, HELP, VERSION)
    for command in COMMANDS:
        yield command.__doc__ or ""
    for options in OPTIONS.values():
        yield from (settings["help"] for settings in options.values())


def main() -> None:
    """Run the command line. An error of this package is one line on standard error, with its exit status."""
    open_missing_streams()
    end_without_collector()
    try:
        with stopped_in_good_order():
            words = sys.argv[1:]
            given = arguments(words, asked_language(words))
            given.function(given)
    except CapacityError as error:
        sys.stderr.write(f"{PROGRAM}: {in_asked_language(one_line(error), sys.argv[1:])}\n")
        sys.exit(error.exit_status)


def snapshot(given: Namespace) -> None:
    """Take one snapshot of a live cluster and write it as an inventory file."""
    from rocketmq_capacity.language.current import Spoken, phrase, speaking
    from rocketmq_capacity.progress.on_stream import progress_on
    from rocketmq_capacity.settings.address import parse_nameservers
    from rocketmq_capacity.settings.policy import read_policy
    from rocketmq_capacity.snapshot.inventory_file import render_inventory
    from rocketmq_capacity.steps.inputs import connection_of, inventory_of
    from rocketmq_capacity.store.writing import write_whole

    parse_nameservers([given.nameserver])
    _check_out_file(given.out, overwrite=given.overwrite)
    settings = connection_of(given.connection, given.nameserver)
    policy = read_policy(given.policy)
    language = given.language or policy.language
    with progress_on(sys.stderr, quiet=given.quiet, said=Spoken(language)) as progress:
        inventory = inventory_of(None, given.nameserver, policy, settings, progress)
    try:
        write_whole(given.out, render_inventory(inventory))
    except OSError as error:
        raise NotWritten(
            f"{given.out} cannot be written ({error.strerror}); expected a shorter name or a folder with more room"
        ) from None
    with speaking(language), printing():
        name, time = inventory.cluster_name, inventory.taken_at
        sys.stdout.write(phrase("{out}: {cluster} at {time}\n", out=given.out, cluster=name, time=time))


def plan(given: Namespace) -> None:
    """Plan a cluster: allocate, assess, recommend and publish, in one Spark session."""
    from rocketmq_capacity.language.current import Spoken
    from rocketmq_capacity.progress.on_stream import progress_on
    from rocketmq_capacity.progress.progress import INFO
    from rocketmq_capacity.progress.wording import seconds
    from rocketmq_capacity.report.files import REPORT
    from rocketmq_capacity.settings.address import parse_nameservers
    from rocketmq_capacity.settings.own_strategy import check_jars, place_of
    from rocketmq_capacity.settings.policy import read_policy
    from rocketmq_capacity.simulation.scenario import read_scenario

    inventory, nameserver, scenario, out = given.inventory, given.nameserver, given.scenario, given.out
    if (inventory is None) == (nameserver is None):
        raise BadInput("--inventory, --nameserver", "", "expected exactly one of them")
    if nameserver is not None:
        parse_nameservers([nameserver])
    files = (inventory, given.connection, given.policy, scenario, given.history)
    _check_out_folder(out, files, overwrite=given.overwrite)
    policy = read_policy(given.policy)
    if given.language is not None:
        policy = policy.model_copy(update={"language": given.language})
    for group, strategy in policy.current_strategies.own.items():
        check_jars(strategy, place_of(group), str(given.policy))
    what_if = read_scenario(scenario) if scenario is not None else None
    with progress_on(sys.stderr, quiet=given.quiet, said=Spoken(policy.language)) as progress:
        taken, size = _taken(given, policy, what_if, progress)

        # All inputs are checked now; only now import Spark and what needs it.
        from rocketmq_capacity.report.summary import print_summary, summary_console
        from rocketmq_capacity.spark.session import session_under_way
        from rocketmq_capacity.store.whole_folder import whole_folder

        with (
            whole_folder(out, overwrite=given.overwrite) as part,
            session_under_way(APP_NAME, size, progress.tell, modules=ON_UNITS) as session,
        ):
            from rocketmq_capacity.steps.plan import plan_snapshots

            made = plan_snapshots(
                session, taken, policy, part, scenario=what_if, progress=progress, end_session=session.end
            )
        progress.tell(f"plan: done in {seconds(progress.seconds)}, in the folder {out}", INFO)
    with printing():
        print_summary(made, out / REPORT, summary_console(), policy.language)


def _taken(
    given: Namespace, policy: "Policy", what_if: "Scenario | None", progress: "Progress"
) -> tuple[list["TakenSnapshot"], int]:
    """The snapshots to plan, and how large the inventory is as a file (bytes)."""
    from rocketmq_capacity.simulation.scenario import apply
    from rocketmq_capacity.snapshot.inventory_file import render_inventory
    from rocketmq_capacity.snapshot.past import with_past_days, with_past_samples
    from rocketmq_capacity.steps.inputs import before, connection_of, inventory_of, read_history, snapshots
    from rocketmq_capacity.steps.stored_samples import with_stored_samples

    settings = connection_of(given.connection, given.nameserver)
    earlier = read_history(given.history)
    current = inventory_of(given.inventory, given.nameserver, policy, settings, progress)
    past = before(earlier, current)
    if given.history is not None:
        # A person may name a folder by a link; within the lake none is followed.
        current = with_stored_samples(current, given.history.resolve(), policy.thresholds)
    # Earlier samples do not hold for queues that a scenario changes; for the other queues they do.
    whole = current
    if what_if is not None:
        whole = with_past_days(with_past_samples(current, past), past, policy.thresholds)
    changed = None if what_if is None else apply(whole, what_if, policy, str(given.scenario))
    size = sum(map(len, render_inventory(current))) if given.inventory is None else given.inventory.stat().st_size
    return snapshots(current, past, changed), size


def doctor(given: Namespace) -> None:
    """Print what this machine has and lacks for a run, and how to mend it."""
    from rocketmq_capacity.doctor import airflow_parts, examine, print_parts
    from rocketmq_capacity.language.current import speaking
    from rocketmq_capacity.settings.address import parse_nameservers
    from rocketmq_capacity.steps.inputs import connection_of

    if given.nameserver is not None:
        parse_nameservers([given.nameserver])
    settings = connection_of(given.connection, given.nameserver) if given.connection is not None else None
    further = airflow_parts() if given.airflow else ()
    with speaking(given.language):
        parts = examine(given.nameserver, settings, further)
        with printing():
            print_parts(parts)
    sys.exit(1 if any(part.mend for part in parts) else 0)


COMMANDS: Final = (snapshot, plan, doctor)


def _check_out_file(out: Path, *, overwrite: bool) -> None:
    _check_place(out)
    if out.exists() and not out.is_file():
        raise BadInput("--out", "", f"{out} is a folder or a device; expected the name of a file")
    if not overwrite and out.exists() and out.stat().st_size:
        raise BadInput("--out", "", f"{out} exists; expected a new file, or --overwrite")


def _check_out_folder(out: Path, inputs: Sequence[Path | None], *, overwrite: bool) -> None:
    from rocketmq_capacity.store.whole_folder import check_ours

    _check_place(out)
    if out.exists() and not out.is_dir():
        raise BadInput("--out", "", f"{out} is a file; expected the name of a folder")
    if not overwrite and out.is_dir() and any(out.iterdir()):
        raise BadInput("--out", "", f"{out} is not empty; expected a new or empty folder, or --overwrite")
    if os.path.ismount(out.resolve()):
        raise BadInput("--out", "", f"{out} is a mount point, which cannot be replaced; expected a folder in it")
    # A new folder takes its place: whoever works in the old one would be left in a deleted folder.
    if _current_folder().is_relative_to(out.resolve()):
        raise BadInput(
            "--out", "", f"{out} is or holds the current folder, which would be replaced; expected another one"
        )
    for given in filter(None, inputs):
        if out.resolve() in (given.resolve(), *given.resolve().parents):
            raise BadInput("--out", "", f"{out} holds {given}, which would be replaced; expected another folder")
    check_ours(out)


def _current_folder() -> Path:
    """Errors: BadInput if it was deleted: Java cannot start there."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise BadInput("--out", "", "the current folder was deleted; expected a start in one that exists") from None


def _check_place(out: Path) -> None:
    """The output is first written next to ``out``, so the nearest existing parent folder must be writable."""
    if not is_writable(str(out)):
        raise BadInput("--out", "", f"{out} is not UTF-8; expected a name that can be written as text")
    if URL.match(str(out)):
        raise BadInput("--out", "", f"{out} is a URL; expected a place on this machine")
    try:
        out.exists()
        above = next((folder for folder in out.resolve().parents if folder.exists()), None)
    except (OSError, RuntimeError) as error:  # a name that is too long, or links in a circle
        raise BadInput("--out", "", f"{out} cannot be read ({error}); expected the name of a new one") from None
    if above is None:
        raise BadInput("--out", "", f"{out} is the root of the file system; expected a folder in it")
    if not above.is_dir():
        raise BadInput("--out", "", f"{above} is a file; expected a folder for {out}")
    if not os.access(above, os.W_OK | os.X_OK):
        raise BadInput("--out", "", f"{above} cannot be written to; expected a folder that can, for {out}")


def open_missing_streams() -> None:
    """Open standard input, output and error on /dev/null where the caller has closed them (``>&-``).

    Otherwise the next files that are opened take their numbers, and Spark's JVM would write its lines into those files.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= STANDARD_ERROR:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # open to the end
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # likewise


@contextmanager
def printing() -> Iterator[None]:
    """The body prints to standard output. Errors: NotWritten if that cannot be written, such as on a full disk."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        # What is left of it would be written again when the process ends.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        raise NotWritten(
            f"standard output cannot be written ({error.strerror}); expected a terminal, a pipe or a file with room"
        ) from None


@contextmanager
def stopped_in_good_order() -> Iterator[None]:
    """Ctrl-C and SIGTERM end the body like an error, so that its unfinished output is deleted."""
    said: list[str] = []

    def stop(number: int, _frame: object) -> None:
        if not said:
            said.append(f"{PROGRAM}: stopped by {signal.Signals(number).name}")
        sys.exit(said[0])  # with a text, the exit status is 1, and the text goes to standard error

    def stop_again(ignored: "sys.UnraisableHookArgs") -> None:
        # Python ignores an exception while it frees an object, and py4j asks the JVM then: stop a moment later.
        if isinstance(ignored.exc_value, SystemExit):
            signal.setitimer(signal.ITIMER_REAL, A_MOMENT_S)
        else:
            hook_before(ignored)

    hook_before, sys.unraisablehook = sys.unraisablehook, stop_again
    handlers_before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)}
    try:
        yield
    except Exception:
        # Spark may fail to end properly if it is stopped in the middle of an answer of the JVM.
        if said:
            sys.exit(said[0])
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in handlers_before.items():
            signal.signal(number, handler)
        sys.unraisablehook = hook_before
