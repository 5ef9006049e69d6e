"""A plan of a few findings and recommendations, and its causes in short."""

from tests.report.from_rows import plan_of
from tests.report.row_builders import a_cluster, a_group, a_recommendation

QUEUES = [{"topic": "pay", "broker_name": "broker-a", "queue_id": queue_id} for queue_id in range(4)]


def plan(findings=(), recommendations=(), groups=("g_pay",)):
    return plan_of({
        "cluster": [a_cluster()],
        "group_status": [a_group(name) for name in groups],
        "finding": list(findings),
        "recommendation": list(recommendations),
    })


def advice(action, rules, consumer_group="g_pay", topic=None, number=1, **more):
    return a_recommendation(
        action,
        id=f"{action}-{consumer_group}-{number}",
        consumer_group=consumer_group,
        topic=topic,
        rules=rules,
        **more,
    )


def told(made):
    """Each cause as its rule, the rules of its findings, and the actions of its recommendations."""
    rule = {finding.id: finding.rule for finding in made.findings}
    action = {one.id: one.action for one in made.recommendations}
    return [
        (cause.rule, [rule[one] for one in cause.findings], [action[one] for one in cause.recommendations])
        for cause in made.causes
    ]
