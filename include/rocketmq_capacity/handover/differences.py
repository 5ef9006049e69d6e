"""desired_state_differences.json: what each recommendation would change in desired_state.yaml, each with its patch."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import asdict, replace

from rocketmq_capacity.handover.desired_state import GROUPS, QUEUES, SUBSCRIPTIONS, TOPICS, LineChange, StateFile
from rocketmq_capacity.handover.unified_diff import unified_diff
from rocketmq_capacity.plan_file.acts import acts_of
from rocketmq_capacity.plan_file.desired_state import (
    ChangedLine,
    Differences,
    LeftOut,
    QueuesOnBroker,
    StateDifference,
    SubscribedTopic,
)
from rocketmq_capacity.plan_file.handed_over import DESIRED_STATE
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.vocabulary import UNDECIDED, java_order

MANUAL: Final = "a person has to decide or to fill in something first"
UNKNOWN_MOVES: Final = "UNDECIDED: it is not known of every group which queues move"
OTHER: Final = "it changes no queues of a topic and no request mode of a group"


def differences_of(plan: Plan, file: StateFile) -> Differences:
    """What the recommendations of a plan change in its state; nothing if nothing is to be carried out."""
    undecided: set[str | None] = {one.consumer_group for one in plan.groups if one.provision_status == UNDECIDED}
    changes: dict[str, tuple[LineChange, ...]] = {}
    left_out: list[LeftOut] = []
    for recommendation in plan.recommendations:
        if not recommendation.changes_cluster:
            continue
        why = _why_left_out(plan, recommendation, undecided)
        lines = () if why is not None else tuple(_changes(recommendation, file))
        if lines:
            changes[recommendation.id] = lines
        else:
            left_out.append(LeftOut(recommendation=recommendation.id, action=recommendation.action, why=why or OTHER))
    why_not = _not_chosen(plan, changes)
    recommendations = [one for one in plan.recommendations if one.id in changes]
    return Differences(
        cluster_name=plan.cluster_name,
        taken_at=plan.taken_at,
        fingerprint=plan.fingerprint,
        patch=_patch(file, [change for one in recommendations if one.id not in why_not for change in changes[one.id]]),
        differences=tuple(
            StateDifference(
                recommendation=one.id,
                action=one.action,
                chosen=one.id not in why_not,
                why_not=why_not.get(one.id),
                changes=tuple(map(_shown, changes[one.id])),
                patch=_patch(file, changes[one.id]),
            )
            for one in recommendations
        ),
        left_out=tuple(left_out),
    )


def _why_left_out(plan: Plan, recommendation: PlanRecommendation, undecided: Collection[str | None]) -> str | None:
    """Why a recommendation has no patch, or None."""
    if plan.approval is not UNSET and recommendation.id in plan.approval.rejected:
        return f"rejected: {plan.approval.reasons.get(recommendation.id) or plan.approval.why or 'no reason was given'}"
    if not _is_carried_out_as_it_is(recommendation):
        return MANUAL
    if recommendation.topic is not None and recommendation.transition_undecided is not UNSET:
        return UNKNOWN_MOVES
    if recommendation.consumer_group in undecided:
        return f"the plan is {UNDECIDED} about {recommendation.consumer_group}"
    return None


def _is_carried_out_as_it_is(recommendation: PlanRecommendation) -> bool:
    """Whether nothing is left to a person but to go from one gate of a change in steps to the next."""
    if recommendation.steps is UNSET or not recommendation.steps:
        return not recommendation.manual and _are_complete(recommendation.commands)
    return _are_complete(command for step in recommendation.steps for command in step.commands)


def _are_complete(commands: Iterable[str]) -> bool:
    kinds = {act.kind for act in acts_of(commands, is_manual=False)}
    return "CHANGE" in kinds and kinds <= {"CHANGE", "LOOK"}


def _changes(recommendation: PlanRecommendation, file: StateFile) -> Iterator[LineChange]:
    """The lines that differ once it is carried out, in the order of the file."""
    if recommendation.topic is not None and "queues" in recommendation.after:
        yield from _of_topic(recommendation.topic, recommendation.after["queues"], file)
    elif recommendation.consumer_group is not None and "message_request_mode" in recommendation.after:
        yield from _of_group(recommendation.consumer_group, recommendation.after, file)


def _of_topic(topic: str, queues: Iterable[Mapping[str, Any]], file: StateFile) -> Iterator[LineChange]:
    now = {one.broker_name: one for one in file.parts(TOPICS, topic) if isinstance(one, QueuesOnBroker)}
    if not now:
        return
    for after in sorted(queues, key=lambda one: java_order(one["broker_name"])):
        name = after["broker_name"]
        before = now.get(name)
        then = QueuesOnBroker(
            broker_name=name,
            read_queue_nums=after["read_queue_nums"],
            write_queue_nums=after["write_queue_nums"],
            perm=after.get("perm") if before is None else before.perm,
        )
        if then != before:
            yield LineChange(path=(TOPICS, topic, QUEUES, name), before=before, after=then)


def _of_group(group: str, after: Mapping[str, Any], file: StateFile) -> Iterator[LineChange]:
    mode, share = after["message_request_mode"], after.get("pop_share_queue_num")
    for before in file.parts(GROUPS, group):
        if not isinstance(before, SubscribedTopic):
            continue
        then = replace(before, message_request_mode=mode, pop_share_queue_num=share)
        if then != before:
            yield LineChange(path=(GROUPS, group, SUBSCRIPTIONS, before.topic), before=before, after=then)


def _not_chosen(plan: Plan, changes: Mapping[str, tuple[LineChange, ...]]) -> dict[str, str]:
    """By id, why a recommendation is not part of the whole patch.

    With an answer of a person, what is not approved; without one, of alternatives all but the first as causes list
    them. Then all but the first of those for one topic or group: the others were tried on it as it is today.
    """
    why = _not_approved(plan, changes) if plan.approval is not UNSET else _given_way(plan, changes)
    taken: dict[tuple[str, str], str] = {}
    for name in (name for name in changes if name not in why):
        before = taken.setdefault(changes[name][0].owner, name)
        if before != name:
            why[name] = f"{before} changes the same topic or group: plan the cluster again after it"
    return why


def _not_approved(plan: Plan, changes: Collection[str]) -> dict[str, str]:
    approved = () if plan.approval is UNSET else plan.approval.approved
    return {name: "it is not approved" for name in changes if name not in approved}


def _given_way(plan: Plan, changes: Collection[str]) -> dict[str, str]:
    order = {name: place for place, name in enumerate(name for cause in plan.causes for name in cause.recommendations)}
    why: dict[str, str] = {}
    for alternatives in plan.alternatives:
        first, *others = sorted((one for one in alternatives if one in changes), key=order.__getitem__) or [""]
        why |= dict.fromkeys(others, f"its alternative {first} comes first: at most one of them is carried out")
    return why


def _shown(change: LineChange) -> ChangedLine:
    before = None if change.before is None else asdict(change.before)
    return ChangedLine(path=change.path, before=before, after=asdict(change.after))


def _patch(file: StateFile, changes: Iterable[LineChange]) -> str:
    edits = sorted((file.edit(change) for change in changes), key=lambda edit: (edit.at, not edit.is_new, edit.line))
    return unified_diff(DESIRED_STATE, file.lines, edits)
