"""Each owner's notice, from the published plan to the chat: what it says, and when there is none."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from rocketmq_capacity.handover.tickets import tickets_of
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.provider import channels, owner_notices
from rocketmq_capacity.provider.notice import CONNECTION, send_published
from rocketmq_capacity.report.summary_file import summary_of_plan
from rocketmq_capacity.settings.deployment import DeploymentPlaces
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.store.json_file import json_file
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.writing import write_together
from tests.fixtures.chat_server import TAKEN, ChatServer, chat_server
from tests.report.from_rows import page_of, plan_of
from tests.report.row_builders import a_cluster, a_finding, a_group

pytestmark = pytest.mark.airflow

GROUPS: Final = [
    {"match": "^g_pay", "owner": "payments", "channel": "pay_chat"},
    {"match": "^g_ship", "owner": "logistics", "channel": "ship_chat"},
    {"match": "^g_own", "owner": "nobody"},
]
PAGE: Final = "http://airflow.example.org/base/rocketmq-capacity/reports/plans/C1"
TITLE: Final = "Consumers without a queue: consumers without a queue, g_pay"
SHIP: Final = a_finding(consumer_group="g_ship", topic="ship", message="2 of 3 consumers own no queue.")


class Deployment:
    """A lake whose plans are told."""

    def __init__(self, home: Path, chat: ChatServer) -> None:
        self.home, self.chat = home, chat
        self.policy: dict[str, Any] = {"groups": GROUPS}

    def tell(self, day: int, *findings: dict[str, Any], **cluster: Any) -> list[dict[str, Any]]:
        """Publish the plan of a day, tell it, and give the posts."""
        names = ("g_pay", "g_ship", "g_own")
        rows = {
            "cluster": [a_cluster(taken_at=f"2026-11-{day}T02:00:00Z", **cluster)],
            "group_status": [a_group(name, topics=[name.removeprefix("g_")]) for name in names],
            "finding": findings,
        }
        self._publish(f"r{day}", plan_of(rows, policy=Policy.model_validate(self.policy)))
        return self.tell_again(day)

    def _publish(self, run_key: str, plan: Plan) -> None:
        """Store of a plan what notices are made of; a page takes a second to draw."""
        run = Lake(self.home / "lake").run("C1", run_key)
        files = {"tickets.json": json_file(tickets_of(plan)), "summary.json": json_file(summary_of_plan(plan))}
        write_together(run.report, files)
        run.begin("publish")
        run.commit("publish", [])
        run.inventory.touch()

    def tell_again(self, day: int) -> list[dict[str, Any]]:
        """What a cleared task does."""
        (self.home / "policy.yaml").write_text(json.dumps(self.policy))
        lake, policy = str(self.home / "lake"), str(self.home / "policy.yaml")
        places = DeploymentPlaces.of(self.home, {"RMQC_LAKE": lake, "RMQC_POLICY": policy})
        self.chat.posts.clear()
        context: Any = {"ti": SimpleNamespace(task=SimpleNamespace(run_key=f"r{day}"))}
        send_published(context, places=places)
        return [posted for _, posted in self.chat.posts]


@pytest.fixture
def deployment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """Two owners with chats, one in Slack and one in WeCom, and one owner without."""
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "http://airflow.example.org/base")
    with chat_server() as chat:
        for name, kind in {"pay_chat": "slack", "ship_chat": "wecom", CONNECTION: "slack"}.items():
            chat.answers[f"/{name}"] = TAKEN[kind]
            told = {"conn_type": "generic", "password": f"{chat.address}/{name}", "extra": {"webhook": kind}}
            if name != CONNECTION:
                monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}", json.dumps(told))
        yield Deployment(tmp_path, chat)


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING)
    return caplog


def test_each_owner_is_told_of_the_own_causes_with_their_words_and_links(deployment: Deployment) -> None:
    ship, pay = deployment.tell(20, a_finding(severity="CRITICAL"), SHIP, a_finding(consumer_group="g_own"))

    subject, cause, page = pay["text"].splitlines()
    assert subject == "RocketMQ capacity of C1 for payments: 1 new"
    assert cause.startswith(f"<{PAGE}/r20/#cause-")
    assert cause.endswith(f"|New: Critical · {TITLE}> · 4 of 12 consumers own no queue.")
    assert page == f"<{PAGE}/r20/|{PAGE}/r20/>"
    assert "2 of 3 consumers own no queue." in ship["markdown"]["content"]


def test_the_link_leads_to_the_cause_on_the_page(deployment: Deployment) -> None:
    (pay,) = deployment.tell(20, a_finding())

    anchor = pay["text"].partition("#")[2].partition("|")[0]
    page = page_of({"cluster": [a_cluster()], "group_status": [a_group()], "finding": [a_finding()]})
    assert f'id="{anchor}"' in page


def test_a_healthy_owner_and_one_with_nothing_new_get_none(deployment: Deployment) -> None:
    assert len(deployment.tell(20, a_finding())) == 1
    assert deployment.tell(21, a_finding()) == []


def test_the_next_days_say_what_got_worse_and_what_is_gone(deployment: Deployment) -> None:
    idle = {"clients": 12, "queues": 8, "idle": 4}
    deployment.tell(20, a_finding(evidence=idle), SHIP)
    ship, pay = deployment.tell(21, a_finding(severity="CRITICAL", evidence=idle | {"idle": 12}))

    assert "for payments: 1 worse" in pay["text"]
    worse = "Worse: Critical · Consumers without a queue> (was Warning; clients without work: 4 before, 12 now) · 4 of"
    assert worse in pay["text"]
    gone = ship["markdown"]["content"].splitlines()[1]
    assert gone.startswith("Gone: Warning · Consumers without a queue")
    assert gone.endswith(" · 2 of 3 consumers own no queue.")


def test_a_second_plan_of_a_day_waits_and_a_cleared_task_says_nothing_again(deployment: Deployment) -> None:
    deployment.tell(20, a_finding())
    assert deployment.tell_again(20) == []
    more = a_finding("LAG_STATE", {}, severity="CRITICAL")
    deployment.tell(20, a_finding(), more)

    assert deployment.chat.posts == []
    (tomorrow,) = deployment.tell(21, a_finding(), more)
    assert "1 new" in tomorrow["text"]


def test_what_a_chat_has_not_taken_is_told_the_next_day_and_the_others_get_theirs(
    deployment: Deployment, said: pytest.LogCaptureFixture
) -> None:
    deployment.chat.answers["/pay_chat"] = b"no_service"
    assert len(deployment.tell(20, a_finding(), SHIP)) == 2
    assert said.messages == ["pay_chat: no notice is sent: answers no_service"]

    deployment.chat.answers["/pay_chat"] = b"ok"
    (pay,) = deployment.tell(21, a_finding(), SHIP)
    assert "for payments: 1 new" in pay["text"]


def test_chats_that_never_answer_take_no_more_time_than_all_may(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, said: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(channels, "LIMIT_S", 0.3)
    monkeypatch.setattr(owner_notices, "LIMIT_S", 0.2)
    deployment.chat.trickles = True
    deployment.tell(20, a_finding(), SHIP)

    assert said.messages == [
        "ship_chat: no notice is sent: no answer within 0.3 s",
        "pay_chat: no notice is sent: too little time is left",
    ]


def test_three_causes_of_a_kind_are_named_and_the_others_counted(deployment: Deployment) -> None:
    rules = ("IDLE_CONSUMERS", "LAG_STATE", "CLIENT_MEMORY", "RETRY_PRESSURE", "BAD_VERSION")
    (pay,) = deployment.tell(20, *(a_finding(rule, {}) for rule in rules))

    assert pay["text"].count("New: ") == 3
    assert "2 more new in the report" in pay["text"]


def test_what_is_accepted_is_silent(deployment: Deployment) -> None:
    deployment.tell(20, a_finding())
    risk = {"rule": "IDLE_CONSUMERS", "consumer_group": "g_pay", "by": "li", "why": "ok", "until": "2027-03-01"}
    deployment.policy = {"groups": GROUPS, "accepted": [risk]}

    assert deployment.tell(21, a_finding()) == []


def test_nothing_is_gone_where_the_snapshot_is_not_complete(deployment: Deployment) -> None:
    deployment.tell(20, a_finding())

    assert deployment.tell(21, completeness_ratio=0.5) == []
    (pay,) = deployment.tell(22)
    assert "1 gone" in pay["text"]


def test_a_damaged_file_of_what_was_told_stops_nothing(deployment: Deployment, said: pytest.LogCaptureFixture) -> None:
    deployment.tell(20, a_finding())
    (deployment.home / "lake" / "C1" / ".notices" / "told.json").write_bytes(b"{")

    assert len(deployment.tell(21, a_finding())) == 1
    assert "what owners were told cannot be read" in said.text


def test_a_link_in_the_lake_is_not_followed(deployment: Deployment, said: pytest.LogCaptureFixture) -> None:
    deployment.tell(20, a_finding())
    told = deployment.home / "lake" / "C1" / ".notices" / "told.json"
    told.unlink()
    told.symlink_to(deployment.home / "policy.yaml")

    assert deployment.tell(21, a_finding()) == []
    assert "no notice is sent: " in said.messages[0]
    assert "is a link" in said.messages[0]


def test_the_deployments_notice_has_the_causes_of_everybody_beside_the_counts(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {
        "conn_type": "generic",
        "password": f"{deployment.chat.address}/{CONNECTION}",
        "extra": {"webhook": "slack"},
    }
    monkeypatch.setenv(f"AIRFLOW_CONN_{CONNECTION.upper()}", json.dumps(told))
    deployment.policy = {"groups": GROUPS[2:]}
    (first,) = deployment.tell(20, a_finding(), SHIP)
    (second,) = deployment.tell(21, a_finding())

    assert first["text"].count("New: ") == 2
    assert "Findings: 0 CRITICAL, 1 WARNING, 0 INFO." in second["text"]
    assert second["text"].count("Gone: ") == 1
    assert "New: " not in second["text"]


def test_a_notice_is_in_the_language_of_the_policy(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RMQC_POLICY", str(deployment.home / "policy.yaml"))
    deployment.policy = {"groups": GROUPS, "language": "zh-CN"}
    idle = {"clients": 12, "queues": 8, "idle": 4}
    message = "4 of 12 clients own no queue."
    (first,) = deployment.tell(20, a_finding(evidence=idle, message=message))
    (second,) = deployment.tell(21, a_finding(severity="CRITICAL", evidence=idle | {"idle": 12}, message=message))

    assert first["text"].startswith("RocketMQ 容量 C1，负责人 payments：新增 1 项\n")
    assert "|新增：警告 · " in first["text"]
    assert "|恶化：严重 · " in second["text"]
    assert "(之前为警告；无事可做的客户端：之前 4，现在 12)" in second["text"]


def test_a_trial_is_told_to_nobody(deployment: Deployment) -> None:
    deployment.tell(20, a_finding())
    summary = deployment.home / "lake" / "C1" / "r20" / "report" / "summary.json"
    summary.write_text(summary.read_text().replace('"trial": false', '"trial": true'))
    (deployment.home / "lake" / "C1" / ".notices" / "told.json").unlink()

    assert deployment.tell_again(20) == []
