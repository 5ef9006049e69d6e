"""plan.json: makes the plan from the datasets, in the order and with the names of the contract."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from rocketmq_capacity import contracts
from rocketmq_capacity.contracts.dataset import Queue
from rocketmq_capacity.contracts.steps import STEPS, Check
from rocketmq_capacity.errors import ContractBroken
from rocketmq_capacity.report.accepting import accept, notes_of, still_needed, still_open
from rocketmq_capacity.report.approval import divided, needing_approval
from rocketmq_capacity.report.asked_digest import digest_of
from rocketmq_capacity.report.brokers import brokers_of
from rocketmq_capacity.report.causes import Past, causes_of
from rocketmq_capacity.report.changes import changes_of
from rocketmq_capacity.report.freezing import freeze_of, frozen
from rocketmq_capacity.report.headroom import headroom_of, lowest_headroom, other_headroom
from rocketmq_capacity.report.order import canonical, identity, made_unique, nulls_first, subjects_key
from rocketmq_capacity.report.owners import Owners
from rocketmq_capacity.report.plan_file.changes import Changes
from rocketmq_capacity.report.plan_file.finding import Finding, JsonObject
from rocketmq_capacity.report.plan_file.group import (
    Churn,
    ClientBounds,
    GroupPlan,
    NeededClients,
    Peak,
    Skew,
    StrategyPlan,
    Utilisation,
)
from rocketmq_capacity.report.plan_file.plan import FORMAT, Completeness, Failure, Plan
from rocketmq_capacity.report.plan_file.queue_plan import QueuePlan
from rocketmq_capacity.report.plan_file.recommendation import (
    Approval,
    ConfigAssignment,
    GroupTransition,
    Recommendation,
    Transition,
)
from rocketmq_capacity.report.plan_file.scenario import (
    AddedFinding,
    AffectedGroup,
    Carried,
    Scenario,
    ScenarioGroup,
    ScenarioSide,
    ScenarioTotals,
    UndecidedFinding,
    UnjudgedTopic,
)
from rocketmq_capacity.report.plan_file.troubled_broker import LostMaster, Producers, SlowBroker
from rocketmq_capacity.report.rows import Rows
from rocketmq_capacity.report.transitions import transitions_of, undecided_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.vocabulary import GRPC, MIXED, SEVERITIES, Severity, changes_cluster, is_broadcasting, java_order

Found = TypeVar("Found", bound=Finding)
Rounded = TypeVar("Rounded", AffectedGroup, ScenarioTotals)

METRICS: Final = tuple(field.name for field in msgspec.structs.fields(Skew))
"""A strategy's metrics, in the contract's order."""
METRIC_DECIMALS: Final = 4
SIGNIFICANT_DIGITS: Final = 10
"""Digits of other fractions: the last digits of a sum depend on its order, and equal inputs must give equal bytes."""
INDENT: Final = 2
"""Spaces of indentation in plan.json for each level."""
SEVERITY_OF: Final[dict[str, Severity]] = {severity: severity for severity in SEVERITIES}


def plan_of(
    rows: Rows,
    policy: Policy,
    *,
    scenario: Mapping[str, Any] | None = None,
    answers: Sequence[Approval] = (),
) -> Plan:
    """The plan of one snapshot, every list in a total order.

    Args:
        rows: the rows of the datasets, with exactly one row of ``cluster``.
        policy: the policy.
        scenario: what a what-if adds, in the contract's form.
        answers: every answer to recommendations of this run, oldest first.

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
    owners = Owners(policy.groups, topics)
    least = {row.place: row.least_severity for row in rows.finding_since if row.least_severity is not None}
    findings, accepted = accept(
        _in_order(_finding(row, owners) for row in rows.finding), policy.accepted, cluster.taken_at, least
    )
    freeze = freeze_of(policy.freeze, cluster.taken_at)
    undecided = undecided_of(rows.recommendation, rows.recommended_transition, status)
    recommendations = still_needed(frozen(_recommendations(rows, undecided, owners), freeze), findings, topics)
    since = {row.place: row.since for row in rows.finding_since}
    past = Past(cluster.taken_at, since) if since else None
    found = causes_of(still_open(findings), recommendations, topics, past, owners)
    plan = Plan(
        format=FORMAT,
        cluster_name=cluster.cluster_name,
        taken_at=cluster.taken_at,
        recorded_at=UNSET if cluster.recorded_at is None else cluster.recorded_at,
        valid_until=_valid_until(cluster.taken_at, policy.validity.hours),
        fingerprint=cluster.fingerprint,
        completeness=Completeness(ratio=_steady(cluster.completeness_ratio), failures=_failures(rows.failure)),
        groups=tuple(_group(row, strategies.get(row.consumer_group, ()), owners) for row in status),
        findings=findings,
        recommendations=recommendations,
        causes=found.causes,
        alternatives=found.alternatives,
        headroom=lowest_headroom(status, other_headroom(rows.broker_load, rows.topic_headroom)),
        brokers=brokers_of(rows.broker_load),
        producer_balance=tuple(sorted(rows.producer_balance, key=lambda row: row.topic)),
        changes=None if scenario is not None else _changes(rows, findings, policy),
        accepted=accepted,
        freeze=freeze,
        notes=notes_of(accepted, freeze),
        scenario=UNSET if scenario is None else _scenario(scenario),
    )
    return _with_answers(plan, answers)


