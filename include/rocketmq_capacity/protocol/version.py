"""RocketMQ's versions: the ordinal that travels in headers, its name, and the three numbers in it.

Source: MQVersion.java, rocketmq-all-5.3.3 (a number past its end counts as its last, HIGHER_VERSION).
"""

import re
from collections.abc import Iterator
from typing import Final

Version = tuple[int, int, int]
_NAME: Final = re.compile(r"V(\d{1,9})_(\d{1,9})_(\d{1,9})(.*)", re.ASCII | re.DOTALL)
_BETAS: Final = (6, 7, 8, 9)


def _names() -> Iterator[str]:
    """The enumeration in its order: two names a patch release, with its irregular beginning."""
    yield from ("V3_0_0_SNAPSHOT", "V3_0_0_ALPHA1", *(f"V3_0_0_BETA{beta}" for beta in range(1, 6)))
    for beta in _BETAS:
        yield from (f"V3_0_0_BETA{beta}_SNAPSHOT", f"V3_0_0_BETA{beta}")
    yield "V3_0_0_FINAL"
    for patch in range(1, 16):
        yield from (f"V3_0_{patch}_SNAPSHOT", f"V3_0_{patch}")
    for major, minors in ((3, range(1, 10)), (4, range(10)), (5, range(10))):
        for minor in minors:
            first = 1 if major == 3 and minor >= 3 else 0  # 3.3 to 3.9 have no patch 0
            for patch in range(first, 10):
                yield from (f"V{major}_{minor}_{patch}_SNAPSHOT", f"V{major}_{minor}_{patch}")
    yield "HIGHER_VERSION"


VERSIONS: Final = tuple(_names())
OWN_VERSION: Final = VERSIONS.index("V5_3_3")
"""What our requests claim: from V4_9_4 on, name servers answer routes in strict JSON."""


def version_name(number: int) -> str:
    """The name of a version number, as ``MQVersion.getVersionDesc`` gives it."""
    return VERSIONS[min(max(number, 0), len(VERSIONS) - 1)]


def numbers_of(name: str | None) -> Version | None:
    """The numbers of a version, also of one such as V5_0_0_SNAPSHOT; None if it is unknown."""
    match = _NAME.fullmatch(name or "")
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def version_of(name: str | None) -> Version | None:
    """The numbers of a release; None if the name is not a release, such as V5_0_0_SNAPSHOT and HIGHER_VERSION."""
    match = _NAME.fullmatch(name or "")
    return None if match is None or match[4] else numbers_of(name)


def name_of(version: Version) -> str:
    """The name of a release as RocketMQ writes it: ``V4_9_8``."""
    return "V" + "_".join(map(str, version))
