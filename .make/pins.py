"""The pins in the files that `make lock` writes: each names a package, its version, for which machines, and hashes."""

from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HOME: Final = Path(__file__).resolve().parents[1]
RUNS: Final = HOME / "requirements.txt"
TESTS: Final = HOME / "requirements-dev.txt"
BUILDS: Final = HOME / "requirements-build.txt"
IMAGE: Final = {
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_system": "Linux",
    "python_full_version": "3.11.14",
    "python_version": "3.11",
    "sys_platform": "linux",
}
"""What the markers of the pins are read for."""


def pinned(file: Path) -> list[Requirement]:
    """All pins of a file, without their hashes."""
    lines = file.read_text(encoding="utf-8").replace("\\\n", "").splitlines()
    return [Requirement(line.partition("--hash=")[0]) for line in lines if line.strip()]


def in_image(file: Path) -> dict[str, str]:
    """The packages that a file pins for the image, and their versions."""
    found = {}
    for requirement in pinned(file):
        if requirement.marker is None or requirement.marker.evaluate(IMAGE):
            (version,) = requirement.specifier
            found[canonicalize_name(requirement.name)] = version.version
    return dict(sorted(found.items()))
