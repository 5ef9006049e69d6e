"""Finds the smallest safe change for each finding, and its commands."""

from collections.abc import Sequence

from rocketmq_capacity.app import app_parser, run_app, run_of
from rocketmq_capacity.steps import recommend


def main(argv: Sequence[str] | None = None) -> None:
    """Read the run's tables, recommend, write the run's tables; every decision lives in the library."""
    args = app_parser(__doc__).parse_args(argv)
    with run_of(args, "recommend") as planning:
        recommend(planning)


if __name__ == "__main__":
    run_app(main)
