"""Fuzzes one target with atheris, guided by coverage: ``python -m tests.fuzz.one TARGET [options of libFuzzer]``.

libFuzzer ends the process, so each target has its own. ``tests.fuzz`` starts them.
"""

import logging
import sys

import atheris

MEASURED = ["rocketmq_capacity", "yaml", "json"]
"""Packages whose coverage guides the search; what is in C is not measured."""


def main() -> None:
    """Fuzz the target until libFuzzer ends the process."""
    name, *options = sys.argv[1:]
    with atheris.instrument_imports(include=MEASURED):
        from tests.fuzz.targets import target_of

        target = target_of(name)
    logging.getLogger("rocketmq_capacity").setLevel(logging.CRITICAL)  # runs that are set aside
    atheris.Setup([sys.argv[0], *options], target.read)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
