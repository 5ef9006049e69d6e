"""The runbook and the tickets in Chinese: the same plan, names and commands as in English."""

import json
import re
from typing import Any

import pytest

from rocketmq_capacity.handover.hand_over import handed_over
from rocketmq_capacity.handover.observed import Observed
from rocketmq_capacity.plan_file.plan import Plan, decoded_plan
from rocketmq_capacity.settings.policy import Policy
from tests.plan.sample_bytes import FILE as SAMPLE_PLAN
from tests.report.from_rows import plan_of
from tests.report.row_builders import a_cluster, a_recommendation

BLOCK = re.compile(r"(?ms)^`{3,}sh\n(.*?)\n`{3,}$")
ENGLISH = re.compile(r"[A-Za-z]{2,} [a-z]{2,} ")
OF_MQADMIN = "Same subscription in the same group of consumer"
HAN = re.compile("[\u4e00-\u9fff]")


def handed(plan: Plan, language: str, **policy: Any) -> dict[str, str]:
    made = handed_over(plan, Policy.model_validate({"language": language, **policy}), Observed())
    return {name: (content or b"").decode() for name, content in made.items()}


@pytest.fixture(scope="module")
def plan() -> Plan:
    """The sample's plan, all of it approved."""
    sample = json.loads(SAMPLE_PLAN.read_bytes())
    ids = [one["id"] for one in sample["recommendations"]]
    answer = {"by": "li", "at": sample["taken_at"], "why": "<tonight>", "digest": "ab" * 32, "reasons": {}}
    sample["approval"] = {"status": "APPROVED", "recommendations": ids, "approved": ids, "rejected": [], **answer}
    return decoded_plan(json.dumps(sample).encode())


def test_the_runbook_is_chinese_with_the_commands_and_names_of_the_english_one(plan: Plan) -> None:
    english, chinese = (handed(plan, language)["runbook.md"] for language in ("en", "zh-CN"))

    assert BLOCK.findall(chinese) == BLOCK.findall(english)
    assert len(BLOCK.findall(chinese)) > 20
    assert re.findall(r"(?m)^## .*", chinese) == re.findall(r"(?m)^## .*", english)
    assert [line for line in BLOCK.sub("", chinese).splitlines() if ENGLISH.search(line.replace(OF_MQADMIN, ""))] == []
    assert r"- 理由：\<tonight\>" in chinese
    assert not HAN.search(english)


def test_the_tickets_are_chinese_with_the_keys_and_links_of_the_english_ones(plan: Plan) -> None:
    english, chinese = (json.loads(handed(plan, language)["tickets.json"])["tickets"] for language in ("en", "zh-CN"))

    told = ("title", "message", "body")
    assert [{**one, **dict.fromkeys(told)} for one in chinese] == [{**one, **dict.fromkeys(told)} for one in english]
    assert all(HAN.search(one["title"]) for one in chinese)
    texts = [line for one in chinese for line in BLOCK.sub("", one["body"]).splitlines()]
    assert [line for line in texts if ENGLISH.search(line.replace(OF_MQADMIN, ""))] == []


def test_what_programs_read_has_no_language(plan: Plan) -> None:
    english, chinese = (handed(plan, language) for language in ("en", "zh-CN"))
    differ = {name for name, content in english.items() if content != chinese[name]}

    assert differ == {"runbook.md", "tickets.json"}


def test_without_an_approval_the_chinese_runbook_says_how_to_get_one_and_a_freeze_says_why() -> None:
    assert "请在 Airflow 中打开该规划" in handed(plan_of({"cluster": [a_cluster()]}), "zh-CN")["runbook.md"]

    freeze = [{"from": "2026-11-20T00:00:00Z", "to": "2026-11-22T00:00:00Z", "why": "the big sale"}]
    policy = Policy.model_validate({"freeze": freeze})
    answer = {"status": "APPROVED", "by": "li", "at": "2026-11-20T02:00:00Z", "why": "", "recommendations": ["x"]}
    rows = {"cluster": [a_cluster()], "recommendation": [a_recommendation(id="x")]}
    frozen = plan_of(rows, policy=policy, approval=answer)
    assert "2026-11-22T00:00:00Z 之前禁止变更：the big sale" in handed(frozen, "zh-CN")["runbook.md"]
