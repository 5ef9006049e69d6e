"""The zip that executors import the package from."""

import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from rocketmq_capacity.provider.executor_code import packed, packed_file
from rocketmq_capacity.settings.deployment import PACKAGE


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip of this checkout."""
    file = tmp_path_factory.mktemp("code") / "rocketmq_capacity.zip"
    file.write_bytes(packed())
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


def test_the_file_is_what_is_installed_and_only_we_can_write_to_it(tmp_path: Path, archive: Path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    with packed_file() as file, packed_file() as other:
        assert file.read_bytes() == archive.read_bytes()
        assert (file.parent != other.parent, stat.S_IMODE(file.parent.stat().st_mode)) == (True, 0o700)
    assert list(tmp_path.iterdir()) == []
