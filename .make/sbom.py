"""Writes sbom.cdx.json: everything that runs, as CycloneDX JSON.

That is every pin of the image (CPython 3.11 on Linux) with the version and the licence of the installed package, and
every jar that PySpark brings, with its SHA-256.
"""

import hashlib
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final
from zipfile import ZipFile

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from licences import stated_licences
from packageurl import PackageURL
from pins import HOME, RUNS, in_image

FILE: Final = HOME / "sbom.cdx.json"
WITH_JARS: Final = "pyspark"


def main() -> None:
    """Write the file."""
    FILE.write_text(text(), encoding="utf-8")
    print(f"sbom: {FILE.name} lists what runs")


def text() -> str:
    """The file's content. Exits with one line if what is installed is not what is pinned."""
    project = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    licences = LicenseFactory()
    bom = Bom()
    bom.metadata.component = described = Component(
        type=ComponentType.APPLICATION,
        name=project["name"],
        version=project["version"],
        bom_ref=project["name"],
        licenses=[licences.make_from_string(project["license"])],
    )
    stated = stated_licences()
    packages = {
        name: Component(
            name=name,
            version=version,
            bom_ref=(url := PackageURL("pypi", name=name, version=version)).to_string(),
            purl=url,
            licenses=[licences.make_from_string(stated[name])] if name in stated else [],
        )
        for name, version in installed().items()
    }
    folder = Path(str(distribution(WITH_JARS).locate_file("pyspark/jars")))
    jars = [jar(file) for file in sorted(folder.glob("*.jar"))]
    for component in (*packages.values(), *jars):
        bom.components.add(component)
    bom.register_dependency(described, packages.values())
    bom.register_dependency(packages[WITH_JARS], jars)
    return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


def installed() -> dict[str, str]:
    """The packages that are pinned for the image, and their versions, which are those that are installed."""
    pinned = in_image(RUNS)
    for name, version in pinned.items():
        try:
            found = distribution(name).version
        except PackageNotFoundError:
            found = "no version"
        if found != version:
            sys.exit(f"sbom: {name}: {found} is installed, and {RUNS.name} pins {version}; run: make set-up-dev")
    return pinned


def jar(file: Path) -> Component:
    """A jar: its name, its version, and its group where it names itself."""
    own = [(artifact, group) for group, artifact in poms(file) if file.stem.startswith(f"{artifact}-")]
    if own:
        # The longest name is its own, and not that of something that it has copied in.
        name, group = max(own, key=lambda each: len(each[0]))
        version = file.stem.removeprefix(f"{name}-")
        url = PackageURL("maven", group, name, version)
    else:
        name, _, version = re.sub(r"-(?=\d)", "\n", file.stem, count=1).partition("\n")
        url = None
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return Component(
        name=name,
        version=version or None,
        bom_ref=file.name,
        purl=url,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
    )


def poms(file: Path) -> set[tuple[str, str]]:
    """Group and name of what a jar says to be, and of all that it has copied in."""
    with ZipFile(file) as archive:
        found = (re.fullmatch(r"META-INF/maven/([^/]+)/([^/]+)/pom\.properties", name) for name in archive.namelist())
        return {(each[1], each[2]) for each in found if each}


if __name__ == "__main__":
    main()
