"""tickets.json: one ticket for each cause, with the same key on every day."""

import json
from typing import Any, Final

import pytest

from rocketmq_capacity.handover.hand_over import handed_over
from rocketmq_capacity.handover.observed import Observed
from rocketmq_capacity.settings.policy import Policy
from tests.recommendation.test_hostile_names import NAMES, OBEYED
from tests.report.from_rows import plan_of
from tests.report.made_scenario import a_scenario
from tests.report.row_builders import a_cluster, a_finding, a_group, a_recommendation

DEFAULTS: Final = Policy()
OWNED: Final = Policy.model_validate({"groups": [{"match": "^g_pay", "owner": "payments", "tier": 1}]})


def tickets(*findings: dict[str, Any], policy: Policy = DEFAULTS, at: str = "2026-11-20T02:00:00Z") -> list[Any]:
    """The tickets of a plan of these findings, and of a recommendation for the topic pay."""
    rows = {
        "cluster": [a_cluster(taken_at=at)],
        "group_status": [a_group(), a_group("g_ship", topics=["ship"])],
        "finding": findings,
        "recommendation": [a_recommendation(check_command="mqadmin topicRoute -n a:1 -t pay", check_shows="6 queues")],
    }
    made = handed_over(plan_of(rows, policy=policy), policy, Observed())["tickets.json"]
    return list(json.loads(made or b"")["tickets"])


def test_a_ticket_says_what_is_wrong_whose_it_is_and_what_to_do() -> None:
    (ticket,) = tickets(a_finding(), policy=OWNED)

    assert (ticket["owner"], ticket["tier"], ticket["severity"]) == ("payments", 1, "WARNING")
    assert ticket["title"].startswith("C1: ")
    assert ticket["link"] == f"report.html#cause-{ticket['key'].removeprefix('C1/')}"
    assert "4 of 12 consumers own no queue." in ticket["body"]
    assert r"What to do (EXPAND\_QUEUES, expand_queues-1): 12 consumers share 8 queues." in ticket["body"]
    assert "```sh\nmqadmin topicRoute -n a:1 -t pay\n```" in ticket["body"]


def test_its_key_stays_while_its_figures_and_its_severity_change() -> None:
    today = tickets(a_finding())
    later = a_finding(severity="CRITICAL", message="9 of 12 consumers own no queue.", evidence={"idle": 9})
    (before,), (after,) = today, tickets(later, at="2026-11-21T02:00:00Z")

    assert before["key"] == after["key"]
    assert before["body"] != after["body"]
    assert before["key"] != tickets(a_finding(consumer_group="g_ship"))[0]["key"]


def test_its_key_stays_while_another_topic_of_the_group_is_the_largest() -> None:
    (before,), (after,) = (tickets(a_finding(topic=topic)) for topic in ("pay", "refund"))
    assert before["key"] == after["key"]

    skew = "TRAFFIC_SKEW"  # of a topic, and not an example of one
    assert tickets(a_finding(skew, topic="pay"))[0]["key"] != tickets(a_finding(skew, topic="refund"))[0]["key"]


def test_what_is_accepted_or_only_for_information_has_no_ticket() -> None:
    risk = {"rule": "IDLE_CONSUMERS", "consumer_group": "g_pay", "by": "li", "why": "free", "until": "2027-03-01"}
    accepting = Policy.model_validate({"accepted": [risk]})

    assert tickets(a_finding(), policy=accepting) == []
    assert tickets(a_finding(severity="INFO")) == []


def test_a_what_if_has_no_tickets() -> None:
    what_if = plan_of({"cluster": [a_cluster()], "finding": [a_finding()]}, scenario=a_scenario())
    assert handed_over(what_if, DEFAULTS, Observed())["tickets.json"] is None


@pytest.mark.parametrize("name", [*NAMES, *OBEYED, "x" * 400])
def test_a_hostile_name_is_text_and_a_title_is_one_line(name: str) -> None:
    (ticket, *_) = tickets(a_finding(consumer_group=name, message=f"{name} is idle"))

    assert ticket["title"].isprintable()
    assert len(ticket["title"]) <= 250
    assert all(character.isprintable() or character == "\n" for character in ticket["body"])
    assert not any(line.startswith(("#", "<")) for line in ticket["body"].splitlines())
