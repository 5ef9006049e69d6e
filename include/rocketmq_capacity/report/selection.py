"""Finds the recommendations that a person names by number, id, action, rule, cause or severity."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.errors import LONGEST_VALUE, BadInput, cut
from rocketmq_capacity.report.plan_file import Plan, Recommendation
from rocketmq_capacity.settings.yaml_file import nearest

SEPARATORS: Final = re.compile(r"[,;\s]+")
ALTERNATIVE: Final = "another one of its alternatives was approved"


@dataclass(frozen=True, slots=True)
class Asked:
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
    recommendation: Recommendation
    cause: str
    severity: str
    title: str
    reason: str

    @property
    def words(self) -> frozenset[str]:
        """The words by which a person may name it, in capitals."""
        one = self.recommendation
        names = {str(self.number), one.id, one.action, self.severity, self.cause, *one.rules}
        return frozenset(name.upper() for name in names)


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to each recommendation, by id.

    Attributes:
        approved: to be carried out.
        rejected: not to be carried out.
        left_out: those of the rejected that were rejected only because an alternative was approved.
    """

    approved: tuple[str, ...]
    rejected: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def asked_about(plan: Plan, ids: Sequence[str]) -> list[Asked]:
    """The recommendations with these ids, by cause, the worst cause first; ids that the plan lacks are left out."""
    by_id = {one.id: one for one in plan.recommendations}
    wanted = set(ids)
    found: list[Asked] = []
    for cause in plan.causes:
        for name in cause.recommendations:
            if name in wanted and name in by_id:
                wanted.discard(name)
                one = by_id[name]
                found.append(Asked(len(found) + 1, one, cause.id, cause.severity, cause.title, one.reason))
    for name in ids:
        if name in wanted and name in by_id:
            one = by_id[name]
            found.append(Asked(len(found) + 1, one, "", "", one.action, one.reason))
    return found


def selected(asked: Sequence[Asked], text: str, field: str) -> set[str]:
    """The ids of the recommendations that a text names; words and numbers are separated by commas, spaces or lines.

    Args:
        asked: the recommendations of the question.
        text: what the person wrote.
        field: the form's field, for errors.

    Errors: BadInput for a word that names no recommendation; it gives the nearest word that does.
    """
    by_word: dict[str, set[str]] = {}
    for one in asked:
        for word in one.words:
            by_word.setdefault(word, set()).add(one.recommendation.id)
    found: set[str] = set()
    for word in filter(None, SEPARATORS.split(text)):
        if word.upper() not in by_word:
            near = nearest("number, id, action, rule or severity", word.upper(), sorted(by_word))
            raise BadInput(field, "", f"{cut(word, LONGEST_VALUE)!r} names no recommendation of this question{near}")
        found |= by_word[word.upper()]
    return found


def decide(plan: Plan, asked: Sequence[Asked], only: str, reject: str) -> Decision:
    """The decision that an approval means: all recommendations, or only those named, without those rejected by name.

    At most one alternative of a list is approved: the one that is named, or else the first.

    Args:
        plan: the plan with the alternatives.
        asked: the recommendations of the question.
        only: the field with those to approve; empty for all.
        reject: the field with those to reject.

    Errors: BadInput for words that name nothing, for a recommendation that is named in both fields, and for two
    alternatives that are both named by number or id.
    """
    chosen, refused = selected(asked, only, ONLY), selected(asked, reject, REJECTED)
    if both := sorted(chosen & refused):
        raise BadInput(ONLY, "", f"names {both[0]}, which is in {REJECTED} as well; expected one of the two")
    number = {one.recommendation.id: one.number for one in asked}
    exact = {
        one.recommendation.id
        for one in asked
        if {str(one.number), one.recommendation.id.upper()} & {word.upper() for word in SEPARATORS.split(only)}
    }
    approved = (chosen or set(number)) - refused
    left_out: set[str] = set()
    for alternatives in plan.alternatives:
        of_these = [one for one in alternatives if one in approved]
        named = [one for one in of_these if one in exact]
        if len(named) > 1:
            numbers = " and ".join(str(number[one]) for one in named)
            raise BadInput(ONLY, "", f"names {numbers}, which are alternatives; expected one of them at most")
        if len(of_these) > 1:
            keep = named[0] if named else min(of_these, key=lambda one: number[one])
            left_out |= {one for one in of_these if one != keep}
            approved -= left_out
    order = [one.recommendation.id for one in asked]
    return Decision(
        approved=tuple(one for one in order if one in approved),
        rejected=tuple(one for one in order if one not in approved),
        left_out=tuple(one for one in order if one in left_out),
    )


ONLY: Final = "approve_only"
REJECTED: Final = "reject_these"
"""The fields of the answer's form."""
