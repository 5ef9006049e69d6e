"""What readers see of a report that is published again, wherever that comes to an end."""

import json
import multiprocessing
import shutil
from pathlib import Path

import pytest

from rocketmq_capacity.report.scripts import script_names
from rocketmq_capacity.report.shelf import FILES as SHOWN
from rocketmq_capacity.store.lake import Run
from tests.plugins.republished import planned, publish_run, publish_until
from tests.plugins.stored_reports import LAST, rows_of, run_id_of
from tests.report.from_rows import plan_of
from tests.report.test_approval import an_approval
from tests.report.test_publish import FILES, files_in

pytestmark = [pytest.mark.airflow, pytest.mark.slow]

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.plugins.republished"])
ENDS_WITHIN_S = 300
SCRIPTS = len(script_names(plan_of(rows_of(LAST))))
WRITES = 2 * (len(FILES) + SCRIPTS) + 2
"""Each file and the manifest: written under another name first, then renamed."""
ENDS = [("killed", change) for change in range(1, WRITES + 1)]
# An error goes the same way wherever a file is written, and the same wherever one is renamed.
ENDS += [("refused", change) for change in (1, 2, WRITES // 2 - 1, WRITES // 2, WRITES // 2 + 1, WRITES - 1, WRITES)]


def files_of(run: Run) -> dict[str, bytes]:
    return {name: (run.report / name).read_bytes() for name in FILES}


@pytest.fixture(scope="module")
def approved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, dict[str, bytes], dict[str, bytes]]:
    """A published run that has been approved since; its files as they are, and as they are to be."""
    run = planned(tmp_path_factory.mktemp("plans"), run_id_of(LAST), rows_of(LAST))
    publish_run(run)
    again = Run(shutil.copytree(run.folder, tmp_path_factory.mktemp("again") / "run"))
    asked = [one["id"] for one in json.loads((run.report / "plan.json").read_bytes())["recommendations"]]
    for one in (run, again):
        one.approval.write_text(json.dumps(an_approval(recommendations=asked)))
    publish_run(again)
    return run, files_of(run), files_of(again)


@pytest.mark.parametrize(("how", "change"), ENDS)
def test_a_report_is_readable_wherever_publishing_it_again_ends(
    api, own_lakes: tuple[Path, Path], approved, how: str, change: int
) -> None:
    stored, old, new = approved
    run = Run(shutil.copytree(stored.folder, own_lakes[0] / stored.folder.parent.name / stored.folder.name))

    process = PROCESSES.Process(target=publish_until, args=(run.folder, change, how))
    process.start()
    process.join(ENDS_WITHIN_S)

    assert process.exitcode == (-9 if how == "killed" else 1)
    found = files_of(run)
    if how == "refused" and change <= len(FILES) + SCRIPTS:
        assert found == old, "all are written before the first is put in its place"
    assert all(found[name] in (old[name], new[name]) for name in FILES)
    viewer, address = api("viewer"), f"/rocketmq-capacity/reports/plans/{run.folder.parent.name}/{run.folder.name}/"
    assert address.removeprefix("/rocketmq-capacity/") in viewer.get("/rocketmq-capacity/").text
    assert viewer.get(address).status_code == 200
    for name in sorted(found.keys() & {*SHOWN}):
        assert viewer.get(address + name).content == found[name]

    publish_run(run)
    assert files_of(run) == new
    assert files_in(run.report) == FILES


def test_publishing_again_changes_files_so_often_and_no_more(tmp_path: Path, approved) -> None:
    stored, _, new = approved
    run = Run(shutil.copytree(stored.folder, tmp_path / "run"))
    process = PROCESSES.Process(target=publish_until, args=(run.folder, WRITES + 1, "killed"))
    process.start()
    process.join(ENDS_WITHIN_S)

    assert process.exitcode == 0
    assert files_of(run) == new
