"""The digest of the recommendations that a person is asked about: it proves which ones an answer is to."""

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from rocketmq_capacity.plan_file.order import beside
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.selection import AskedRecommendation, asked_about


def digest_of(plan: Plan, ids: Sequence[str]) -> str:
    """SHA-256 over the snapshot's fingerprint and these recommendations, in the order of their numbers.

    It changes if any of them has another id, number, action, reason or command, another group or topic, other
    alternatives, or other words by which it can be named in an answer.

    Args:
        plan: the plan.
        ids: of the recommendations that need an answer.
    """
    asked, others = asked_about(plan, ids), beside(plan.alternatives)
    shown = [_shown(one, sorted(others.get(one.recommendation.id, ()))) for one in asked]
    return sha256(msgspec.json.encode([plan.fingerprint, shown])).hexdigest()


def _shown(asked: AskedRecommendation, alternatives: Sequence[str]) -> list[object]:
    recommendation = asked.recommendation
    return [
        *(
            recommendation.id,
            recommendation.action,
            recommendation.consumer_group,
            recommendation.topic,
            recommendation.reason,
            recommendation.commands,
            recommendation.rules,
        ),
        *(asked.cause, asked.severity, asked.title, alternatives),
    ]
