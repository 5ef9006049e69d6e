"""Finds the smallest safe change for each finding, and its commands."""

from collections.abc import Sequence

from rocketmq_capacity.steps.app import app_parser, computing, run_app


def main(argv: Sequence[str] | None = None) -> None:
    """Read the run's tables, recommend, write the run's tables; every decision lives in the library."""
    args = app_parser(__doc__).parse_args(argv)
    with computing(args, "recommend") as planning:
        from rocketmq_capacity.steps.recommend import recommend

        recommend(planning)


if __name__ == "__main__":
    run_app(main)
