"""What is wrong with the arguments themselves, with a file that they name, or with the history."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Refusal
from tests.cli.program import run
from tests.cli.small_cluster import cluster_with, written

NO_ADDRESSES = ["", ";", "localhost", "127.0.0.1:", ":9876", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:port"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["plan", "--inventory=x.json"], "plan: the following arguments are required: --out; "),
        (["plan", "--inventory=x.json", "--out"], "plan: argument --out: expected one argument; "),
        (["plan", "--inventry=x.json", "--out=out"], "plan: no such argument: --inventry=x.json; expected --inventory"),
        (["plan", "--inv=x.json", "--out=out"], "plan: no such argument: --inv=x.json; expected --"),
        (["plan", "x.json", "--out=out"], "plan: no such argument: x.json; expected --out, --inventory, "),
        (["snapshot", "--out=x.json"], "snapshot: the following arguments are required: --nameserver; "),
        (["snapshot", "--nameserver=127.0.0.1:9876"], "snapshot: the following arguments are required: --out; "),
        (["plan", "--out=out", "--language=fr"], "plan: argument --language: invalid choice: 'fr' (choose from "),
        (["plna"], "arguments: argument COMMAND: invalid choice: 'plna' (choose from "),
        (["--out=out"], "arguments: the following arguments are required: COMMAND; "),
    ],
)
def test_arguments_that_the_command_line_does_not_take_are_named(
    refusal: Refusal, arguments: list[str], line: str
) -> None:
    assert refusal(*arguments).startswith(line)


def test_without_arguments_the_commands_are_shown(tmp_path: Path) -> None:
    done = run(cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert {"snapshot", "plan", "doctor"} <= set(done.stderr.split())


def test_bad_arguments_are_refused_before_anything_heavy_is_imported(tmp_path: Path) -> None:
    heavy = "{'asyncio', 'msgspec', 'numpy', 'pyarrow', 'pydantic', 'pyspark', 'rich', 'yaml'}"
    look = f"import sys, rocketmq_capacity.cli as c\ntry: c.main()\nfinally: print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", look, "plan"], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout) == (2, "[]\n")


@pytest.mark.parametrize("sources", [[], ["--inventory=inventory.json", "--nameserver=127.0.0.1:1"]])
def test_a_plan_is_of_a_file_or_of_a_cluster_and_not_of_both(
    refusal: Refusal, tmp_path: Path, sources: list[str]
) -> None:
    written(tmp_path)
    assert refusal("plan", "--out=out", *sources) == "--inventory, --nameserver: expected exactly one of them"


@pytest.mark.parametrize("nameserver", NO_ADDRESSES)
@pytest.mark.parametrize("command", [["plan", "--out=out"], ["snapshot", "--out=inventory.json"], ["doctor"]])
def test_a_name_server_that_is_no_address_is_refused(refusal: Refusal, command: list[str], nameserver: str) -> None:
    line = refusal(*command, f"--nameserver={nameserver}")
    assert line.startswith("--nameserver: ")
    assert "HOST:PORT" in line


def test_one_bad_address_beside_good_ones_is_refused(refusal: Refusal) -> None:
    line = refusal("plan", "--out=out", "--nameserver=127.0.0.1:9876;10.0.0.1")
    assert line.startswith("--nameserver: '10.0.0.1' is not an address; expected HOST:PORT")


@pytest.mark.parametrize("option", ["--inventory", "--policy", "--scenario"])
def test_a_file_that_is_not_there_is_named(refusal: Refusal, tmp_path: Path, option: str) -> None:
    given = {"--inventory": written(tmp_path), "--out": "out", option: "absent"}
    line = refusal("plan", *(f"{name}={value}" for name, value in given.items()))
    assert line.startswith("absent: cannot be read (No such file or directory); expected ")


@pytest.mark.parametrize("option", ["--inventory", "--policy", "--scenario"])
def test_a_folder_in_place_of_a_file_is_refused(refusal: Refusal, tmp_path: Path, option: str) -> None:
    (tmp_path / "folder").mkdir()
    given = {"--inventory": written(tmp_path), "--out": "out", option: "folder"}
    line = refusal("plan", *(f"{name}={value}" for name, value in given.items()))
    assert line.startswith("folder: cannot be read (Is a directory); expected ")


def test_an_output_folder_that_holds_something_is_refused_and_kept(refusal: Refusal, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("the only copy")
    line = refusal("plan", "--inventory", written(tmp_path), "--out=out")
    assert line == "--out: out is not empty; expected a new or empty folder, or --overwrite"


def test_a_folder_that_is_no_plan_of_ours_is_never_overwritten(refusal: Refusal, tmp_path: Path) -> None:
    (tmp_path / "out" / ".git").mkdir(parents=True)
    (tmp_path / "out" / "thesis.txt").write_text("the only copy")
    line = refusal("plan", "--inventory", written(tmp_path), "--out=out", "--overwrite")
    assert line.startswith("--out: out has no marker of a plan (.rocketmq-capacity); expected ")


@pytest.mark.parametrize("command", [["plan", "--inventory=x"], ["snapshot", "--nameserver=127.0.0.1:9876"]])
def test_an_output_is_on_this_machine(refusal: Refusal, tmp_path: Path, command: list[str]) -> None:
    assert refusal(*command, "--out=s3://lake/out") == "--out: s3:/lake/out is a URL; expected a place on this machine"
    assert list(tmp_path.glob("s3:*")) == []


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_an_output_folder_that_is_a_file_is_refused(refusal: Refusal, tmp_path: Path, overwrite: list[str]) -> None:
    (tmp_path / "out").write_text("a file")
    line = refusal("plan", "--inventory", written(tmp_path), "--out=out", *overwrite)
    assert line == "--out: out is a file; expected the name of a folder"


@pytest.mark.parametrize("command", [["plan", "--inventory=inventory.json"], ["snapshot", "--nameserver=127.0.0.1:1"]])
@pytest.mark.parametrize("out", ["inventory.json/out", "inventory.json/deep/below"])
def test_an_output_below_a_file_is_refused(refusal: Refusal, tmp_path: Path, command: list[str], out: str) -> None:
    file = written(tmp_path)
    assert refusal(*command, f"--out={out}").startswith(f"--out: {file} is a file; expected a folder")


@pytest.mark.parametrize("out", ["x" * 300, f"{'x' * 300}/out"])
def test_a_name_that_is_too_long_is_refused(refusal: Refusal, tmp_path: Path, out: str) -> None:
    line = refusal("plan", "--inventory", written(tmp_path), f"--out={out}")
    assert line.startswith("--out: xxx")
    assert line.endswith("expected the name of a new one")


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_the_root_of_the_file_system_is_refused(refusal: Refusal, tmp_path: Path, overwrite: list[str]) -> None:
    line = refusal("plan", "--inventory", written(tmp_path), "--out=/", *overwrite)
    assert line == "--out: / is the root of the file system; expected a folder in it"


def test_a_name_that_is_not_utf_8_is_refused(refusal: Refusal, tmp_path: Path) -> None:
    line = refusal("plan", "--inventory", written(tmp_path), "--out=a\udcff")
    assert line == r"--out: a\udcff is not UTF-8; expected a name that can be written as text"


def test_a_mount_point_is_refused_for_it_cannot_be_replaced(refusal: Refusal, tmp_path: Path) -> None:
    line = refusal("plan", "--inventory", written(tmp_path), "--out=/proc", "--overwrite")
    assert line == "--out: /proc is a mount point, which cannot be replaced; expected a folder in it"


@pytest.mark.parametrize("out", [".", "../here", ".."])
def test_the_current_folder_is_not_replaced(
    refusal: Refusal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    (tmp_path / "plan" / "here").mkdir(parents=True)
    (tmp_path / "plan" / ".rocketmq-capacity").write_text("here/\n")
    monkeypatch.chdir(tmp_path / "plan" / "here")
    line = refusal("plan", "--inventory", written(tmp_path), f"--out={out}", "--overwrite")
    assert line == f"--out: {out} is or holds the current folder, which would be replaced; expected another one"


def test_a_plan_is_not_started_in_a_deleted_folder(
    refusal: Refusal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inventory = written(tmp_path)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    line = refusal("plan", "--inventory", inventory, f"--out={tmp_path / 'out'}")
    assert line == "--out: the current folder was deleted; expected a start in one that exists"


@pytest.mark.parametrize("option", ["--inventory", "--policy", "--scenario", "--history"])
def test_an_output_that_would_replace_an_input_is_refused(refusal: Refusal, tmp_path: Path, option: str) -> None:
    (tmp_path / "out" / "kept").mkdir(parents=True)
    inventory = written(tmp_path)
    given = {"--inventory": str(inventory), option: str(written(tmp_path / "out" / "kept"))}
    if option == "--history":
        given[option] = str(tmp_path / "out" / "kept")
    line = refusal("plan", *(f"{name}={value}" for name, value in given.items()), "--out=out", "--overwrite")
    assert line == f"--out: out holds {given[option]}, which would be replaced; expected another folder"


def test_a_snapshot_does_not_replace_a_file_by_itself(refusal: Refusal, tmp_path: Path) -> None:
    written(tmp_path)
    line = refusal("snapshot", "--nameserver=127.0.0.1:1", "--out=inventory.json")
    assert line == "--out: inventory.json exists; expected a new file, or --overwrite"


@pytest.mark.parametrize("out", [".", "/dev/null"])
def test_a_snapshot_is_not_written_to_what_is_no_file(refusal: Refusal, out: str) -> None:
    line = refusal("snapshot", "--nameserver=127.0.0.1:1", f"--out={out}", "--overwrite")
    assert line == f"--out: {out} is a folder or a device; expected the name of a file"


def history_with(folder: Path, text: str | None = None, **members: object) -> Path:
    """A history of one file: the text, or the cluster with other members."""
    history = folder / "history"
    history.mkdir()
    cluster = cluster_with("taken_at", "2026-11-19T02:00:00Z") | members
    file = written(history, cluster, "2026-11-19.json")
    if text is not None:
        file.write_text(text)
    return file


@pytest.mark.parametrize("history", ["absent", "inventory.json"])
def test_a_history_that_is_no_folder_is_refused(refusal: Refusal, tmp_path: Path, history: str) -> None:
    line = refusal("plan", "--inventory", written(tmp_path), "--out=out", f"--history={history}")
    assert line == f"{history}: is not a folder; expected a folder of earlier inventory files"


def test_a_hidden_file_in_the_history_is_left_out(refusal: Refusal, tmp_path: Path) -> None:
    file = history_with(tmp_path, cluster_name="C2")
    (file.parent / ".2026-11-18.json").write_text("half")
    line = refusal("plan", "--inventory", written(tmp_path), "--out=out", "--history", file.parent)
    assert line.startswith(f"{file}: $.cluster_name")


@pytest.mark.parametrize("empty", [["--history", ""], ["--history="], ["--policy="], ["--out", ""]])
def test_an_empty_path_is_not_the_current_folder(refusal: Refusal, tmp_path: Path, empty: list[str]) -> None:
    line = refusal("plan", "--inventory", written(tmp_path), "--out=out", *empty)
    assert line == "arguments: a file or a folder has an empty name; expected a path"


def test_a_file_of_another_cluster_in_the_history_is_named(refusal: Refusal, tmp_path: Path) -> None:
    file = history_with(tmp_path, cluster_name="C2")
    line = refusal("plan", "--inventory", written(tmp_path), "--out=out", "--history", file.parent)
    assert line == f"{file}: $.cluster_name: is 'C2'; expected 'C1', the planned cluster"


def test_a_malformed_file_in_the_history_is_named(refusal: Refusal, tmp_path: Path) -> None:
    file = history_with(tmp_path, brokers={})
    line = refusal("plan", "--inventory", written(tmp_path), "--out=out", "--history", file.parent)
    assert line.startswith(f"{file}: $.brokers: Expected `array`")


def test_a_half_written_file_in_the_history_is_named(refusal: Refusal, tmp_path: Path) -> None:
    file = history_with(tmp_path, '{"format": "rocketmq-capacity/inv')
    line = refusal("plan", "--inventory", written(tmp_path), "--out=out", "--history", file.parent)
    assert line.startswith(f"{file}: is not JSON (")


def test_a_malformed_history_is_refused_before_a_cluster_is_asked(refusal: Refusal, tmp_path: Path) -> None:
    file = history_with(tmp_path, "{}")
    line = refusal("plan", "--nameserver=127.0.0.1:1", "--out=out", "--history", file.parent)
    assert line.startswith(f"{file}: $.format: is None")
