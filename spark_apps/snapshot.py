"""Takes the snapshot that a run plans from: of a live cluster, or of an inventory file; stores it with its tables."""

from collections.abc import Sequence
from pathlib import Path

from rocketmq_capacity.progress.progress import INFO
from rocketmq_capacity.snapshot.dated import dated
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from rocketmq_capacity.snapshot.past import with_past_days
from rocketmq_capacity.steps.app import app_parser, log_of, policy_of, run_app, see_executors, storing
from rocketmq_capacity.steps.inputs import connection_of, history_of, inventory_of, moment_of, stored_history
from rocketmq_capacity.steps.stored_samples import with_stored_samples
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.place import errors_in_one_line
from rocketmq_capacity.store.run_lookup import stored_run


def main(argv: Sequence[str] | None = None) -> None:
    """Plan from the snapshot that the run has stored, else take one; every decision lives in the library."""
    parser = app_parser(__doc__)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--inventory", type=Path, metavar="FILE", help="an inventory recorded earlier")
    source.add_argument("--nameserver", metavar="HOST:PORT[;HOST:PORT…]", help="the name servers of a live cluster")
    parser.add_argument("--dated", action="store_true", help="date the inventory at the moment that the run was due")
    parser.add_argument("--connection", type=Path, metavar="FILE", help="TLS, keys and time limits of the live cluster")
    parser.add_argument(
        "--history", type=Path, metavar="DIR", help="earlier inventories of the same cluster; else the lake's"
    )
    parser.add_argument("--check-executors", action="store_true", help="first see whether executors can do the work")
    parser.add_argument("--replaces-plan", action="store_true", help="no trial, whatever is decided otherwise")
    args = parser.parse_args(argv)

    lake, policy = Lake(args.lake), policy_of(args)
    with log_of(policy) as progress:
        if args.check_executors:
            see_executors(lake, progress)
        # A cluster cannot be asked about yesterday: a run that is cleared later keeps the facts that it was made from.
        stored = stored_run(lake, args.run_id)
        if stored:
            with errors_in_one_line(stored.inventory):
                inventory = read_inventory(stored.inventory)
            progress.tell(f"snapshot: the run keeps its stored snapshot, {stored.inventory}", INFO)
        else:
            settings = connection_of(args.connection, args.nameserver)
            inventory = inventory_of(args.inventory, args.nameserver, policy, settings, progress)
            if args.dated:
                inventory = dated(inventory, moment_of(args.run_id))
        run = lake.run(inventory.cluster_name, args.run_id)
        # A file may be planned again and again: its earlier runs are no history of the cluster.
        is_live = args.nameserver is not None
        if is_live and not stored:
            inventory = with_stored_samples(inventory, run.folder.parent, policy.thresholds)
        history = history_of(args.history, inventory) or stored_history(lake, run, inventory, policy, is_live=is_live)
        if is_live:
            # The next run's history is its latest run alone, so each run keeps the figures of all stored days.
            inventory = with_past_days(inventory, history, policy.thresholds)
        with storing(run, policy, "snapshot", progress) as planning:
            from rocketmq_capacity.steps.own_policy import store_own_policy
            from rocketmq_capacity.steps.snapshot import snapshot

            snapshot(planning, inventory, history)
            store_own_policy(args, run)


if __name__ == "__main__":
    run_app(main)
