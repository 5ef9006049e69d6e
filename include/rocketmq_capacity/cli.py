"""The command line ``rocketmq-capacity``; what it takes and gives is the public contract."""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from rocketmq_capacity.errors import BadInput, CapacityError
from rocketmq_capacity.settings.address import parse_nameservers
from rocketmq_capacity.settings.policy import read_policy
from rocketmq_capacity.simulation.change import apply
from rocketmq_capacity.simulation.scenario import read_scenario
from rocketmq_capacity.snapshot.inventory import render_inventory
from rocketmq_capacity.steps.inputs import before, connection_of, inventory_of, read_history
from rocketmq_capacity.store.lake import write_whole

APP_NAME: Final = "rocketmq-capacity plan"

app: Final = typer.Typer(
    name="rocketmq-capacity",
    help="Plan the consumer capacity of an Apache RocketMQ cluster.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Nameserver = Annotated[str, typer.Option(metavar="HOST:PORT[;…]", help="Name servers of a live cluster.")]
MaybeNameserver = Annotated[str | None, typer.Option(metavar="HOST:PORT[;…]", help="Name servers of a live cluster.")]
MaybeConnection = Annotated[
    Path | None, typer.Option(metavar="FILE", help="TLS, access keys and time limits of the live cluster (YAML).")
]
MaybePolicy = Annotated[Path | None, typer.Option(metavar="FILE", help="Policy file (YAML).")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what stands at --out.")]


def main() -> None:
    """Run the command line; what this package says no to is one line on standard error and its exit status."""
    try:
        with _stopped_in_good_order():
            app()
    except CapacityError as error:
        sys.stderr.write(f"rocketmq-capacity: {error}\n")
        sys.exit(error.exit_status)


@app.command()
def snapshot(
    nameserver: Nameserver,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the inventory file goes.")],
    connection: MaybeConnection = None,
    policy: MaybePolicy = None,
    overwrite: Overwrite = False,
) -> None:
    """Take one snapshot of a live cluster and write it as an inventory file."""
    parse_nameservers([nameserver])
    _check_out_file(out, overwrite=overwrite)
    settings = connection_of(connection, nameserver)
    inventory = inventory_of(None, nameserver, read_policy(policy), settings)
    write_whole(out, render_inventory(inventory))
    sys.stdout.write(f"{out}: {inventory.cluster_name} at {inventory.taken_at}\n")


@app.command()
def plan(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where report.html, plan.json and tables/ go.")],
    inventory: Annotated[Path | None, typer.Option(metavar="FILE", help="An inventory file.")] = None,
    nameserver: MaybeNameserver = None,
    connection: MaybeConnection = None,
    policy: MaybePolicy = None,
    scenario: Annotated[Path | None, typer.Option(metavar="FILE", help="A what-if (YAML).")] = None,
    history: Annotated[Path | None, typer.Option(metavar="DIR", help="Earlier inventory files of the cluster.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Plan a cluster: allocate, assess, recommend and publish, in one Spark session."""
    if (inventory is None) == (nameserver is None):
        raise BadInput("--inventory, --nameserver", "", "expected exactly one of them")
    if nameserver is not None:
        parse_nameservers([nameserver])
    _check_out_folder(out, (inventory, connection, policy, scenario, history), overwrite=overwrite)
    settings = connection_of(connection, nameserver)
    rules = read_policy(policy)
    what_if = read_scenario(scenario) if scenario is not None else None
    earlier = read_history(history)
    current = inventory_of(inventory, nameserver, rules, settings)
    past = before(earlier, current)
    change = (what_if, apply(current, what_if, rules, str(scenario))) if what_if is not None else None

    # Only now, where everything given is known to be good, come Spark and what needs it.
    from rocketmq_capacity.spark.session import session_under_way

    size = inventory.stat().st_size if inventory is not None else len(render_inventory(current))
    with _whole_folder(out) as part, session_under_way(APP_NAME, size) as session:
        from rocketmq_capacity.steps.plan import plan_inventory

        plan_inventory(session, current, rules, part, history=past, change=change)
    sys.stdout.write(f"{out / 'report.html'}\n{out / 'plan.json'}\n")


@app.command()
def doctor(nameserver: MaybeNameserver = None, connection: MaybeConnection = None) -> None:
    """Say what this machine has and lacks for a run, and how to mend it."""
    from rocketmq_capacity.doctor import examine

    if nameserver is not None:
        parse_nameservers([nameserver])
    settings = connection_of(connection, nameserver) if connection is not None else None
    raise typer.Exit(code=0 if examine(nameserver, settings) else 1)


def _check_out_file(out: Path, *, overwrite: bool) -> None:
    _check_place(out)
    if out.exists() and not out.is_file():
        raise BadInput("--out", "", f"{out} is a folder or a device; expected the name of a file")
    if not overwrite and out.exists() and out.stat().st_size:
        raise BadInput("--out", "", f"{out} exists; expected a new file, or --overwrite")


def _check_out_folder(out: Path, inputs: Sequence[Path | None], *, overwrite: bool) -> None:
    _check_place(out)
    if out.exists() and not out.is_dir():
        raise BadInput("--out", "", f"{out} is a file; expected the name of a folder")
    if not overwrite and out.is_dir() and any(out.iterdir()):
        raise BadInput("--out", "", f"{out} is not empty; expected a new or empty folder, or --overwrite")
    if out.is_mount():
        raise BadInput("--out", "", f"{out} is a mount point, which cannot be replaced; expected a folder in it")
    for given in filter(None, inputs):
        if out.resolve() in (given.resolve(), *given.resolve().parents):
            raise BadInput("--out", "", f"{out} holds {given}, which would be replaced; expected another folder")


def _check_place(out: Path) -> None:
    """What is written is made beside ``out`` first: the nearest folder above it that there is has to allow that."""
    try:
        above = next(folder for folder in out.resolve().parents if folder.exists())
    except (OSError, RuntimeError) as error:  # a name that is too long, links in a circle
        raise BadInput("--out", "", f"{out} cannot be looked at ({error}); expected the name of a new one") from None
    if not above.is_dir():
        raise BadInput("--out", "", f"{above} is a file; expected a folder, for {out} to stand in")
    if not os.access(above, os.W_OK | os.X_OK):
        raise BadInput("--out", "", f"{above} cannot be written to; expected a folder that can, for {out}")


@contextmanager
def _whole_folder(out: Path) -> Iterator[Path]:
    """A folder beside ``out`` that takes its place when the body ends well, and vanishes when it does not."""
    out = out.resolve()
    out.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    part, old = work / "new", work / "old"
    part.mkdir()
    try:
        yield part
        if out.exists():
            out.replace(old)
        part.replace(out)
    finally:
        if old.exists() and not out.exists():
            old.replace(out)
        shutil.rmtree(work, ignore_errors=True)


@contextmanager
def _stopped_in_good_order() -> Iterator[None]:
    """Ctrl-C and SIGTERM end the body as an error does, so that what it was about to write is cleared away."""
    told: list[str] = []

    def stop(number: int, _frame: object) -> None:
        told.append(f"rocketmq-capacity: stopped by {signal.Signals(number).name}")
        sys.exit(told[0])  # with a text the exit status is 1, and the text goes to standard error

    before_us = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except Exception:
        # Stopped in the middle of an answer of the JVM, Spark may fail to end as it should.
        if told:
            sys.exit(told[0])
        raise
    finally:
        for number, handler in before_us.items():
            signal.signal(number, handler)
