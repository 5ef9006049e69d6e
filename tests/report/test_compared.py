"""The difference of two stored plans, made by a process of its own with limits."""

from pathlib import Path

import pytest

from rocketmq_capacity import own_process
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.own_process import LARGEST_PLAN, OwnProcessFailed, in_own_process
from rocketmq_capacity.report import compared
from rocketmq_capacity.report.compared import comparison_of, in_short
from rocketmq_capacity.report.difference import difference
from tests.report.from_rows import plan_bytes, plan_of
from tests.report.row_builders import a_finding
from tests.report.varied_cluster import varied_rows


@pytest.fixture
def stored(tmp_path: Path) -> tuple[Path, Path]:
    files = tmp_path / "before.json", tmp_path / "after.json"
    for file, seed in zip(files, (1, 2), strict=True):
        file.write_bytes(plan_bytes(plan_of(varied_rows(6, seed=seed))))
    return files


def test_it_is_the_difference_of_the_two_in_short(stored: tuple[Path, Path]) -> None:
    plans = [plan_of(varied_rows(6, seed=seed)) for seed in (1, 2)]
    whole = difference(*plans)

    found = comparison_of(*stored, 2)

    assert found == in_short(whole, 2, *(plan.sentences for plan in plans))
    assert (found.findings.new.total, len(found.findings.new.shown)) == (len(whole.findings.new), 2)
    assert found.findings.still == len(whole.findings.still)
    assert found.loads_changed + found.loads_same == len(whole.loads)


def test_it_has_the_key_and_figures_of_the_sentences_that_are_shown(stored: tuple[Path, Path]) -> None:
    message = "Nobody reads 2 of 6 queues: broker-a:0, broker-a:1."
    rows = varied_rows(6, seed=2)
    rows["finding"] = [a_finding(message=message, consumer_group="g1", severity="CRITICAL")]
    after = plan_of(rows)
    stored[1].write_bytes(plan_bytes(after))

    found = comparison_of(*stored, 1)

    assert found.sentences[message] == after.sentences[message]
    assert len(found.sentences) < len(after.sentences)


def test_the_same_files_are_compared_once_and_other_ones_anew(stored: tuple[Path, Path]) -> None:
    first = comparison_of(*stored, 2)

    assert comparison_of(*stored, 2) is first
    assert comparison_of(*stored, 1) != first
    stored[1].write_bytes(stored[0].read_bytes())
    assert comparison_of(*stored, 2).findings.new.total == 0 < first.findings.new.total


def test_what_it_gives_stays_small_whatever_is_in_the_plans(stored: tuple[Path, Path]) -> None:
    rows = varied_rows(6, seed=2)
    rows["finding"] += [a_finding(message="x" * 100_000, consumer_group=f"g{n}") for n in range(200)]
    stored[1].write_bytes(plan_bytes(plan_of(rows)))

    found = comparison_of(*stored, 100)

    assert found.findings.new.total >= 200
    assert len(found.findings.new.shown) == 100
    assert max(len(line.text) for line in found.findings.new.shown) == compared.LONGEST


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b"{}"])
def test_what_is_no_plan_is_bad_input(stored: tuple[Path, Path], content: bytes) -> None:
    stored[0].write_bytes(content)

    with pytest.raises(BadInput):
        comparison_of(*stored, 100)


def test_a_plan_that_is_too_large_is_not_read(stored: tuple[Path, Path]) -> None:
    with stored[0].open("r+b") as file:
        file.truncate(LARGEST_PLAN + 1)

    with pytest.raises(OwnProcessFailed, match="a plan is too large"):
        comparison_of(*stored, 100)


def test_a_process_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_process, "LIMIT_S", 0.01)

    with pytest.raises(OwnProcessFailed, match=r"it takes more than 0\.01 seconds"):
        in_own_process(compared.__name__, b"")


def test_a_process_that_needs_too_much_memory_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "greedy.py").write_text(
        "from rocketmq_capacity.own_process import MEMORY, within_limits\nwithin_limits()\nbytes(MEMORY)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(OwnProcessFailed, match="it needs more than 3 GiB of memory"):
        in_own_process("greedy")
