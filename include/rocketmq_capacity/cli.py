"""The command line ``rocketmq-capacity``; what it takes and gives is the public contract."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from rocketmq_capacity.config import Policy, read_policy
from rocketmq_capacity.errors import BadInput, CapacityError
from rocketmq_capacity.lake import write_whole
from rocketmq_capacity.simulation.change import apply
from rocketmq_capacity.simulation.scenario import read_scenario
from rocketmq_capacity.snapshot.inventory import Inventory, read_inventory, render_inventory

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
MaybePolicy = Annotated[Path | None, typer.Option(metavar="FILE", help="Policy file (YAML).")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what stands at --out.")]


def main() -> None:
    """Run the command line; what this package says no to is one line on standard error and its exit status."""
    try:
        app()
    except CapacityError as error:
        sys.stderr.write(f"rocketmq-capacity: {error}\n")
        sys.exit(error.exit_status)


@app.command()
def snapshot(
    nameserver: Nameserver,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the inventory file goes.")],
    policy: MaybePolicy = None,
    overwrite: Overwrite = False,
) -> None:
    """Take one snapshot of a live cluster and write it as an inventory file."""
    _check_out_file(out, overwrite=overwrite)
    inventory = _collect(nameserver, read_policy(policy))
    write_whole(out, render_inventory(inventory))
    sys.stdout.write(f"{out}: {inventory.cluster_name} at {inventory.taken_at}\n")


@app.command()
def plan(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where report.html, plan.json and tables/ go.")],
    inventory: Annotated[Path | None, typer.Option(metavar="FILE", help="An inventory file.")] = None,
    nameserver: MaybeNameserver = None,
    policy: MaybePolicy = None,
    scenario: Annotated[Path | None, typer.Option(metavar="FILE", help="A what-if (YAML).")] = None,
    history: Annotated[Path | None, typer.Option(metavar="DIR", help="Earlier inventory files of the cluster.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Plan a cluster: allocate, assess, recommend and publish, in one Spark session."""
    if (inventory is None) == (nameserver is None):
        raise BadInput("--inventory, --nameserver", "", "expected exactly one of them")
    _check_out_folder(out, overwrite=overwrite)
    rules = read_policy(policy)
    what_if = read_scenario(scenario) if scenario is not None else None
    given = read_inventory(inventory) if inventory is not None else None
    earlier = _read_history(history)
    current = given if given is not None else _collect(nameserver or "", rules)
    before = _before(earlier, current, history)

    change = (what_if, apply(current, what_if, rules, str(scenario))) if what_if is not None else None

    # Only now, where everything given is known to be good, come Spark and what needs it.
    from rocketmq_capacity.session import SMALL_BYTES, session_under_way

    is_small = len(render_inventory(current)) < SMALL_BYTES
    with _whole_folder(out) as part, session_under_way(APP_NAME, is_small=is_small) as session:
        from rocketmq_capacity.planner import plan_inventory

        plan_inventory(session(), current, rules, part, history=before, change=change)
    sys.stdout.write(f"{out / 'report.html'}\n{out / 'plan.json'}\n")


@app.command()
def doctor(nameserver: MaybeNameserver = None) -> None:
    """Say what this machine has and lacks for a run, and how to mend it."""
    from rocketmq_capacity.doctor import examine

    raise typer.Exit(code=0 if examine(nameserver) else 1)


def _collect(nameserver: str, policy: Policy) -> Inventory:
    from rocketmq_capacity.client.address import parse_nameservers
    from rocketmq_capacity.snapshot.collect import CollectOptions, collect_now

    addresses = [part for part in nameserver.split(";") if part.strip()]
    parse_nameservers(addresses)
    sampling = policy.snapshot
    options = CollectOptions(sample_count=sampling.sample_count, sample_interval_s=sampling.sample_interval_s)
    return collect_now(addresses, options=options)


def _read_history(folder: Path | None) -> list[Inventory]:
    """The folder's inventory files, oldest first."""
    if folder is None:
        return []
    if not folder.is_dir():
        raise BadInput("--history", "", f"{folder} is not a folder; expected one of earlier inventory files (*.json)")
    return sorted(map(read_inventory, sorted(folder.glob("*.json"))), key=lambda inventory: inventory.taken_at_utc)


def _before(history: Sequence[Inventory], current: Inventory, folder: Path | None) -> list[Inventory]:
    """The inventories taken before the current one; a file of another cluster is bad input."""
    for inventory in history:
        if inventory.cluster_name != current.cluster_name:
            problem = (
                f"holds an inventory of {inventory.cluster_name!r}; expected earlier ones of {current.cluster_name!r}"
            )
            raise BadInput("--history", "", f"{folder} {problem}")
    return [inventory for inventory in history if inventory.taken_at_utc < current.taken_at_utc]


def _check_out_file(out: Path, *, overwrite: bool) -> None:
    if out.is_dir():
        raise BadInput("--out", "", f"{out} is a folder; expected the name of a file")
    if not overwrite and out.exists() and out.stat().st_size:
        raise BadInput("--out", "", f"{out} exists; expected a new file, or --overwrite")


def _check_out_folder(out: Path, *, overwrite: bool) -> None:
    if out.exists() and not out.is_dir():
        raise BadInput("--out", "", f"{out} is a file; expected the name of a folder")
    if not overwrite and out.is_dir() and any(out.iterdir()):
        raise BadInput("--out", "", f"{out} is not empty; expected a new or empty folder, or --overwrite")


@contextmanager
def _whole_folder(out: Path) -> Iterator[Path]:
    """A folder beside ``out`` that takes its place when the body ends well, and vanishes when it does not."""
    out.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    part = work / "new"
    part.mkdir()
    try:
        yield part
        if out.exists():
            Path(out).replace(work / "old")
        Path(part).replace(out)
    finally:
        shutil.rmtree(work, ignore_errors=True)
