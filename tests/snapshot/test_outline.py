"""The outline of an inventory file, which Airflow's API server reads while others may write."""

import subprocess
import sys
from pathlib import Path

from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.snapshot.outline import LARGEST, outline_of

READS = """
import os, sys, threading
from pathlib import Path
from rocketmq_capacity.snapshot.outline import outline_of
file, whole, is_over = Path(sys.argv[1]), Path(sys.argv[1]).read_bytes(), threading.Event()
def cut():
    while not is_over.is_set():
        os.truncate(file, 0)
        file.write_bytes(whole)
writer = threading.Thread(target=cut)
writer.start()
for _ in range(200):
    outline_of(file)
is_over.set()
writer.join()
"""


def test_a_file_that_is_cut_short_while_it_is_read_does_not_end_the_process(tmp_path: Path) -> None:
    file = tmp_path / "inventory.json"
    file.write_bytes(sample_inventory().read_bytes())

    done = subprocess.run([sys.executable, "-c", READS, str(file)], timeout=300, check=False)

    assert done.returncode == 0


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "inventory.json"
    content = sample_inventory().read_bytes()
    file.write_bytes(content.ljust(LARGEST))
    assert outline_of(file) is not None

    file.write_bytes(content.ljust(LARGEST + 1))

    assert outline_of(file) is None
