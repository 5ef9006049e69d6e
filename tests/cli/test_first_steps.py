"""What a new user types first: the version, and a plan of the README's own inventory."""

from importlib.metadata import version
from pathlib import Path

from tests.cli.planned import plan_of
from tests.cli.program import run
from tests.docs.pages import ROOT, blocks


def test_the_version_is_the_distributions(tmp_path: Path) -> None:
    done = run("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"rocketmq-capacity {version('rocketmq-capacity')}\n")


def test_the_inventory_of_the_readme_is_of_a_healthy_cluster(tmp_path: Path) -> None:
    (inventory,) = (block.body for block in blocks("json") if block.page == ROOT / "README.md")
    file = tmp_path / "shop.json"
    file.write_text(inventory, encoding="utf-8")
    plan = plan_of(file, tmp_path / "plan").plan
    assert plan.findings == ()
    assert [(group.consumer_group, group.provision_status) for group in plan.groups] == [("g_pay", "UNDECIDED")]
