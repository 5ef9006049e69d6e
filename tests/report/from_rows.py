"""Plans, pages and folders of files from rows as the builders write them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from rocketmq_capacity import tables
from rocketmq_capacity.handover.hand_over import handed_over
from rocketmq_capacity.handover.observed import BrokerRow, GroupRow, Observed, PlaceRow, ReadRow, SettingRow, TopicRow
from rocketmq_capacity.plan_file.own_policy import OwnPolicy
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.scenario import ScenarioResult
from rocketmq_capacity.report import html, plan, publish
from rocketmq_capacity.report.approval import approval_of
from rocketmq_capacity.report.losses import GroupAfter, TopicAfter, losses_of
from rocketmq_capacity.report.rows import DiskDays, DrawnQueue, PageRows, PlanRows, QueueLag
from rocketmq_capacity.report.summary_file import PlanSummary
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables.dataset import Dataset

Record = TypeVar("Record", bound=NamedTuple)
Built = Mapping[str, Sequence[dict[str, Any]]]
"""Rows by the name of their dataset; one that is absent has none."""
DEFAULTS = Policy()
REPORTED = (
    tables.Cluster,
    tables.Failure,
    tables.GroupStatus,
    tables.StrategyLoad,
    tables.Finding,
    tables.FindingSince,
    tables.RunBefore,
    tables.FindingBefore,
    tables.Recommendation,
    tables.RecommendedTransition,
    tables.ProducerBalance,
    tables.BrokerLoad,
    tables.ClientCost,
    tables.BrokerPool,
    tables.TopicHeadroom,
    tables.EventNeed,
)


def typed(dataset: type[Dataset], rows: Built) -> Any:
    """The rows of a dataset, checked against its contract; the builders write maps as pairs."""
    built = rows.get(dataset.dataset_name(), ())
    return [msgspec.convert({name: _plain(value) for name, value in row.items()}, dataset) for row in built]


def plan_of(
    rows: Built,
    *,
    policy: Policy = DEFAULTS,
    scenario: Any = None,
    approval: Any = None,
    answers: Sequence[Any] = (),
    own_policy: OwnPolicy | None = None,
) -> Plan:
    """The plan; ``approval`` is one answer, ``answers`` are several, oldest first."""
    given = tuple(approval_of(one) for one in (answers or ([] if approval is None else [approval])))
    held = {dataset.dataset_name(): typed(dataset, rows) for dataset in REPORTED}
    found = None if scenario is None else msgspec.convert(scenario, ScenarioResult)
    losses = beside_of(rows).losses if tables.GroupFailure.dataset_name() in rows else None
    return plan.plan_of(PlanRows(**held, losses=losses), policy, scenario=found, answers=given, own_policy=own_policy)


def page_of(rows: Built, **given: Any) -> str:
    """The page; see :func:`plan_of` for what is given."""
    return html.render_report(plan_of(rows, **given), beside_of(rows))


def publish_rows(rows: Built, folder: Path, *, policy: Policy = DEFAULTS, **given: Any) -> PlanSummary:
    """All files of a plan; see :func:`plan_of` for what is given."""
    made = plan_of(rows, policy=policy, **given)
    return publish.publish(made, beside_of(rows), folder, handed_over(made, policy, observed_in(rows)))


def observed_in(rows: Built) -> Observed:
    """What the snapshot has of topics and groups."""
    return Observed(
        topics=records_of(tables.Topic, TopicRow, rows),
        places=records_of(tables.TopicQueue, PlaceRow, rows),
        brokers=records_of(tables.Broker, BrokerRow, rows),
        groups=records_of(tables.ConsumerGroup, GroupRow, rows),
        settings=records_of(tables.GroupSetting, SettingRow, rows),
        reads=records_of(tables.Subscription, ReadRow, rows),
    )


def records_of(dataset: type[Dataset], kind: type[Record], rows: Built) -> list[Record]:
    """Some columns of the rows of a dataset."""
    return [kind._make(getattr(row, name) for name in kind._fields) for row in typed(dataset, rows)]


def beside_of(rows: Built) -> PageRows:
    """What the page needs besides the plan."""
    groups, topics = typed(tables.GroupFailure, rows), typed(tables.TopicFailure, rows)
    return PageRows(
        group_status=typed(tables.GroupStatus, rows),
        client_load=typed(tables.ClientLoad, rows),
        group_size=typed(tables.GroupSize, rows),
        group_failure=groups,
        losses=losses_of(
            (GroupAfter._make(getattr(row, name) for name in GroupAfter._fields) for row in groups),
            (TopicAfter._make(getattr(row, name) for name in TopicAfter._fields) for row in topics),
        ),
        cluster_failure=typed(tables.ClusterFailure, rows),
        producer_failure=typed(tables.ProducerFailure, rows),
        unrouted_topic=typed(tables.UnroutedTopic, rows),
        owned_queue=records_of(tables.Allocation, DrawnQueue, rows),
        queue_lag=records_of(tables.GroupOffset, QueueLag, rows),
        group_hour=typed(tables.GroupHour, rows),
        group_day=typed(tables.GroupDay, rows),
        disk_days=records_of(tables.Broker, DiskDays, rows),
        busy_bound=DEFAULTS.thresholds.PROVISION.under_utilisation,
    )


def plan_bytes(made: Plan) -> bytes:
    return b"".join(plan.render_plan(made))


def _plain(value: Any) -> Any:
    is_pairs = isinstance(value, list) and value and all(isinstance(item, tuple) for item in value)
    return dict(value) if is_pairs else value
