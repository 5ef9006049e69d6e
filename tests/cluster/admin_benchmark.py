"""The official admin client timed over the facts of one snapshot, for the benchmark."""

import json
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Final

from tests.cluster.jvm import PROJECT, ClusterError

_JVM: Final = ("-Xms128m", "-Xmx1g", "-XX:+UseSerialGC")


@dataclass(frozen=True, slots=True)
class AdminTiming:
    """Seconds of each pass, the first of them cold; the calls of one pass."""

    threads: int
    seconds: tuple[float, ...]
    calls: int


def time_admin_client(nameserver: str, *, passes: int, threads: int) -> AdminTiming:
    """Fetch with DefaultMQAdminExt what a snapshot fetches, so many times in one JVM; see AdminBenchmark.java for what.

    One thread asks one question after the other.

    Errors: OracleUnavailable; ClusterError if the JVM fails; subprocess.TimeoutExpired past the time limit.
    """
    with tempfile.TemporaryDirectory(prefix="rocketmq-bench-") as folder:
        options = [*_JVM, f"-Dcapacity.log={folder}/admin.log", f"-Duser.home={folder}"]
        command = PROJECT.command("capacity.cluster.AdminBenchmark", nameserver, str(passes), str(threads), jvm=options)
        done = subprocess.run(command, capture_output=True, text=True, timeout=900.0, check=False, cwd=folder)
    if done.returncode != 0:
        raise ClusterError(f"the admin benchmark failed: {done.stderr.strip()}")
    timing = json.loads(done.stdout.splitlines()[-1])
    return AdminTiming(timing["threads"], tuple(timing["seconds"]), timing["calls"])
