"""The Maven project of a real HDFS."""

from pathlib import Path
from typing import Final

from tests.oracle.maven_project import MavenProject

HDFS: Final = MavenProject(Path(__file__).parent)
