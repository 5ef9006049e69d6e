"""A fault in a healthy fleet gives one cause, of the right rule and the right first answer, and names nobody else."""

import subprocess
import sys

import msgspec
import pytest

from rocketmq_capacity.catalogue.rule import rules
from tests.advice.faults import all_faults
from tests.advice.judge import Judgement
from tests.advice.plans import plan_of

pytestmark = pytest.mark.slow
FAULTS = all_faults()
NEVER_ALONE = {"LAG_SKEW"}
"""The lag of a few clients comes of queues that do not catch up, which LAG_STATE finds."""


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_gives_one_cause_and_names_nobody_else(spark, name):
    fleet, expected = FAULTS[name].fleet(seed=1)
    judgement = Judgement(expected, plan_of(spark, fleet))
    assert judgement.problems == [], judgement.found


def test_a_fault_gives_one_cause_on_the_command_line(tmp_path):
    fleet, expected = FAULTS["two clients with one id"].fleet(seed=2)
    fleet.write(tmp_path)
    files = ["--inventory", str(tmp_path / "inventory.json"), "--policy", str(tmp_path / "policy.yaml")]
    command = [sys.executable, "-m", "rocketmq_capacity", "plan", *files, "--out", str(tmp_path / "out")]
    subprocess.run(command, check=True, timeout=300)
    assert Judgement(expected, msgspec.json.decode((tmp_path / "out" / "plan.json").read_bytes())).problems == []


def test_every_rule_has_a_fault():
    assert {fault.fleet(seed=1)[1].rule for fault in FAULTS.values()} >= set(rules()) - NEVER_ALONE
