"""The last step: writes what people read. It computes nothing, so it needs no Spark session."""

from rocketmq_capacity import tables
from rocketmq_capacity.collector import without_collector
from rocketmq_capacity.handover.hand_over import handed_over
from rocketmq_capacity.plan_file.own_policy import OwnPolicy
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.scenario import ScenarioResult
from rocketmq_capacity.report.approval import answers_of
from rocketmq_capacity.report.detail import detailed_groups
from rocketmq_capacity.report.plan import plan_of
from rocketmq_capacity.report.publish import publish as published
from rocketmq_capacity.report.rows import DiskDays, PageRows
from rocketmq_capacity.report.view.heat_map import heat_groups
from rocketmq_capacity.steps.planning import ALLOCATE, ASSESS, RECOMMEND, SNAPSHOT, Planning, with_acceptances
from rocketmq_capacity.steps.reported_rows import (
    observed_in,
    owned_queues,
    queue_lags,
    records,
    rows_if_any,
    rows_of_groups,
    rows_of_plan,
)
from rocketmq_capacity.steps.seen_today import seen_today
from rocketmq_capacity.store.lake import PUBLISH
from rocketmq_capacity.wording import counted


def publish(planning: Planning, scenario: ScenarioResult | None = None) -> Plan:
    """Write the run's report folder, with the answers of people if there are any. Gives the plan."""
    with planning.step(PUBLISH, SNAPSHOT, ALLOCATE, ASSESS, RECOMMEND) as step, without_collector():
        run, progress = planning.run, planning.progress
        with progress.phase("plan"):
            rows = rows_of_plan(run)
            policy = with_acceptances(planning.policy, run, rows.cluster[0].taken_at)
            plan = plan_of(
                rows,
                policy,
                scenario=scenario,
                answers=answers_of(run),
                own_policy=OwnPolicy.read(run.own_policy),
                today=seen_today(run),
            )
        with progress.phase("files"):
            detailed = detailed_groups(plan)
            client_load = rows_of_groups(run, tables.ClientLoad, detailed)
            drawn = heat_groups(plan, detailed, client_load)
            beside = PageRows(
                group_status=rows.group_status,
                client_load=client_load,
                owned_queue=owned_queues(run, drawn),
                queue_lag=queue_lags(run, drawn),
                group_size=rows_of_groups(run, tables.GroupSize, detailed),
                group_failure=rows_of_groups(run, tables.GroupFailure, detailed),
                group_hour=rows_of_groups(run, tables.GroupHour, detailed),
                group_day=rows_of_groups(run, tables.GroupDay, detailed),
                disk_days=list(records(run, tables.Broker, DiskDays)),
                losses=rows.losses or (),
                cluster_failure=rows_if_any(run, tables.ClusterFailure),
                producer_failure=rows_if_any(run, tables.ProducerFailure),
                unrouted_topic=rows_if_any(run, tables.UnroutedTopic),
                busy_bound=policy.thresholds.PROVISION.under_utilisation,
            )
            published(plan, beside, run.report, handed_over(plan, policy, observed_in(run)), policy.language)
        step.tells(f"{counted(len(plan.groups), 'group')}, {counted(len(plan.findings), 'finding')}")
    return plan
