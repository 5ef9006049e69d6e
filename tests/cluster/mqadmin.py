"""The official command line tool, run as a person would run it."""

import os
import shlex
import subprocess
from pathlib import Path
from typing import Final

from tests.cluster.jvm import PROJECT

TIME_LIMIT_S: Final = 300
QUICK: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""For a JVM that lives for seconds."""


def mqadmin(line: str, folder: Path) -> str:
    """Run one command line, ``mqadmin`` and all, in a folder that may be thrown away; what it says."""
    program, *words = shlex.split(line)
    assert program == "mqadmin", line
    jvm = [*QUICK, f"-Duser.home={folder}"]
    command = PROJECT.command("org.apache.rocketmq.tools.command.MQAdminStartup", *words, jvm=jvm)
    environment = {**os.environ, "ROCKETMQ_HOME": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=True
    )
    said = done.stdout + done.stderr
    # A subcommand that fails prints its stack and ends with status 0 all the same.
    assert "Exception" not in said, said
    return said
