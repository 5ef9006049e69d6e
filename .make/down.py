"""Stops what `make up` started, and whatever of it was left behind by a crash; silent where nothing runs."""

import sys

from local_airflow import of_environment


def main() -> int:
    """Stop all of it."""
    stopped = of_environment().stop()
    if stopped:
        print(f"Airflow is stopped ({stopped} processes)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
