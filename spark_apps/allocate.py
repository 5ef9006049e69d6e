"""Gives the queues of every group to its clients, once for each strategy, as RocketMQ itself would."""

from collections.abc import Sequence

from rocketmq_capacity.steps.app import app_parser, computing, run_app


def main(argv: Sequence[str] | None = None) -> None:
    """Read the run's tables, allocate, write the run's tables; every decision lives in the library."""
    args = app_parser(__doc__).parse_args(argv)
    with computing(args, "allocate") as planning:
        from rocketmq_capacity.steps.allocate import allocate

        allocate(planning)


if __name__ == "__main__":
    run_app(main)