def _with_answers(plan: Plan, answers: Sequence[Approval]) -> Plan:
    """The plan with the digest of what needs an answer, the answer that counts, and all others."""
    asked = needing_approval(plan) if plan.scenario is UNSET else []
    digest = digest_of(plan, asked) if asked else UNSET
    counts, others = divided(answers, plan, digest)
    return msgspec.structs.replace(
        plan,
        recommendations_digest=digest,
        approval=UNSET if counts is None else counts,
        other_answers=others or UNSET,
    )


def _changes(rows: Rows, findings: Sequence[Finding], policy: Policy) -> Changes | None:
    if not rows.run_before:
        return None
    (before,) = rows.run_before
    found = _in_order(_finding(row) for row in rows.finding_before)
    changes = changes_of(found, findings, before.taken_at, policy.changes.worse_factor)
    ids = {finding.id for finding in still_open(findings)}
    return msgspec.structs.replace(
        changes,
        new=tuple(one for one in changes.new if one in ids),
        worse=tuple(one for one in changes.worse if one.finding in ids),
    )


def render_plan(plan: Plan) -> Iterator[bytes]:
    """The bytes of plan.json in parts: UTF-8, two spaces of indentation, a newline at the end; equal for equal plans.

    In parts, because a large cluster's plan takes hundreds of megabytes as text.
    """
    start = b"{\n"
    for field in msgspec.structs.fields(plan):
        value = getattr(plan, field.name)
        if value is UNSET:
            continue
        yield start + b" " * INDENT + msgspec.json.encode(field.encode_name) + b": "
        if isinstance(value, tuple) and value:
            yield from _rendered_list(value)
        else:
            yield _rendered(value, INDENT)
        start = b",\n"
    yield b"\n}\n"


def _rendered_list(values: Sequence[Any]) -> Iterator[bytes]:
    start = b"[\n"
    for value in values:
        yield start + b" " * 2 * INDENT + _rendered(value, 2 * INDENT)
        start = b",\n"
    yield b"\n" + b" " * INDENT + b"]"


def _rendered(value: Any, depth: int) -> bytes:
    """A value, indented for this depth; line ends inside texts are escapes, so they are not indented."""
    return msgspec.json.format(msgspec.json.encode(value), indent=INDENT).replace(b"\n", b"\n" + b" " * depth)


def _valid_until(taken_at: str, hours: float) -> str | None:
    """So many hours after the snapshot; None if its moment is no time."""
    try:
        until = datetime.fromisoformat(taken_at) + timedelta(hours=hours)
    except (ValueError, OverflowError):
        return None
    return until.isoformat(timespec="seconds").replace("+00:00", "Z")


def _failures(rows: Iterable[contracts.Failure]) -> tuple[Failure, ...]:
    ordered = sorted(rows, key=lambda row: nulls_first(row.broker_addr, row.request, row.error))
    return tuple(Failure(broker_addr=row.broker_addr, request=row.request, error=row.error) for row in ordered)


