"""A small file that expands to more than any memory holds is refused with that reason, whichever file it is."""

from pathlib import Path

import pytest

from rocketmq_capacity.client.options import read_connection
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.yaml_file import LARGEST
from tests.cli.conftest import Refusal
from tests.cli.small_cluster import written
from tests.fixtures.hostile_yaml import GROWING

LONGEST_LINE = 2_000


@pytest.mark.parametrize("option", ["--policy", "--scenario"])
@pytest.mark.parametrize(("text", "said"), GROWING.values(), ids=GROWING)
def test_what_grows_is_refused_with_its_line(
    refusal: Refusal, tmp_path: Path, option: str, text: str, said: str
) -> None:
    file = tmp_path / "hostile.yaml"
    file.write_text(text, encoding="utf-8")

    line = refusal("plan", "--inventory", written(tmp_path), "--out", tmp_path / "out", option, file)

    assert line.startswith(f"{file}: {said}")
    assert len(line) < LONGEST_LINE + len(str(file))


@pytest.mark.parametrize(("text", "said"), GROWING.values(), ids=GROWING)
def test_what_grows_is_refused_as_a_connection_without_quoting_it(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "connection.yaml"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(BadInput) as refused:
        read_connection(file)

    line = str(refused.value).removeprefix(f"{file}: ")
    assert line.startswith(said.partition(" (")[0] if said.startswith("line") else "has an unknown key")
    assert len(line) < LONGEST_LINE
    assert "kkk" not in line
    assert "59:59" not in line


@pytest.mark.parametrize("option", ["--policy", "--scenario"])
def test_a_file_that_is_too_long_is_refused_before_it_is_parsed(refusal: Refusal, tmp_path: Path, option: str) -> None:
    file = tmp_path / "long.yaml"
    with file.open("wb") as sparse:
        sparse.truncate(LARGEST + 1)

    line = refusal("plan", "--inventory", written(tmp_path), "--out", tmp_path / "out", option, file)

    assert line.startswith(f"{file}: is too long; expected ")
