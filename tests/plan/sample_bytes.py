"""The sample's plan.json as it is expected, byte for byte, in a file that people can read and compare.

After a change that is meant, ``.make/env.sh python -m tests.plan.sample_bytes`` writes the file again.
"""

import json
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from rocketmq_capacity.settings.deployment import sample_inventory
from tests.plan import program

FILE: Final = Path(__file__).with_name("sample_plan.json")
AGAIN: Final = ".make/env.sh python -m tests.plan.sample_bytes"
SHOWN: Final = 20
"""So many members that differ are shown."""
ABSENT: Final = "(absent)"


def difference(expected: bytes, actual: bytes) -> str:
    """The members that differ, a line each: path, old and new; empty if the bytes are equal.

    The first ``SHOWN`` are named. Bytes can differ where no member does: in the order of members or in spaces.
    """
    if expected == actual:
        return ""
    lines = list(islice(_members("$", json.loads(expected), json.loads(actual)), SHOWN + 1))
    more = ["and more"] if len(lines) > SHOWN else []
    shown = lines[:SHOWN] or ["no member differs: the order of members, or the spaces between them, do"]
    return "\n".join([*shown, *more, f"if the change is meant: {AGAIN}"])


def _members(path: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(old.keys() | new.keys()):
            yield from _members(f"{path}.{name}", old.get(name, ABSENT), new.get(name, ABSENT))
    elif isinstance(old, list) and isinstance(new, list):
        for place in range(max(len(old), len(new))):
            before = old[place] if place < len(old) else ABSENT
            after = new[place] if place < len(new) else ABSENT
            yield from _members(f"{path}[{place}]", before, after)
    elif (type(old), old) != (type(new), new):
        yield f"{path}: {_short(old)} -> {_short(new)}"


def _short(value: Any) -> str:
    text = value if value is ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}…"


def main() -> None:
    """Plan the sample, and write the file."""
    with tempfile.TemporaryDirectory() as folder:
        out = program.plan(sample_inventory(), Path(folder) / "out")
        FILE.write_bytes((out / "plan.json").read_bytes())


if __name__ == "__main__":
    main()