def _group(row: contracts.GroupStatus, strategies: Iterable[StrategyPlan], owners: Owners) -> GroupPlan:
    ordered = sorted(strategies, key=lambda strategy: strategy.strategy)
    return GroupPlan(
        consumer_group=row.consumer_group,
        owner=owners.of_group(row.consumer_group),
        tier=owners.tier_of_group(row.consumer_group),
        message_model=row.message_model,
        message_request_mode=row.message_request_mode,
        connections=row.connections,
        distinct_client_ids=row.distinct_client_ids,
        topics=tuple(sorted(row.topics)),
        max_useful_clients=row.max_useful_clients,
        provision_status=row.provision_status,
        provision_reason=row.provision_reason,
        reading_status=row.reading_status,
        utilisation=_utilisation(row.utilisation_lower, row.utilisation, row.utilisation_upper),
        busiest_client=row.busiest_client,
        peak_factor=_rounded(row.peak_factor),
        peak=Peak(msgs_per_s=_steady(row.peak_msgs_per_s), at=row.peak_at, days=row.peak_days, rates=row.peak_rates),
        needed_clients=_needed_clients(row),
        min_safe_clients=row.min_safe_clients,
        client_bounds=ClientBounds(
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
        current_strategy=row.current_strategy,
        current_strategy_source=row.current_strategy_source,
        strategies=() if is_broadcasting(row.message_model) else tuple(ordered),
        outlier_clients=row.outlier_clients or UNSET,
        judged_utilisation=_judged_utilisation(row) or UNSET,
        protocol=row.protocol if row.protocol in (GRPC, MIXED) else UNSET,
    )


def _judged_utilisation(row: contracts.GroupStatus) -> Utilisation | None:
    if not row.outlier_clients:
        return None
    return _utilisation(row.judged_utilisation_lower, row.judged_utilisation, row.judged_utilisation_upper)


def _utilisation(*bounds: float | None) -> Utilisation | None:
    lower, estimate, upper = (_rounded(bound) for bound in bounds)
    if lower is None or estimate is None or upper is None:
        return None
    return Utilisation(lower=lower, estimate=estimate, upper=upper)


def _needed_clients(row: contracts.GroupStatus) -> NeededClients | None:
    if not row.is_size_known:
        return None
    return NeededClients(
        lower=row.needed_clients_lower, target=row.needed_clients_target, upper=row.needed_clients_upper
    )


def _strategy(row: contracts.StrategyLoad) -> StrategyPlan:
    return StrategyPlan(
        strategy=row.strategy,
        applicable=row.is_applicable,
        reason=row.reason,
        idle_clients=tuple(sorted(row.idle_clients, key=java_order)),
        orphan_queues=tuple(sorted(row.orphan_queues)),
        doubly_owned_queues=tuple(sorted(row.doubly_owned_queues)),
        count=_skew(row.count),
        traffic=_skew(row.traffic),
        lag=_skew(row.lag),
        dialects=row.dialects or UNSET,
        churn=_churn(row),
        pareto_best=UNSET if row.is_pareto_best is None else row.is_pareto_best,
    )


def _churn(row: contracts.StrategyLoad) -> Churn | UnsetType:
    """The queues that move under a strategy; unset if all of it is unknown."""
    moved = (row.moved_one_fewer, row.moved_one_more, row.moved_broker_lost)
    if all(number is None for number in moved):
        return UNSET
    return Churn(one_fewer=moved[0], one_more=moved[1], broker_lost=moved[2])


def _skew(metrics: Mapping[str, float | None] | None) -> Skew | None:
    """A load's metrics, rounded; null if none of them is defined."""
    if metrics is None:
        return None
    rounded = {name: _rounded(metrics.get(name)) for name in METRICS}
    return Skew(**rounded) if any(number is not None for number in rounded.values()) else None


def _rounded(number: float | None) -> float | None:
    if number is None or not math.isfinite(number):
        return None
    return round(number, METRIC_DECIMALS) + 0.0  # never -0.0


def _finding(row: contracts.Finding, owners: Owners | None = None) -> Finding:
    return Finding(
        id=_finding_id(row.rule, row.consumer_group, row.topic, row.broker_name, row.about),
        rule=row.rule,
        severity=_severity(row.severity),
        consumer_group=row.consumer_group,
        topic=row.topic,
        broker_name=row.broker_name,
        subjects=row.about,
        evidence=_object("finding.evidence", row.evidence),
        message=row.message,
        owner=None if owners is None else owners.only_one(row.consumer_group, row.topic),
    )


def _finding_id(
    rule: str, consumer_group: str | None, topic: str | None, broker_name: str | None, about: Iterable[str | Queue]
) -> str:
    return identity(rule, consumer_group, topic, broker_name, tuple(about))


def _severity(name: str) -> Severity:
    try:
        return SEVERITY_OF[name]
    except KeyError:
        raise ContractBroken(f"finding.severity: is {name!r}; expected one of {', '.join(SEVERITIES)}") from None


def _in_order(findings: Iterable[Found]) -> tuple[Found, ...]:
    def key(finding: Found) -> tuple[Any, ...]:
        names = nulls_first(finding.rule, finding.consumer_group, finding.topic, finding.broker_name)
        return (*names, subjects_key(finding.subjects), canonical(finding))

    ordered = sorted(findings, key=key)
    ids = made_unique(finding.id for finding in ordered)
    return tuple(msgspec.structs.replace(finding, id=one) for finding, one in zip(ordered, ids, strict=True))


def _recommendations(rows: Rows, undecided: Mapping[str, str], owners: Owners) -> tuple[Recommendation, ...]:
    moved = transitions_of(rows.recommended_transition)
    moved_by_lists = transitions_of(rows.recommended_transition, of_lists=True)
    ordered = sorted(
        rows.recommendation, key=lambda row: nulls_first(row.action, row.consumer_group, row.topic, row.id)
    )
    return tuple(
        Recommendation(
            id=row.id,
            action=row.action,
            consumer_group=row.consumer_group,
            topic=row.topic,
            owner=owners.only_one(row.consumer_group, row.topic),
            manual=row.is_manual,
            reason=row.reason,
            rules=tuple(sorted(row.rules)),
            commands=tuple(row.commands),  # their order is the order in which they are to be run
            before=_object("recommendation.before", row.before),
            after=_object("recommendation.after", row.after),
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


def _lists(told: str | None, transition: Transition | UnsetType) -> ConfigAssignment | UnsetType:
    if told is None:
        return UNSET
    return msgspec.structs.replace(msgspec.json.decode(told, type=ConfigAssignment), transition=transition)


def _check(row: contracts.Recommendation) -> Check | None:
    if row.check_command is None or row.check_shows is None:
        return None
    return Check(command=row.check_command, shows=row.check_shows)


def _object(column: str, text: str) -> JsonObject:
    try:
        return _OBJECTS.decode(text)
    except msgspec.DecodeError as error:
        raise ContractBroken(f"{column}: expected a JSON object, found {text[:80]!r} ({error})") from None


def _steady(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _steady(held) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [_steady(held) for held in value]
    return value


_OBJECTS: Final = msgspec.json.Decoder(JsonObject, float_hook=lambda text: _steady(float(text)))
"""Reads a JSON column; fractions keep only the digits that are the same in every run."""


def _scenario(scenario: Mapping[str, Any]) -> Scenario:
    groups = [_scenario_group(group) for group in scenario["groups"]]
    affected = [_with_rounded_use(group, AffectedGroup) for group in scenario["affected_groups"]]
    return Scenario(
        name=scenario["name"],
        changes=tuple(_steady(dict(change)) for change in scenario["changes"]),
        verdict=scenario["verdict"],
        carried=msgspec.convert(scenario.get("carried"), Carried | None),
        totals=_with_rounded_use(scenario["totals"], ScenarioTotals),
        affected_groups=tuple(sorted(affected, key=lambda group: group.consumer_group)),
        transitions=_transitions(scenario.get("transitions", ())),
        groups=tuple(sorted(groups, key=lambda group: (group.consumer_group, group.strategy))),
        findings_added=_scenario_findings(scenario["findings_added"], AddedFinding),
        findings_cleared=_scenario_findings(scenario["findings_cleared"], Finding),
        findings_undecided=_scenario_findings(scenario["findings_undecided"], UndecidedFinding),
        producers_undecided=tuple(UnjudgedTopic(**one) for one in scenario.get("producers_undecided", ())),
        brokers=UNSET
        if "brokers" not in scenario
        else tuple(msgspec.convert(scenario["brokers"], tuple[LostMaster | SlowBroker, ...])),
        producers=UNSET if "producers" not in scenario else msgspec.convert(_steady(scenario["producers"]), Producers),
        queue_plans=UNSET
        if "queue_plans" not in scenario
        else msgspec.convert(_steady(scenario["queue_plans"]), tuple[QueuePlan, ...]),
    )


def _transitions(groups: Iterable[Mapping[str, Any]]) -> tuple[GroupTransition, ...]:
    found = (msgspec.convert(_steady(group), GroupTransition) for group in groups)
    return tuple(sorted(found, key=lambda group: group.consumer_group))


def _scenario_findings(findings: Iterable[Mapping[str, Any]], kind: type[Found]) -> tuple[Found, ...]:
    return _in_order(_with_id(msgspec.convert(_steady(finding), kind)) for finding in findings)


def _with_id(finding: Found) -> Found:
    about = finding.rule, finding.consumer_group, finding.topic, finding.broker_name
    return msgspec.structs.replace(finding, id=_finding_id(*about, finding.subjects))


def _with_rounded_use(value: Mapping[str, Any], kind: type[Rounded]) -> Rounded:
    use = {
        name: {side: _rounded(value[name][side]) for side in ("before", "after")}
        for name in ("utilisation", "peak_utilisation")
        if name in value
    }
    return msgspec.convert({**value, **use}, kind)


def _scenario_group(group: Mapping[str, Any]) -> ScenarioGroup:
    return ScenarioGroup(
        consumer_group=group["consumer_group"],
        strategy=group["strategy"],
        moved_queues=group["moved_queues"],
        moved_ratio=_rounded(group["moved_ratio"]),
        before=_scenario_side(group["before"]),
        after=_scenario_side(group["after"]),
    )


def _scenario_side(side: Mapping[str, Any]) -> ScenarioSide:
    """One side of a comparison; Arrow gives its metrics as pairs, JSON gives them as an object."""
    count, traffic = (None if side[name] is None else dict(side[name]) for name in ("count", "traffic"))
    return ScenarioSide(idle=side["idle"], count=_skew(count), traffic=_skew(traffic))
