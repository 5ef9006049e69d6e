"""The SHA-256 of the sample's plan.json, kept in a file so that a change of its bytes shows.

After a change that is meant, ``.make/env.sh python -m tests.plan.sample_bytes`` writes the file again.
"""

import hashlib
import tempfile
from pathlib import Path
from typing import Final

from rocketmq_capacity.settings.deployment import sample_inventory
from tests.plan import program

FILE: Final = Path(__file__).with_name("sample_plan.sha256")
AGAIN: Final = ".make/env.sh python -m tests.plan.sample_bytes"


def sha256_of(plan: Path) -> str:
    """The hash of a plan.json, as ``sha256sum`` prints it."""
    return f"{hashlib.sha256(plan.read_bytes()).hexdigest()}  plan.json\n"


def main() -> None:
    """Plan the sample, and write the file."""
    with tempfile.TemporaryDirectory() as folder:
        out = program.plan(sample_inventory(), Path(folder) / "out")
        FILE.write_text(sha256_of(out / "plan.json"), encoding="ascii")


if __name__ == "__main__":
    main()
