"""Recommendations that exclude one another: of each list at most one is carried out."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product

from rocketmq_capacity.catalogue.action import INVESTIGATE
from rocketmq_capacity.catalogue.rule import rule_of
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.report.origins import IDLE


def alternatives(
    findings: Sequence[PlanFinding],
    recommendations: Sequence[PlanRecommendation],
    answers: Sequence[Sequence[int]],
    origins: Sequence[int | None],
) -> list[tuple[int, ...]]:
    """Lists of positions of recommendations; at most one of each list is carried out.

    Two recommendations for one finding exclude one another, unless they are the same action for different topics, such
    as more queues for several topics. A recommendation is in no list if it also answers a finding whose rule does not
    leave a choice (`Rule.is_choice`).
    """
    needed = {
        position
        for index, positions in enumerate(answers)
        if not rule_of(findings[index].rule).is_choice
        for position in positions
    }
    choices: dict[int, dict[int, None]] = {}
    for index, positions in enumerate(answers):
        origin = origins[index]
        # Idle clients, and more clients than needed: the same new number of clients answers both findings.
        asked = origin if origin is not None and findings[origin].rule == IDLE else index
        if rule_of(findings[index].rule).is_choice:
            options = (
                position
                for position in positions
                if position not in needed and recommendations[position].action != INVESTIGATE
            )
            choices.setdefault(asked, {}).update(dict.fromkeys(options))
    lists = {one for options in choices.values() for one in _exclusive(options, recommendations)}
    return sorted(_largest(lists))


def _exclusive(options: Iterable[int], recommendations: Sequence[PlanRecommendation]) -> Iterator[tuple[int, ...]]:
    classes: dict[tuple[str, int | None], list[int]] = {}
    for position in options:
        recommendation = recommendations[position]
        alone = position if recommendation.consumer_group is not None else None
        classes.setdefault((recommendation.action, alone), []).append(position)
    if len(classes) < 2:
        return
    if sum(len(each) > 1 for each in classes.values()) <= 1:
        yield from (tuple(sorted(one)) for one in product(*classes.values()))
    else:
        for first, second in combinations(classes.values(), 2):
            yield from (tuple(sorted(pair)) for pair in product(first, second))


def _largest(lists: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """The lists that are not a part of another one."""
    holding: dict[int, list[tuple[int, ...]]] = {}
    for positions in lists:
        for position in positions:
            holding.setdefault(position, []).append(positions)
    for positions in lists:
        rarest = min((holding[position] for position in positions), key=len)
        if not any(len(other) > len(positions) and set(positions) <= set(other) for other in rarest):
            yield positions
