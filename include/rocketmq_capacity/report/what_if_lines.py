"""The first lines of a what-if, on its page and in a comparison: what is carried, who is too busy, what waits."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import UNSET

from rocketmq_capacity.plan_file.before_after import BeforeAfterRatio
from rocketmq_capacity.plan_file.scenario import AffectedGroup, Carried, ScenarioResult
from rocketmq_capacity.report.figures import per_cent
from rocketmq_capacity.wording import counted, listed

ARROW: Final = " \u2192 "


def first_lines(scenario: ScenarioResult) -> Iterator[str]:
    """What is still carried, who exceeds the bound, what waits, and what is gone; nothing in an earlier version's."""
    if scenario.carried is None:
        return
    if scenario.lost_nameservers is not UNSET:
        yield (
            "The verdict is of the routes that are left. It does not count what clients miss without the lost name"
            " server: that is below."
        )
    yield from _carried(scenario.carried, {one.consumer_group: busy_share(one) for one in scenario.affected_groups})
    yield _waiting(scenario.carried.waiting_messages, scenario.affected_groups)
    yield from _gone(scenario.affected_groups)


def _carried(carried: Carried, busy: Mapping[str, BeforeAfterRatio]) -> Iterator[str]:
    """Two sentences: is everything carried, and who exceeds the bound."""
    if carried.is_carried:
        yield "Everything that was carried still is."
    elif carried.is_carried is None:
        names = listed(carried.undecided)
        yield f"Nothing is known to be lost, but {counted(len(carried.undecided), 'group')} cannot be judged: {names}."
    else:
        yield f"Not everything is still carried: {'; '.join(_lost(carried))}."
    bound = per_cent(carried.bound)
    if carried.over_bound:
        new = carried.newly_over_bound
        since = f", only by these changes {listed(new)}" if new else ", all of them as before"
        groups = counted(len(carried.over_bound), "group")
        exceeding = (*new, *(name for name in carried.over_bound if name not in new))
        over = listed([_with_shares(name, busy.get(name)) for name in exceeding])
        yield f"The busiest client exceeds {bound} at the peak in {groups}: {over}{since}."
    else:
        yield f"No group's busiest client exceeds {bound} at the peak, as far as that is known."


def _waiting(messages: int, groups: Sequence[AffectedGroup]) -> str:
    """What waits: of groups that it is known of."""
    waiting, verb = counted(messages, "message") if messages else "No message", "wait" if messages > 1 else "waits"
    if all(one.waiting_messages is not None for one in groups):
        return f"{waiting} {verb} on queues that are gone or lose all readers."
    return f"{waiting} {verb} on queues that are gone or lose all readers, as far as that is known."


def _with_shares(name: str, use: BeforeAfterRatio | None) -> str:
    """A group with how busy it is: ``g_pay (60 % → 82 %)``; a group that the changes do not touch has no figures."""
    shares = () if use is None else [per_cent(share) for share in (use.before, use.after) if share is not None]
    return f"{name} ({ARROW.join(shares)})" if shares else name


def _gone(groups: Sequence[AffectedGroup]) -> Iterator[str]:
    """What vanishes with its queues is no gain."""
    losses = [
        lost
        for one in groups
        if one.queues is not None and (lost := (one.queues.before or 0) - (one.queues.after or 0)) > 0
    ]
    if losses:
        queues, readers = counted(sum(losses), "queue"), counted(len(losses), "group")
        yield f"Gone: {queues} of {readers}. What falls with them, such as lag, is not better."


def _lost(carried: Carried) -> Iterator[str]:
    both = [name for name in carried.unreadable_topics if name in carried.unwritable_topics]
    unreadable = [name for name in carried.unreadable_topics if name not in both]
    unwritable = [name for name in carried.unwritable_topics if name not in both]
    if both:
        yield f"nobody can read or write {listed(both)}"
    if unreadable:
        yield f"nobody can read {listed(unreadable)}"
    if unwritable:
        yield f"nobody can write {listed(unwritable)}"
    if carried.without_clients:
        yield f"no client is left of {listed(carried.without_clients)}"
    if carried.falling_behind:
        yield f"clients are busy all of their time in {listed(carried.falling_behind)}"
    if carried.unread_queues:
        verb = "has" if carried.unread_queues == 1 else "have"
        yield f"{counted(carried.unread_queues, 'more queue')} {verb} no reader"


def busy_share(group: AffectedGroup) -> BeforeAfterRatio:
    """How busy its busiest client is: at the peak, or in a plan of an earlier version when the snapshot was taken."""
    return group.peak_utilisation or group.utilisation
