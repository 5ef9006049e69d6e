"""Finds the recommendations that a person names by number, id, action, rule, cause or severity, and the reasons.

A line of a field names recommendations. A reason may follow a colon: ``2, 5: the disk is full``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rocketmq_capacity.errors import LONGEST_VALUE, BadInput, cut
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.settings.yaml_file import nearest

SEPARATORS: Final = re.compile(r"[,;\uff0c\u3001\uff1b\s]+")
COLON: Final = re.compile("[:\uff1a]")
"""Between words, and before a reason: those of ASCII, and those of Chinese and Japanese keyboards."""
LONGEST_REASON: Final = 1_000
"""Characters of one reason."""


@dataclass(frozen=True, slots=True)
class AskedRecommendation:
    """A recommendation that a person is asked about.

    Attributes:
        number: its number in the question, from 1.
        recommendation: the recommendation itself.
        cause: id of its cause.
        severity: of its cause.
        title: of its cause.
        reason: why, in one line.
    """

    number: int
    recommendation: PlanRecommendation
    cause: str
    severity: str
    title: str
    reason: str

    @property
    def exact_words(self) -> frozenset[str]:
        """What means this one alone, in capitals: its number and its id."""
        return frozenset({str(self.number), self.recommendation.id.upper()})

    @property
    def words(self) -> frozenset[str]:
        """The words by which a person may name it, in capitals."""
        recommendation = self.recommendation
        names = {recommendation.action, self.severity, self.cause, *recommendation.rules}
        return self.exact_words | {name.upper() for name in names}


@dataclass(frozen=True, slots=True)
class NamedField:
    """What a field of the answer names.

    Attributes:
        reasons: of each recommendation by id; empty where none is given.
        exact: ids of those that are named by number or id.
    """

    reasons: Mapping[str, str]
    exact: frozenset[str]


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to each recommendation, by id.

    Attributes:
        approved: to be carried out.
        rejected: not to be carried out. All others stay open.
        left_out: those of the rejected that were rejected only because an alternative was approved.
        reasons: of those that have one of their own.
    """

    approved: tuple[str, ...]
    rejected: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)


def asked_about(plan: Plan, ids: Sequence[str]) -> list[AskedRecommendation]:
    """The recommendations with these ids, by cause, the worst cause first; ids that the plan lacks are left out."""
    by_id = {one.id: one for one in plan.recommendations}
    wanted = set(ids)
    asked: list[AskedRecommendation] = []
    for cause in plan.causes:
        for name in cause.recommendations:
            if name in wanted and name in by_id:
                wanted.discard(name)
                recommendation = by_id[name]
                asked.append(
                    AskedRecommendation(
                        len(asked) + 1, recommendation, cause.id, cause.severity, cause.title, recommendation.reason
                    )
                )
    for name in ids:
        if name in wanted and name in by_id:
            recommendation = by_id[name]
            asked.append(
                AskedRecommendation(
                    len(asked) + 1, recommendation, "", "", recommendation.action, recommendation.reason
                )
            )
    return asked


def named_in(asked: Sequence[AskedRecommendation], text: str, field: str) -> NamedField:
    """What a text names, line by line: words parted by commas or spaces, and a reason after a colon.

    The reason beside a number or an id goes before one beside an action, a rule or a severity.

    Errors: BadInput for a word that names none, with the nearest one that does, and for a reason that is too long.
    """
    by_word: dict[str, set[str]] = {}
    for item in asked:
        for word in item.words:
            by_word.setdefault(word, set()).add(item.recommendation.id)
    exact_words = {word for one in asked for word in one.exact_words}
    exact: dict[str, str] = {}
    together: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        names, *reasons = COLON.split(line, maxsplit=1)
        reason = "".join(reasons).strip()
        if len(reason) > LONGEST_REASON:
            problem = f"has a reason of {len(reason):,} characters; expected at most {LONGEST_REASON:,}"
            raise BadInput(field, "", problem)
        for word in list(filter(None, SEPARATORS.split(names))) or [line]:
            if word.upper() not in by_word:
                near = nearest("number, id, action, rule or severity", word.upper(), sorted(by_word))
                raise BadInput(
                    field, "", f"{cut(word, LONGEST_VALUE)!r} names no recommendation of this question{near}"
                )
            kept = exact if word.upper() in exact_words else together
            kept |= {one: reason or kept.get(one, "") for one in by_word[word.upper()]}
    both = {one: exact.get(one) or together.get(one, "") for one in together | exact}
    return NamedField(both, frozenset(exact))


def decide(plan: Plan, asked: Sequence[AskedRecommendation], only: str, reject: str) -> Decision:
    """The decision that an approval means: all recommendations, or only those named, without those rejected by name.

    Where some are named, those that neither field names stay open, unless an alternative of theirs is approved. At most
    one alternative of a list is approved: the one that is named, or else the first.

    Args:
        plan: the plan with the alternatives.
        asked: the recommendations of the question.
        only: the field with those to approve; empty for all.
        reject: the field with those to reject.

    Errors: BadInput for words that name nothing, for a recommendation that is named in both fields, and for two
    alternatives that are both named by number or id.
    """
    chosen, refused = named_in(asked, only, ONLY), named_in(asked, reject, REJECTED)
    number = {one.recommendation.id: one.number for one in asked}
    if both := sorted((one for one in chosen.reasons if one in refused.reasons), key=number.__getitem__):
        problem = f"names {number[both[0]]} ({both[0]}), and {REJECTED} names it too; expected one of the two"
        raise BadInput(ONLY, "", problem)
    approved = (set(chosen.reasons) or set(number)) - set(refused.reasons)
    gave_way: dict[str, str] = {}
    for alternatives in plan.alternatives:
        of_these = [one for one in alternatives if one in approved]
        named = [one for one in of_these if one in chosen.exact]
        if len(named) > 1:
            numbers = " and ".join(str(number[one]) for one in named)
            raise BadInput(ONLY, "", f"names {numbers}, which are alternatives; expected one of them at most")
        if of_these:
            keep = named[0] if named else min(of_these, key=number.__getitem__)
            others = {one: keep for one in alternatives if one in number and one not in {keep, *refused.reasons}}
            gave_way |= others
            approved.difference_update(others)
    action = {one.recommendation.id: one.recommendation.action for one in asked}
    reasons = {
        **{one: f"its alternative {action[keep]} ({keep}) was approved" for one, keep in gave_way.items()},
        **refused.reasons,
        **{one: reason for one, reason in chosen.reasons.items() if one in approved},
    }
    order = list(number)
    return Decision(
        approved=tuple(one for one in order if one in approved),
        rejected=tuple(one for one in order if one in refused.reasons or one in gave_way),
        left_out=tuple(one for one in order if one in gave_way),
        reasons={one: reasons[one] for one in order if reasons.get(one)},
    )


def decide_against(asked: Sequence[AskedRecommendation], reject: str) -> Decision:
    """What a rejection means: nothing is approved, and a reason after a colon is that of what the line names.

    Errors: BadInput for words that name nothing.
    """
    reasons = named_in(asked, reject, REJECTED).reasons
    ids = tuple(one.recommendation.id for one in asked)
    return Decision((), ids, reasons={one: reasons[one] for one in ids if reasons.get(one)})


ONLY: Final = "approve_only"
REJECTED: Final = "reject_these"
"""The fields of the answer's form."""
