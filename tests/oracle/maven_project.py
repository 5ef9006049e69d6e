"""A small Java program under the tests: built once by Maven, run from its classpath ever after.

Both Java sides of the tests (the official strategy classes, the real RocketMQ) are Maven projects of their own, whose
dependencies come from Maven Central by their pom.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BUILD_TIME_LIMIT_S: Final = 900
"""A first build downloads about 100 MB; a later one takes seconds."""

_TRUSTS_CLASSES: Final = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")
"""The compiler has checked these classes: to check each again takes a quarter of the start of a broker."""
_QUICK: Final = " ".join(("-XX:TieredStopAtLevel=1", *_TRUSTS_CLASSES))
"""A build is short: with the second compiler it takes twice the processor time."""

_LACKS: Final = (
    "No compiler is provided",
    "Could not resolve",
    "Could not transfer",
    "Cannot access",
    "invalid target",
)
"""What Maven says when the machine, and not our program, is at fault."""


class OracleUnavailable(Exception):
    """This machine cannot run the official Java classes; the message says in one line what it lacks."""


class JavaBuildError(Exception):
    """Our own Java program does not build; the message is Maven's."""


@dataclass(frozen=True, slots=True)
class MavenProject:
    """A folder with a ``pom.xml`` and ``src/``; everything made of them goes to its ``target/``.

    ``also`` are folders of other projects whose sources this pom compiles too. ``rocketmq`` is a version for which the
    pom has a profile, and a folder of its own under ``target/``.
    """

    folder: Path
    also: tuple[Path, ...] = ()
    rocketmq: str | None = None

    def command(self, main_class: str, *args: str, jvm: Sequence[str] = ()) -> list[str]:
        """The command line that runs a main class, built first if it is not up to date.

        Errors: OracleUnavailable without Java, Maven or Maven Central; JavaBuildError if the program does not compile.
        """
        return [java(), *_TRUSTS_CLASSES, *jvm, "-cp", self.classpath(), main_class, *args]

    def classpath(self) -> str:
        """Our classes, then every jar of the pom; builds when the sources changed or a jar is gone."""
        java()
        with self._alone():
            if not self._is_built():
                self._build()
            return os.pathsep.join([str(self._target / "classes"), self._jars.read_text("utf-8").strip()])

    @property
    def _target(self) -> Path:
        return self.folder / "target" / (self.rocketmq or "")

    @property
    def _jars(self) -> Path:
        return self._target / "classpath.txt"

    @property
    def _stamp(self) -> Path:
        return self._target / "built.sha256"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Test workers run side by side: one builds, the others wait and find it built."""
        self._target.mkdir(parents=True, exist_ok=True)
        with (self._target / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _fingerprint(self) -> str:
        digest = hashlib.sha256()
        roots = [folder / "src" for folder in (self.folder, *self.also)]
        sources = sorted(path for root in roots for path in root.rglob("*") if path.is_file())
        for path in [self.folder / "pom.xml", *sources]:
            digest.update(f"{path.relative_to(self.folder.parent)}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def _is_built(self) -> bool:
        if not self._stamp.exists() or self._stamp.read_text("ascii") != self._fingerprint():
            return False
        return all(Path(jar).exists() for jar in self._jars.read_text("utf-8").strip().split(os.pathsep))

    def _build(self) -> None:
        self._stamp.unlink(missing_ok=True)
        shutil.rmtree(self._target / "classes", ignore_errors=True)
        profile = [] if self.rocketmq is None else ["-P", f"rocketmq-{self.rocketmq}"]
        goals = [*profile, "compile", "dependency:build-classpath", f"-Dmdep.outputFile={self._jars}"]
        try:
            done = subprocess.run(
                [maven(), "-q", "-B", "-ntp", "-Dstyle.color=never", "-f", str(self.folder / "pom.xml"), *goals],
                capture_output=True,
                text=True,
                env={**os.environ, "MAVEN_OPTS": f"{_QUICK} {os.environ.get('MAVEN_OPTS', '')}"},
                timeout=BUILD_TIME_LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise OracleUnavailable(f"Maven did not finish within {BUILD_TIME_LIMIT_S} s") from error
        if done.returncode != 0:
            raise _failure_of(done.stdout + done.stderr)
        self._stamp.write_text(self._fingerprint(), "ascii")


def java() -> str:
    """The java of JAVA_HOME, else of the PATH.

    Errors: OracleUnavailable where there is none.
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if found is None:
        where = f"JAVA_HOME={home}" if home else "the PATH"
        raise OracleUnavailable(f"no java in {where}: install a JDK 17 or 21 (Debian: openjdk-17-jdk-headless)")
    return found


def maven() -> str:
    """The mvn of the PATH.

    Errors: OracleUnavailable where there is none.
    """
    found = shutil.which("mvn")
    if found is None:
        raise OracleUnavailable("no mvn in the PATH: install Maven 3.8 or later (Debian: maven)")
    return found


def _failure_of(output: str) -> OracleUnavailable | JavaBuildError:
    for line in output.splitlines():
        if any(lack in line for lack in _LACKS):
            return OracleUnavailable(f"Maven cannot build here: {line.removeprefix('[ERROR] ').strip()}")
    return JavaBuildError(output.strip())
