"""Builds Java programs of the tests: ``python -m tests.oracle.build``.

It needs no Python package, so the set-up does it while the packages are installed. What is left out here, or changes
later, is built by the first test that needs it.
"""

import sys

from tests.cluster import jvm, proxies
from tests.oracle import java_oracle
from tests.oracle.maven_project import OracleUnavailable
from tests.oracle.rocketmq_version import NEWEST, ROCKETMQ
from tests.store.hdfs.project import HDFS


def main() -> str | None:
    """Build them one after the other; the reason where this machine cannot."""
    try:
        for version in (ROCKETMQ, NEWEST):
            for program in (java_oracle, jvm):
                program.project_of(version).classpath()
        proxies.GRPC_CLIENTS.classpath()
        jvm.ACL_1.classpath()
        HDFS.classpath()
    except OracleUnavailable as lack:
        return str(lack)
    return None


if __name__ == "__main__":
    sys.exit(main())
