"""plan.json: makes the plan from the tables, in the order and with the names of its types."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from rocketmq_capacity import tables
from rocketmq_capacity.errors import ContractBroken
from rocketmq_capacity.language.of_plan import with_sentences
from rocketmq_capacity.plan_file.changes import ChangesSincePlan
from rocketmq_capacity.plan_file.finding import PlanFinding, still_open
from rocketmq_capacity.plan_file.findings import finding_of, in_order
from rocketmq_capacity.plan_file.group import (
    GroupPlan,
    NeededClients,
    PlanChurn,
    PlanClientBounds,
    PlanPeak,
    PlanSkew,
    StrategyPlan,
    Utilisation,
)
from rocketmq_capacity.plan_file.ledger import ActionRate, LedgerEntry
from rocketmq_capacity.plan_file.numbers import json_object, rounded, steady
from rocketmq_capacity.plan_file.order import nulls_first
from rocketmq_capacity.plan_file.own_policy import OwnPolicy
from rocketmq_capacity.plan_file.owners import PeopleOfPlan
from rocketmq_capacity.plan_file.plan import FORMAT, Completeness, Plan, PlanFailure
from rocketmq_capacity.plan_file.recommendation import Approval, PlanConfigAssignment, PlanRecommendation
from rocketmq_capacity.plan_file.scenario import ScenarioResult
from rocketmq_capacity.plan_file.steps import STEPS, StepCheck
from rocketmq_capacity.report.accepting import accept, notes_of, still_needed
from rocketmq_capacity.report.approval import divided, needing_approval
from rocketmq_capacity.report.asked_digest import digest_of
from rocketmq_capacity.report.brokers import brokers_of
from rocketmq_capacity.report.causes import Past, causes_of
from rocketmq_capacity.report.changes import changes_of, with_states
from rocketmq_capacity.report.coming_events import events_of
from rocketmq_capacity.report.freezing import coming_freeze, freeze_of, frozen, frozen_scenario
from rocketmq_capacity.report.headroom import headroom_of, lowest_headroom, other_headroom
from rocketmq_capacity.report.ledger import NOTHING_SEEN, LedgerFacts, with_ledger
from rocketmq_capacity.report.plan_before import PlanBefore
from rocketmq_capacity.report.rows import PlanRows
from rocketmq_capacity.report.score import scored
from rocketmq_capacity.report.traffic_forecast import traffic_forecast_of
from rocketmq_capacity.report.transitions import transitions_of, undecided_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables.assess.findings import FoundPlace
from rocketmq_capacity.tables.transition import TransitionTotals
from rocketmq_capacity.vocabulary import GRPC, MIXED, changes_cluster, is_broadcasting, java_order

_LEDGER_ENTRY: Final = msgspec.json.Decoder(LedgerEntry)


def plan_of(
    rows: PlanRows,
    policy: Policy,
    *,
    scenario: ScenarioResult | None = None,
    answers: Sequence[Approval] = (),
    own_policy: OwnPolicy | None = None,
    today: LedgerFacts = NOTHING_SEEN,
) -> Plan:
    """The plan of one snapshot, every list in a total order.

    Args:
        rows: the rows of the datasets, with exactly one row of ``cluster``.
        policy: the policy.
        scenario: what a what-if adds.
        answers: every answer to recommendations of this run, oldest first.
        own_policy: what the run decides otherwise than the deployment's policy.
        today: what the snapshot says of what earlier plans recommended.

    Errors: :class:`ContractBroken` if a JSON column does not hold a JSON object, a severity is unknown, or there is not
    exactly one cluster.
    Source: include/docs/formats.md, "Plan file".
    """
    if len(rows.cluster) != 1:
        raise ContractBroken(f"cluster: expected one row, found {len(rows.cluster)}")
    (cluster,) = rows.cluster
    strategies: dict[str, list[StrategyPlan]] = {}
    for load in rows.strategy_load:
        strategies.setdefault(load.consumer_group, []).append(_strategy(load))
    status = sorted(rows.group_status, key=lambda row: row.consumer_group)
    topics = {row.consumer_group: sorted(row.topics) for row in status}
    owners = PeopleOfPlan({name: policy.group_entry(name) for name in topics} if policy.groups else {}, topics)
    valid_until = _valid_until(cluster.taken_at, policy.validity.hours)
    freeze = freeze_of(policy.freeze, cluster.taken_at)
    coming = coming_freeze(policy.freeze, cluster.taken_at, valid_until) if freeze is None else None
    differences = () if own_policy is None else own_policy.differences
    is_trial = scenario is None and own_policy is not None and own_policy.is_trial
    is_next = scenario is None and not is_trial  # the others are no run of the row
    findings, accepted = accept(
        in_order(finding_of(row, owners.only_one(row.consumer_group, row.topic)) for row in rows.finding),
        policy.accepted,
        cluster.taken_at,
        _least(rows),
    )
    states = {row.place: row for row in rows.finding_since}
    findings = with_states(findings, states) if is_next else findings
    undecided = undecided_of(rows.recommendation, rows.recommended_transition, status)
    recommendations = still_needed(frozen(_recommendations(rows, undecided, owners), freeze), findings, topics)
    since = {place: row.since for place, row in states.items()}
    past = Past(cluster.taken_at, since) if since and not is_trial else None
    of_findings = causes_of(still_open(findings), recommendations, topics, past, owners)
    plan = Plan(
        format=FORMAT,
        cluster_name=cluster.cluster_name,
        taken_at=cluster.taken_at,
        recorded_at=UNSET if cluster.recorded_at is None else cluster.recorded_at,
        valid_until=valid_until if coming is None else coming.begins,
        fingerprint=cluster.fingerprint,
        completeness=Completeness(ratio=steady(cluster.completeness_ratio), failures=_failures(rows.failure)),
        groups=tuple(_group(row, strategies.get(row.consumer_group, ()), owners) for row in status),
        findings=findings,
        recommendations=recommendations,
        causes=of_findings.causes,
        alternatives=of_findings.alternatives,
        headroom=lowest_headroom(status, other_headroom(rows.broker_load, rows.topic_headroom)),
        brokers=brokers_of(rows.broker_load, rows.client_cost, rows.broker_pool),
        producer_balance=tuple(sorted(rows.producer_balance, key=lambda row: row.topic)),
        changes=_changes(rows, findings, states, policy) if is_next else None,
        accepted=accepted,
        freeze=freeze,
        notes=notes_of(accepted, freeze, coming),
        events=events_of(rows.event_need, policy.events, cluster.taken_at) or UNSET,
        scenario=UNSET if scenario is None else frozen_scenario(scenario, freeze),
        policy_differences=differences or UNSET,
        trial=is_trial if differences and scenario is None else UNSET,
    )
    answered = _with_answers(scored(plan, rows.losses, policy.score, asks_rooms=policy.asks_rooms), answers)
    return with_sentences(with_ledger(answered, _advised_before(rows), today))


def _with_answers(plan: Plan, answers: Sequence[Approval]) -> Plan:
    """The plan with the digest of what needs an answer, the answer that counts, and all others."""
    asked = needing_approval(plan) if plan.is_daily else []
    digest = digest_of(plan, asked) if asked else UNSET
    counts, others = divided(answers, plan, digest)
    return msgspec.structs.replace(
        plan,
        recommendations_digest=digest,
        approval=UNSET if counts is None else counts,
        other_answers=others or UNSET,
    )


def _advised_before(rows: PlanRows) -> PlanBefore:
    entries = (_LEDGER_ENTRY.decode(row.entry) for row in rows.ledger_before)
    rates = (
        ActionRate(action=row.action, verified=row.verified, failed=row.failed, otherwise=row.otherwise)
        for row in rows.ledger_rate
    )
    return PlanBefore(tuple(entries), tuple(rates))


def _least(rows: PlanRows) -> dict[FoundPlace, str]:
    return {row.place: row.least_severity for row in rows.finding_since if row.least_severity is not None}


def _changes(
    rows: PlanRows, findings: Sequence[PlanFinding], states: Mapping[FoundPlace, tables.FindingSince], policy: Policy
) -> ChangesSincePlan | None:
    """What changed since the run before, but for what is accepted."""
    if not rows.run_before:
        return None
    (before,) = rows.run_before
    findings_before = in_order(finding_of(row) for row in rows.finding_before)
    changes = changes_of(findings_before, findings, states, before.taken_at, policy.changes.worse_factor)
    ids = {finding.id for finding in still_open(findings)}
    closing = {one.id for one in changes.closing}
    marked, _ = accept(
        [one for one in findings_before if one.id in closing], policy.accepted, rows.cluster[0].taken_at, _least(rows)
    )
    close = {one.id for one in still_open(marked)}
    return msgspec.structs.replace(
        changes,
        new=tuple(one for one in changes.new if one in ids),
        worse=tuple(one for one in changes.worse if one.finding in ids),
        pending=tuple(one for one in changes.pending if one in ids),
        closing=tuple(one for one in changes.closing if one.id in close),
    )


def render_plan(plan: Plan) -> Iterator[bytes]:
    """The bytes of plan.json in parts: UTF-8, a line for each member, entry of a list and sentence.

    They are equal for equal plans.

    So two plans are compared line by line, without the indentation that would be two fifths of a large plan. In parts,
    because a large cluster's plan takes more than a hundred megabytes as text.
    """
    start = b"{"
    for field in msgspec.structs.fields(plan):
        value = getattr(plan, field.name)
        if value is UNSET:
            continue
        yield start + b"\n" + msgspec.json.encode(field.encode_name) + b": "
        if isinstance(value, tuple) and value:
            yield from _rendered_lines(b"[", map(msgspec.json.encode, value), b"]")
        elif isinstance(value, dict) and value:
            entries = (msgspec.json.encode(name) + b": " + msgspec.json.encode(held) for name, held in value.items())
            yield from _rendered_lines(b"{", entries, b"}")
        else:
            yield msgspec.json.encode(value)
        start = b","
    yield b"\n}\n"


def _rendered_lines(begin: bytes, entries: Iterable[bytes], end: bytes) -> Iterator[bytes]:
    start = begin + b"\n"
    for entry in entries:
        yield start + entry
        start = b",\n"
    yield b"\n" + end


def _valid_until(taken_at: str, hours: float) -> str | None:
    """So many hours after the snapshot; None if its moment is no time."""
    try:
        until = datetime.fromisoformat(taken_at) + timedelta(hours=hours)
    except (ValueError, OverflowError):
        return None
    return until.isoformat(timespec="seconds").replace("+00:00", "Z")


def _failures(rows: Iterable[tables.Failure]) -> tuple[PlanFailure, ...]:
    ordered = sorted(rows, key=lambda row: nulls_first(row.broker_addr, row.request, row.error))
    return tuple(PlanFailure(broker_addr=row.broker_addr, request=row.request, error=row.error) for row in ordered)


def _peak(row: tables.GroupStatus) -> PlanPeak:
    most = steady(row.most_msgs_per_s)
    return PlanPeak(
        msgs_per_s=steady(row.peak_msgs_per_s),
        at=row.peak_at,
        days=row.peak_days,
        rates=row.peak_rates,
        most_msgs_per_s=UNSET if most is None else most,
        most_at=row.most_at or UNSET,
    )


def _group(row: tables.GroupStatus, strategies: Iterable[StrategyPlan], owners: PeopleOfPlan) -> GroupPlan:
    ordered = sorted(strategies, key=lambda strategy: strategy.strategy)
    return GroupPlan(
        consumer_group=row.consumer_group,
        owner=owners.of_group(row.consumer_group),
        tier=owners.tier_of_group(row.consumer_group),
        message_model=row.message_model,
        consume_type=row.consume_type,
        message_request_mode=row.message_request_mode,
        connections=row.connections,
        distinct_client_ids=row.distinct_client_ids,
        topics=tuple(sorted(row.topics)),
        max_useful_clients=row.max_useful_clients,
        provision_status=row.provision_status,
        provision_reason=row.provision_reason,
        reading_status=row.reading_status,
        utilisation=Utilisation.of(row.utilisation_lower, row.utilisation, row.utilisation_upper),
        busiest_client=row.busiest_client,
        peak_factor=rounded(row.peak_factor),
        peak=_peak(row),
        needed_clients=_needed_clients(row),
        min_safe_clients=row.min_safe_clients,
        client_bounds=PlanClientBounds(
            min_replicas=row.min_replicas,
            target=row.target_replicas,
            max_replicas=row.max_replicas,
            max_useful=row.max_useful_replicas,
            scale_down_allowed=row.scale_down_allowed,
            blocked_by=row.scale_down_blocked_by,
            confidence=row.bounds_confidence,
            reason_code=row.provision_code,
        ),
        headroom=headroom_of(row),
        traffic_forecast=traffic_forecast_of(row),
        current_strategy=row.current_strategy,
        current_strategy_source=row.current_strategy_source,
        strategies=() if is_broadcasting(row.message_model) else tuple(ordered),
        outlier_clients=row.outlier_clients or UNSET,
        judged_utilisation=_judged_utilisation(row) or UNSET,
        protocol=row.protocol if row.protocol in (GRPC, MIXED) else UNSET,
    )


def _judged_utilisation(row: tables.GroupStatus) -> Utilisation | None:
    if not row.outlier_clients:
        return None
    return Utilisation.of(row.judged_utilisation_lower, row.judged_utilisation, row.judged_utilisation_upper)


def _needed_clients(row: tables.GroupStatus) -> NeededClients | None:
    if not row.is_size_known:
        return None
    return NeededClients(
        lower=row.needed_clients_lower, target=row.needed_clients_target, upper=row.needed_clients_upper
    )


def _strategy(row: tables.StrategyLoad) -> StrategyPlan:
    return StrategyPlan(
        strategy=row.strategy,
        applicable=row.is_applicable,
        reason=row.reason,
        idle_clients=tuple(sorted(row.idle_clients, key=java_order)),
        orphan_queues=tuple(sorted(row.orphan_queues)),
        doubly_owned_queues=tuple(sorted(row.doubly_owned_queues)),
        count=PlanSkew.of(row.count),
        traffic=PlanSkew.of(row.traffic),
        lag=PlanSkew.of(row.lag),
        dialects=row.dialects or UNSET,
        churn=_churn(row),
        pareto_best=UNSET if row.is_pareto_best is None else row.is_pareto_best,
    )


def _churn(row: tables.StrategyLoad) -> PlanChurn | UnsetType:
    """The queues that move under a strategy; unset if all of it is unknown."""
    moved = (row.moved_one_fewer, row.moved_one_more, row.moved_broker_lost)
    if all(number is None for number in moved):
        return UNSET
    return PlanChurn(one_fewer=moved[0], one_more=moved[1], broker_lost=moved[2])


def _recommendations(
    rows: PlanRows, undecided: Mapping[str, str], owners: PeopleOfPlan
) -> tuple[PlanRecommendation, ...]:
    moved = transitions_of(rows.recommended_transition)
    moved_by_lists = transitions_of(rows.recommended_transition, of_lists=True)
    ordered = sorted(
        rows.recommendation, key=lambda row: nulls_first(row.action, row.consumer_group, row.topic, row.id)
    )
    return tuple(
        PlanRecommendation(
            id=row.id,
            action=row.action,
            consumer_group=row.consumer_group,
            topic=row.topic,
            owner=owners.only_one(row.consumer_group, row.topic),
            manual=row.is_manual,
            reason=row.reason,
            rules=tuple(sorted(row.rules)),
            commands=tuple(row.commands),  # their order is the order in which they are to be run
            before=json_object("recommendation.before", row.before),
            after=json_object("recommendation.after", row.after),
            changes_cluster=any(map(changes_cluster, row.commands)),
            check=_check(row),
            way_back=row.way_back,
            transition=moved.get(row.id, UNSET),
            transition_undecided=undecided.get(row.id, UNSET),
            steps=STEPS.decode(row.steps) or UNSET,
            config_assignment=_lists(row.config_assignment, moved_by_lists.get(row.id, UNSET)),
        )
        for row in ordered
    )


def _lists(encoded: str | None, transition: TransitionTotals | UnsetType) -> PlanConfigAssignment | UnsetType:
    if encoded is None:
        return UNSET
    return msgspec.structs.replace(msgspec.json.decode(encoded, type=PlanConfigAssignment), transition=transition)


def _check(row: tables.Recommendation) -> StepCheck | None:
    if row.check_command is None or row.check_shows is None:
        return None
    return StepCheck(command=row.check_command, shows=row.check_shows)
