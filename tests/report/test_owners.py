"""Owners and tiers: on groups, findings, recommendations and causes, in the order of causes, and in files."""

import pytest

from rocketmq_capacity.report.tables import findings_by_owner, owner_files
from rocketmq_capacity.settings.policy import Policy
from tests.report.from_rows import page_of, plan_of, publish_rows
from tests.report.page_reader import HTML, by_id, elements, read_page, section, text_of
from tests.report.row_builders import a_cluster, a_finding, a_group, a_recommendation
from tests.report.test_tables import read

TOPICS = {"g_pay": ["pay", "both"], "g_stock": ["stock", "both"], "g_other": ["other"]}
POLICY = Policy.model_validate({
    "groups": [
        {"match": "^g_pay", "owner": "payments", "tier": 2},
        {"match": "^g_stock", "owner": "=stock & co", "tier": 1},
    ]
})


def rows(*findings, **more):
    return {
        "cluster": [a_cluster()],
        "group_status": [a_group(name, topics=topics) for name, topics in TOPICS.items()],
        "finding": list(findings),
        **more,
    }


def of_groups(severities, rule="IDLE_CONSUMERS"):
    return [a_finding(rule, consumer_group=name, severity=severity) for name, severity in severities.items()]


def test_groups_have_the_owner_and_the_tier_of_their_entry():
    found = {one.consumer_group: (one.owner, one.tier) for one in plan_of(rows(), policy=POLICY).groups}

    assert found == {"g_pay": ("payments", 2), "g_stock": ("=stock & co", 1), "g_other": (None, None)}


@pytest.mark.parametrize(
    ("place", "owner", "tier"),
    [
        ({"consumer_group": "g_pay"}, "payments", 2),
        ({"consumer_group": "g_other"}, None, None),
        ({"consumer_group": None, "topic": "stock"}, "=stock & co", 1),
        ({"consumer_group": None, "topic": "both"}, None, 1),
        ({"consumer_group": None, "topic": None}, None, None),
    ],
)
def test_findings_recommendations_and_causes_are_their_groups_owners_or_the_one_owner_of_a_topics_readers(
    place, owner, tier
):
    where = {"topic": None, **place}
    advice = a_recommendation("INVESTIGATE", rules=["HOT_QUEUE"], **where)
    plan = plan_of(rows(a_finding("HOT_QUEUE", **where), recommendation=[advice]), policy=POLICY)

    (finding,), (recommendation,), (cause,) = plan.findings, plan.recommendations, plan.causes
    assert (finding.owner, recommendation.owner, cause.owner, cause.tier) == (owner, owner, owner, tier)


def test_causes_are_sorted_by_severity_then_tier_then_danger():
    found = [
        *of_groups({"g_pay": "WARNING", "g_stock": "WARNING", "g_other": "CRITICAL"}),
        *of_groups({"g_pay": "WARNING", "g_other": "WARNING"}, "ORPHAN_QUEUE"),
    ]
    plan = plan_of(rows(*found), policy=POLICY)

    assert [(cause.severity, cause.tier, cause.rule, cause.consumer_group) for cause in plan.causes] == [
        ("CRITICAL", None, "IDLE_CONSUMERS", "g_other"),
        ("WARNING", 1, "IDLE_CONSUMERS", "g_stock"),
        ("WARNING", 2, "ORPHAN_QUEUE", "g_pay"),
        ("WARNING", 2, "IDLE_CONSUMERS", "g_pay"),
        ("WARNING", None, "ORPHAN_QUEUE", "g_other"),
    ]


def test_every_owner_has_a_file_with_the_findings_of_its_groups_and_of_the_topics_that_they_read():
    found = [
        *of_groups({"g_pay": "WARNING", "g_stock": "INFO", "g_other": "WARNING"}),
        *(a_finding("HOT_QUEUE", consumer_group=None, topic=topic) for topic in ("pay", "both", "other")),
    ]
    files = findings_by_owner(plan_of(rows(*found), policy=POLICY))

    names = owner_files(["payments", "=stock & co"])
    assert set(files) == set(names.values())
    told = {
        owner: [(line["consumer_group"] or line["topic"], line["owner"]) for line in read(files[name])]
        for owner, name in names.items()
    }
    assert sorted(told["payments"]) == [("both", ""), ("g_pay", "payments"), ("pay", "payments")]
    # A spreadsheet would take the owner's name for a formula.
    assert sorted(told["=stock & co"]) == [("both", ""), ("g_stock", "'=stock & co")]


