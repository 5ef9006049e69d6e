"""The zip that executors import the package from."""

import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import PIPE
from typing import Final

import pytest

from rocketmq_capacity.provider.executor_code import packed, write_packed
from rocketmq_capacity.settings.deployment import PACKAGE


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip of this checkout."""
    file = tmp_path_factory.mktemp("code") / "rocketmq_capacity.zip"
    write_packed(file)
    return file


def test_equal_sources_give_equal_bytes(tmp_path: Path, archive: Path) -> None:
    copy = tmp_path / PACKAGE.name
    for file in sorted((path for path in PACKAGE.rglob("*") if "." in path.name and path.is_file()), reverse=True):
        if file.suffix == ".pyc":
            continue
        target = copy / file.relative_to(PACKAGE)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())

    assert packed(copy) == archive.read_bytes()


def test_a_python_with_the_zip_alone_imports_the_package_without_compiling_it(archive: Path) -> None:
    code = "import rocketmq_capacity.errors as m; print(m.__file__)"
    isolated = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(archive)!r}); {code}"]
    answer = subprocess.run(isolated, capture_output=True, text=True, check=True)

    assert answer.stdout.strip() == f"{archive}/rocketmq_capacity/errors.pyc"


def test_the_report_s_templates_are_in_the_zip(archive: Path) -> None:
    packed_files = set(zipfile.ZipFile(archive).namelist())

    for template in (PACKAGE / "report" / "templates").iterdir():
        assert template.relative_to(PACKAGE.parent).as_posix() in packed_files


def test_an_unchanged_zip_is_left_alone_and_an_outdated_one_replaced(tmp_path: Path, archive: Path) -> None:
    file = tmp_path / "code" / "rocketmq_capacity.zip"
    file.parent.mkdir()
    shutil.copy(archive, file)
    first = file.stat().st_ino
    write_packed(file)
    assert file.stat().st_ino == first

    file.write_bytes(b"of another version")
    write_packed(file)

    assert file.read_bytes() == archive.read_bytes()
    assert {one.name for one in file.parent.iterdir()} == {"rocketmq_capacity.zip", "rocketmq_capacity.lock"}


WRITES: Final = """
import sys
from pathlib import Path
import rocketmq_capacity.provider.executor_code as code

def packed():
    print("writes", flush=True)
    sys.stdin.read()

code.packed = packed
code.write_packed(Path(sys.argv[1]))
"""


def test_what_killed_writers_left_is_cleared_and_two_do_not_write_at_once(tmp_path: Path, archive: Path) -> None:
    file = tmp_path / "rocketmq_capacity.zip"
    for name in (".rocketmq_capacity.zip.part", "tmpx1y2z3.part"):
        (tmp_path / name).write_bytes(b"half of it")
    first = subprocess.Popen([sys.executable, "-c", WRITES, str(file)], stdin=PIPE, stdout=PIPE, text=True)
    assert first.stdout is not None
    assert first.stdout.readline() == "writes\n"

    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(write_packed, file)
        with pytest.raises(TimeoutError):
            second.result(0.5)
        first.kill()
        first.communicate()
        second.result(30)

    assert file.read_bytes() == archive.read_bytes()
    assert {one.name for one in tmp_path.iterdir()} == {"rocketmq_capacity.zip", "rocketmq_capacity.lock"}
