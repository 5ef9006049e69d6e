"""Samples a live cluster between two plans: offsets, lags and members; stores them by day."""

from collections.abc import Sequence
from pathlib import Path

from rocketmq_capacity.progress.progress import INFO
from rocketmq_capacity.steps.app import app_parser, log_of, policy_of, run_app
from rocketmq_capacity.steps.inputs import connection_of
from rocketmq_capacity.steps.sample import in_a_few_words, store_sample, take_sample
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.place import errors_in_one_line


def main(argv: Sequence[str] | None = None) -> None:
    """Ask the cluster, and add to its day; every decision lives in the library. No Spark session starts."""
    parser = app_parser(__doc__)
    parser.add_argument("--nameserver", required=True, metavar="HOST:PORT[;…]", help="the cluster's name servers")
    parser.add_argument("--connection", type=Path, metavar="FILE", help="TLS, keys and time limits of the cluster")
    args = parser.parse_args(argv)

    policy = policy_of(args)
    settings = connection_of(args.connection, args.nameserver)
    with log_of(policy) as progress, errors_in_one_line(args.lake):
        sample = take_sample(args.nameserver, policy, settings)
        day = store_sample(Lake(args.lake), sample, policy.samples.keep_days)
        progress.tell(f"sample: {in_a_few_words(sample)}; the day is in {day.folder}", INFO)


if __name__ == "__main__":
    run_app(main)
