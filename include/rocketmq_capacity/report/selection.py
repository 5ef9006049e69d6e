"""Which of a plan's recommendations a person's words mean: numbers of the question, ids, actions, rules, severities."""

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
        number: its place in the question, from 1.
        recommendation: itself.
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
        """What a person may call it, in capitals."""
        one = self.recommendation
        names = {str(self.number), one.id, one.action, self.severity, self.cause, *one.rules}
        return frozenset(name.upper() for name in names)


@dataclass(frozen=True, slots=True)
class Decision:
    """What was said to each recommendation, by id.

    Attributes:
        approved: to be carried out.
        rejected: not to be carried out.
        left_out: of the rejected those that only gave way to an alternative.
    """

    approved: tuple[str, ...]
    rejected: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def asked_about(plan: Plan, ids: Sequence[str]) -> list[Asked]:
    """The recommendations of these ids by cause, the worst cause first."""
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
    """The ids that a text names: words or numbers, parted by commas, spaces or lines.

    Errors: BadInput for a word that names none, with the nearest one that does.
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
    """What an approval means: all that was asked, or only what is named, without what is rejected by name.

    Of alternatives one at most is approved: the one that is named, or else the first.

    Errors: BadInput for words that name nothing, for a recommendation that is named in both fields, and for two
    alternatives that are both named by number or id.
    """
    chosen, refused = selected(asked, only, ONLY), selected(asked, reject, REJECTED)
    if both := sorted(chosen & refused):
        raise BadInput(ONLY, "", f"names {both[0]}, which stands under {REJECTED} as well; expected one of the two")
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
