"""The strategy that a group runs today, if the plan has it."""

from rocketmq_capacity.plan_file.group import GroupPlan, StrategyPlan
from rocketmq_capacity.vocabulary import POP, PULL


def in_use(group: GroupPlan) -> StrategyPlan | None:
    """The strategy that its clients run, or POP if its brokers hand out all of its topics.

    None if clients run different strategies, or one that was not computed, or if only some topics are popped. Orderly
    clients always divide the queues themselves, so POP does not apply to them.
    """
    by_name = {one.strategy: one for one in group.strategies}
    pop = by_name.get(POP)
    if group.message_request_mode == PULL or (pop is not None and not pop.applicable):
        return by_name.get(group.current_strategy or "")
    return pop if group.message_request_mode == POP else None
