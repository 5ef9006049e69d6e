"""All files that a plan hands over."""

from rocketmq_capacity.handover.autoscalers import autoscalers_of
from rocketmq_capacity.handover.desired_state import StateFile
from rocketmq_capacity.handover.differences import differences_of
from rocketmq_capacity.handover.metrics import metrics_of
from rocketmq_capacity.handover.observed import Observed, state_of
from rocketmq_capacity.handover.runbook import runbook_of
from rocketmq_capacity.handover.runbook_files import markdown_of
from rocketmq_capacity.handover.tickets import tickets_of
from rocketmq_capacity.language.current import speaking
from rocketmq_capacity.plan_file.handed_over import (
    AUTOSCALERS,
    DESIRED_STATE,
    DIFFERENCES,
    HANDED_OVER,
    METRICS,
    RUNBOOK,
    RUNBOOK_JSON,
    TICKETS,
)
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.store.json_file import json_file


def handed_over(plan: Plan, policy: Policy, observed: Observed) -> dict[str, bytes | None]:
    """By name, the bytes of every file; None for one that this plan does not have. A what-if has none, and no trial.

    What people read is in the policy's language; files for tools are in English.
    """
    nothing: dict[str, bytes | None] = dict.fromkeys(HANDED_OVER)
    if not plan.is_daily:
        return nothing
    state = StateFile(state_of(plan, observed))
    with speaking(policy.language, plan.sentences):
        runbook, tickets = markdown_of(runbook_of(plan)), json_file(tickets_of(plan))
    return nothing | {
        METRICS: metrics_of(plan, policy.metrics),
        RUNBOOK: runbook,
        RUNBOOK_JSON: json_file(runbook_of(plan)),
        AUTOSCALERS: autoscalers_of(plan, policy),
        DESIRED_STATE: state.content,
        DIFFERENCES: json_file(differences_of(plan, state)),
        TICKETS: tickets,
    }