def test_an_owner_of_whom_nothing_is_found_has_an_empty_file_and_a_policy_without_owners_has_none():
    files = findings_by_owner(plan_of(rows(), policy=POLICY))
    assert [read(content) for content in files.values()] == [[], []]
    assert findings_by_owner(plan_of(rows(a_finding()))) == {}


def test_the_files_of_owners_have_names_that_every_file_system_takes_and_that_differ():
    owners = ["payments", "Payments", "../../etc", "a/b", "a b", "a_b", "", ".", "con\x00", "\u652f\u4ed8", "x" * 300]
    files = owner_files(owners)

    assert files["payments"].startswith("by-owner/payments-")
    assert owner_files(["payments"]) == {"payments": "by-owner/payments.csv"}
    assert len({name.lower() for name in files.values()}) == len(owners)
    for name in files.values():
        folder, _, file = name.partition("/")
        assert (folder, "/" in file, file.startswith("."), len(file) < 200, file.isascii()) == (
            "by-owner",
            False,
            False,
            True,
            True,
        )


def test_files_of_owners_that_the_policy_no_longer_tells_are_gone(tmp_path):
    publish_rows(rows(), tmp_path, policy=POLICY)
    assert len(list((tmp_path / "by-owner").iterdir())) == 2

    publish_rows(rows(), tmp_path, policy=Policy.model_validate({"groups": [{"match": "pay", "owner": "payments"}]}))
    assert [file.name for file in (tmp_path / "by-owner").iterdir()] == ["payments.csv"]


def test_the_page_tells_the_owner_of_each_cause_and_lists_the_causes_of_each_owner():
    found = of_groups({"g_pay": "WARNING", "g_stock": "CRITICAL", "g_other": "WARNING"})
    tree = read_page(page_of(rows(*found), policy=POLICY))

    assert "Owner: payments, tier 2." in text_of(tree)
    first, second = by_id(tree, "owner-1"), by_id(tree, "owner-2")
    assert "=stock & co" in text_of(first)
    assert "g_stock" in text_of(first)
    assert "g_pay" not in text_of(first)
    assert "g_pay" in text_of(second)
    assert owner_files(["payments"])["payments"] in text_of(second)
    (link,) = elements(second, "a")
    assert "payments" in text_of(by_id(tree, link.get("href").removeprefix("#")))
    assert "1 cause has no owner, or several." in text_of(section(tree, "owners"))


def test_the_page_can_be_filtered_by_owner_and_each_cause_and_group_has_its_owners_mark():
    found = of_groups({"g_pay": "WARNING", "g_stock": "CRITICAL", "g_other": "WARNING"})
    tree = read_page(page_of(rows(*found), policy=POLICY))

    choices = {text_of(label).strip(): elements(label, "input")[0].get("id") for label in elements(tree, "label")}
    assert choices == {
        "everybody's": "only-all",
        "=stock & co": "only-1",
        "payments": "only-2",
        "without an owner, or of several": "only-0",
    }
    marks = {
        group: one.get("class").split()
        for one in elements(tree, "details")
        for group in ("g_pay", "g_stock", "g_other")
        if "cause" in (one.get("class") or "").split() and group in text_of(one)
    }
    assert {group: one[-1] for group, one in marks.items()} == {"g_stock": "of-1", "g_pay": "of-2", "g_other": "of-0"}
    lines = {text_of(row.find(f"{HTML}th")): row.get("class") for row in elements(tree, "tr") if row.get("class")}
    assert (lines["g_stock"], lines["g_pay"]) == ("owned of-1", "owned of-2")
    assert "body:has(#only-2:checked) .owned:not(.of-2)" in page_of(rows(*found), policy=POLICY)


def test_without_owners_there_is_no_filter():
    page = page_of(rows())

    assert elements(read_page(page), "fieldset") == []
    assert "#only-0" not in page
