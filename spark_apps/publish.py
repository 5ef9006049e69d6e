"""Writes what people read: report.html, plan.json, findings.csv and recommendations.csv."""

from collections.abc import Sequence

from rocketmq_capacity.app import app_parser, run_app, run_of
from rocketmq_capacity.lake import Lake
from rocketmq_capacity.steps import publish
from rocketmq_capacity.what_if import effect_of


def main(argv: Sequence[str] | None = None) -> None:
    """Read the run's tables, publish, write what it says; every decision lives in the library."""
    args = app_parser(__doc__).parse_args(argv)
    with run_of(args, "publish") as planning:
        publish(planning, effect_of(planning, Lake(args.lake)))


if __name__ == "__main__":
    run_app(main)
