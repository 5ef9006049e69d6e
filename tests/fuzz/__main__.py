"""Starts the fuzzing in the environment of the tests, which other modules read when they are imported."""

import sys

from tests.fixtures.environment import set_environment

if __name__ == "__main__":
    set_environment()
    from tests.fuzz.campaign import main

    sys.exit(main())
