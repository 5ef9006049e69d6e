"""What an owner is told of a plan, and what stays silent."""

from typing import Any, Final

from rocketmq_capacity.handover.notices import EVERYBODY, News, OwnerRecord, content_of, news_of, record_in
from rocketmq_capacity.handover.notices import NoticeRecord as ToldOwners
from rocketmq_capacity.handover.tickets import Tickets, tickets_of
from rocketmq_capacity.settings.policy import Policy
from tests.report.from_rows import plan_of
from tests.report.row_builders import a_cluster, a_finding, a_group

GROUPS: Final = [{"match": "^g_pay", "owner": "payments"}, {"match": "^g_ship", "owner": "logistics"}]
OWNED: Final = Policy.model_validate({"groups": GROUPS})
IDLE_ACCEPTED: Final = Policy.model_validate({
    "groups": GROUPS,
    "accepted": [{"rule": "IDLE_CONSUMERS", "consumer_group": "g_pay", "by": "li", "why": "ok", "until": "2027-03-01"}],
})


def tickets(*findings: dict[str, Any], day: int = 20, policy: Policy = OWNED) -> Tickets:
    groups = [a_group(), a_group("g_ship", topics=["ship", "shared"]), a_group("g_pay_too", topics=["shared"])]
    rows = {
        "cluster": [a_cluster(taken_at=f"2026-11-{day}T02:00:00Z")],
        "group_status": groups,
        "finding": findings,
    }
    return tickets_of(plan_of(rows, policy=policy))


def news(
    made: Tickets, told: OwnerRecord | None = None, owner: str = "payments", *, is_complete: bool = True
) -> News | None:
    return news_of(made, owner, told or OwnerRecord(), is_complete=is_complete, worse_factor=2.0)


def told_of(*findings: dict[str, Any]) -> OwnerRecord:
    """What the owner knows after a plan of these findings."""
    said = news(tickets(*findings))
    assert said is not None
    return said.known


def test_an_owner_is_told_of_the_own_causes_alone() -> None:
    made = tickets(a_finding(), a_finding(consumer_group="g_ship", topic="ship"))

    found = {owner: news(made, owner=owner) for owner in ("payments", "logistics", "nobody", EVERYBODY)}

    assert {owner: len(one.new) for owner, one in found.items() if one is not None} == {
        "payments": 1,
        "logistics": 1,
        "nobody": 0,
        EVERYBODY: 2,
    }


def test_a_topic_of_several_owners_is_told_to_all_of_them() -> None:
    made = tickets(a_finding("TOPIC_COVERAGE", severity="WARNING", consumer_group=None, topic="shared"))

    assert made.tickets[0].owner is None
    assert made.tickets[0].owners == ("logistics", "payments")


def test_an_owner_who_knows_everything_is_told_nothing() -> None:
    said = news(tickets(a_finding(), day=21), told_of(a_finding()))

    assert said is not None
    assert not said.is_any
    assert said.known.day == "2026-11-20"


def test_there_is_one_notice_a_day_and_the_next_day_tells_the_rest() -> None:
    known = told_of(a_finding())
    more = (a_finding(), a_finding("LAG_STATE", {}))

    assert news(tickets(*more), known) is None
    assert news(tickets(*more, day=19), known) is None
    tomorrow = news(tickets(*more, day=21), known)
    assert tomorrow is not None
    assert len(tomorrow.new) == 1


def test_a_cause_is_worse_if_its_severity_or_a_figure_is() -> None:
    known = told_of(a_finding(evidence={"clients": 12, "queues": 8, "idle": 4}))
    critical = news(tickets(a_finding(severity="CRITICAL"), day=21), known)
    more_idle = news(tickets(a_finding(evidence={"clients": 20, "queues": 8, "idle": 12}), day=21), known)
    hardly_more = news(tickets(a_finding(evidence={"clients": 13, "queues": 8, "idle": 5}), day=21), known)

    assert critical is not None
    assert more_idle is not None
    assert hardly_more is not None
    assert [(one.severity_before, one.figures) for one in critical.worse] == [("WARNING", ())]
    assert [(one.name, one.before, one.now) for one in more_idle.worse[0].figures] == [("idle_clients", 4.0, 12.0)]
    assert not hardly_more.is_any


def test_what_grows_slowly_is_told_once_it_is_twice_what_was_told() -> None:
    told = told_of(a_finding(evidence={"clients": 12, "queues": 8, "idle": 4}))
    for day, idle in ((21, 6), (22, 7)):
        said = news(tickets(a_finding(evidence={"clients": 12, "queues": 8, "idle": idle}), day=day), told)
        assert said is not None
        assert not said.is_any
        told = said.known
    said = news(tickets(a_finding(evidence={"clients": 12, "queues": 8, "idle": 8}), day=23), told)
    assert said is not None
    assert len(said.worse) == 1


def test_what_is_gone_is_told_in_the_words_of_its_day() -> None:
    said = news(tickets(day=21), told_of(a_finding(message="4 of 12 consumers own no queue.")))

    assert said is not None
    assert [one.message for one in said.gone] == ["4 of 12 consumers own no queue."]
    assert said.known.causes == {}


def test_what_was_accepted_or_is_only_for_information_is_neither_new_nor_gone() -> None:
    known = told_of(a_finding())
    accepted = news(tickets(a_finding(), day=21, policy=IDLE_ACCEPTED), known)
    information = news(tickets(a_finding(severity="INFO"), day=21), known)

    for said in (accepted, information):
        assert said is not None
        assert not said.is_any
        assert said.known.causes == {}
    again = accepted and news(tickets(a_finding(), day=22), accepted.known)
    assert again is not None
    assert len(again.new) == 1


def test_nothing_is_gone_in_a_plan_that_has_not_seen_everything() -> None:
    known = told_of(a_finding())
    unseen = news(tickets(day=21), known, is_complete=False)

    assert unseen is not None
    assert not unseen.is_any
    later = news(tickets(day=22), unseen.known)
    assert later is not None
    assert len(later.gone) == 1


def test_a_group_that_changes_its_owner_is_not_mended_for_the_old_one() -> None:
    moved = Policy.model_validate({"groups": [{"match": "^g_pay", "owner": "finance"}]})
    made = tickets(a_finding(), day=21, policy=moved)
    old, new = news(made, told_of(a_finding())), news(made, owner="finance")

    assert old is not None
    assert new is not None
    assert not old.is_any
    assert len(new.new) == 1


def test_what_was_told_is_read_as_it_was_written() -> None:
    told = ToldOwners().with_owner("payments", told_of(a_finding()))

    assert record_in(content_of(told)) == told
