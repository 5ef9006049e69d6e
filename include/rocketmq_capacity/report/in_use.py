"""What divides a group's queues today, where the plan has it."""

from rocketmq_capacity.report.plan_file import GroupPlan, StrategyPlan
from rocketmq_capacity.vocabulary import POP, PULL


def in_use(group: GroupPlan) -> StrategyPlan | None:
    """The strategy that its clients run, or POP where its brokers hand out all of its topics.

    None where clients run different strategies or one that was not computed, and where only some topics are popped.
    Orderly clients always divide the queues themselves: to them POP does not apply.
    """
    by_name = {one.strategy: one for one in group.strategies}
    pop = by_name.get(POP)
    if group.message_request_mode == PULL or (pop is not None and not pop.applicable):
        return by_name.get(group.current_strategy or "")
    return pop if group.message_request_mode == POP else None
