"""Measures the loads that every strategy gives, and flags what is wrong."""

from collections.abc import Sequence

from rocketmq_capacity.steps.app import app_parser, computing, run_app
from rocketmq_capacity.store.lake import Lake


def main(argv: Sequence[str] | None = None) -> None:
    """Read the run's tables, assess, write the run's tables; every decision lives in the library."""
    args = app_parser(__doc__).parse_args(argv)
    with computing(args, "assess") as planning:
        from rocketmq_capacity.steps.assess import assess, found_before

        assess(planning, found_before(Lake(args.lake), planning))


if __name__ == "__main__":
    run_app(main)
