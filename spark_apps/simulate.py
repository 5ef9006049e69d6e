"""Stores the snapshot of a run as a scenario leaves it: the first step of a what-if."""

from collections.abc import Sequence

from rocketmq_capacity.simulation.scenario import apply, scenario_of_text
from rocketmq_capacity.simulation.what_if import WhatIf
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from rocketmq_capacity.steps.app import app_parser, log_of, policy_of, run_app, storing
from rocketmq_capacity.steps.own_policy import store_own_policy
from rocketmq_capacity.steps.what_if import simulate
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.run_lookup import existing_run


def main(argv: Sequence[str] | None = None) -> None:
    """Change the stored snapshot of the run before, write the run's tables; every decision lives in the library."""
    parser = app_parser(__doc__)
    parser.add_argument("--before", required=True, metavar="ID", help="the run of the cluster as it is")
    parser.add_argument("--scenario", required=True, metavar="YAML", help="the text of a scenario file")
    args = parser.parse_args(argv)

    lake, policy = Lake(args.lake), policy_of(args)
    what_if = WhatIf(args.before, scenario_of_text(args.scenario, "--scenario"))
    before = existing_run(lake, args.before)
    run = lake.run(before.folder.parent.name, args.run_id)
    changed = apply(read_inventory(before.inventory), what_if.scenario, policy, "--scenario")
    with log_of(policy) as progress, storing(run, policy, "simulate", progress) as planning:
        simulate(planning, what_if, changed)
        store_own_policy(args, before, run)


if __name__ == "__main__":
    run_app(main)
