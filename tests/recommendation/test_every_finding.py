"""What holds for all recommendations together."""

import re

from rocketmq_capacity.catalogue.action import actions
from rocketmq_capacity.catalogue.rule import rules
from tests.assessment.judge import Row
from tests.recommendation.answers import Answers
from tests.recommendation.test_hostile_names import NAMES


def test_every_finding_is_answered(answered: Answers) -> None:
    """By a recommendation of its rule for its group or its topic, or a topic that its group reads."""
    topics = {group["consumer_group"]: set(group["topics"]) for group in answered.judged.groups}
    assert answered.judged.findings
    for finding in answered.judged.findings:
        group, topic = finding["consumer_group"], finding["topic"]
        about = {topic} if topic is not None else topics.get(group, {None})
        assert any(
            finding["rule"] in row["rules"]
            and (row["consumer_group"] == group if group in (row["consumer_group"],) else row["topic"] in about)
            for row in answered.rows
        ), finding


def test_every_recommendation_answers_a_finding(answered: Answers) -> None:
    topics = {group["consumer_group"]: set(group["topics"]) for group in answered.judged.groups}
    for row in answered.rows:
        assert row["rules"], row
        for rule in row["rules"]:
            assert any(
                finding["rule"] == rule
                and (
                    (row["consumer_group"] is not None and finding["consumer_group"] == row["consumer_group"])
                    or (row["consumer_group"] is None and finding["topic"] == row["topic"])
                    or row["topic"] in topics.get(finding["consumer_group"], ())
                )
                for finding in answered.judged.findings
            ), (rule, row)


def test_findings_are_about_what_their_rule_says_and_as_severe(answered: Answers) -> None:
    for finding in answered.judged.findings:
        rule = rules()[finding["rule"]]
        assert finding["severity"] in rule.severities, finding
        assert about(finding) in rule.about, finding


def test_every_recommendation_answers_a_rule_that_the_record_of_its_action_names(answered: Answers) -> None:
    """What else it answers follows from that rule."""
    for row in answered.rows:
        named = actions()[row["action"]].answers
        assert not named or set(row["rules"]) & set(named), row


def about(finding: Row) -> str:
    if finding["consumer_group"] is not None:
        return "group"
    if finding["topic"] is not None:
        return "topic"
    return "cluster" if finding["broker_name"] is None else "broker"


def test_each_has_an_id_of_its_own(answered: Answers) -> None:
    ids = [row["id"] for row in answered.rows]

    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[0-9a-f]{12}", each) for each in ids)


def test_they_are_always_in_the_same_order(answered: Answers) -> None:
    def place(row: dict[str, str | None]) -> tuple[str, ...]:
        return (row["action"] or "", row["consumer_group"] or "", row["topic"] or "", row["id"] or "")

    assert answered.rows == sorted(answered.rows, key=place)


def test_what_investigation_is_left_is_answered_by_nothing_else(answered: Answers) -> None:
    # One that says what would do is an answer like the others.
    for row in [row for row in answered.all("INVESTIGATE") if not row["after"]]:
        for rule in row["rules"]:
            others = [
                other["action"]
                for other in answered.all(None, row["consumer_group"], row["topic"])
                if rule in other["rules"]
                and other["action"] != "INVESTIGATE"
                and (other["consumer_group"], other["topic"]) == (row["consumer_group"], row["topic"])
            ]
            assert others == [], (rule, row)


def test_sentences_have_no_gaps(answered: Answers) -> None:
    for row in answered.rows:
        assert row["reason"], row
        if any(name in row["reason"] for name in NAMES):
            continue
        assert re.search(r"None|null|  |\.\.|\s[.,;:]", row["reason"]) is None, row["reason"]
        assert re.search(r"\b1 (queues|clients|brokers|groups)\b", row["reason"]) is None, row["reason"]
        assert row["reason"].endswith("."), row["reason"]
