"""Writes what people read: report.html, plan.json, findings.csv and recommendations.csv."""

from collections.abc import Sequence

from rocketmq_capacity.steps.app import app_parser, log_of, of_run, policy_of, run_app, storing
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.run_lookup import existing_run


def main(argv: Sequence[str] | None = None) -> None:
    """Read the run's tables, publish, write what it says; every decision lives in the library."""
    args = app_parser(__doc__).parse_args(argv)
    lake, policy = Lake(args.lake), policy_of(args)
    run = existing_run(lake, args.run_id)
    policy = of_run(policy, run)
    with log_of(policy) as progress, storing(run, policy, "publish", progress) as planning:
        from rocketmq_capacity.steps.publish import publish
        from rocketmq_capacity.steps.what_if import effect_of

        publish(planning, effect_of(planning, lake))


if __name__ == "__main__":
    run_app(main)
