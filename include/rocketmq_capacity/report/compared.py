"""The difference of two stored plans in short, computed by a process of its own.

To read a large plan takes seconds and several times its size in memory, and no other thread runs meanwhile. So the API
server has it done by a process with limits of time and memory, and gets only what its page shows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec

from rocketmq_capacity.errors import BadInput, cut
from rocketmq_capacity.own_process import answer_of, answer_question, state_of
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.plan_file.plan import decoded_plan
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.plan_file.sentence import Sentence
from rocketmq_capacity.report.difference import ListDifference, LoadChange, PlanDifference, difference
from rocketmq_capacity.report.view.findings import places_of
from rocketmq_capacity.report.wording import action_title
from rocketmq_capacity.vocabulary import Severity

Item = TypeVar("Item", PlanFinding, PlanRecommendation)
Entry = TypeVar("Entry")
LONGEST: Final = 2_000
"""Characters of a text that the page shows."""


class PageLine(msgspec.Struct, frozen=True, kw_only=True):
    """A finding or a recommendation as the page shows it."""

    severity: Severity | None = None
    places: tuple[str, ...] = ()
    title: str | None = None
    text: str
    rule: str


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """What is in both plans, but not equal."""

    before: PageLine
    after: PageLine


class FirstEntries(msgspec.Struct, Generic[Entry], frozen=True, kw_only=True):
    """The first entries of a list."""

    shown: tuple[Entry, ...]
    total: int


class ListSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Findings or recommendations of two plans: as `difference.ListDifference`, in short."""

    new: FirstEntries[PageLine]
    gone: FirstEntries[PageLine]
    changed: FirstEntries[Pair]
    same: FirstEntries[PageLine]

    @property
    def still(self) -> int:
        """How many are in both."""
        return self.changed.total + self.same.total


class DifferenceSummary(msgspec.Struct, frozen=True, kw_only=True):
    """`difference.PlanDifference`, in short."""

    relation: str
    what_if: tuple[str, ...]
    """The first lines of the later plan, if it is a what-if."""
    findings: ListSummary
    undecided: FirstEntries[PageLine]
    recommendations: ListSummary
    groups_new: FirstEntries[str]
    groups_gone: FirstEntries[str]
    loads: tuple[LoadChange, ...]
    """The first whose change matters."""
    loads_changed: int
    """Those whose change matters."""
    loads_same: int
    """The others."""
    sentences: dict[str, tuple[Sentence, ...]]
    """Those of the texts that are shown, as the two plans have them."""


def comparison_of(before: Path, after: Path, shown: int) -> DifferenceSummary:
    """The comparison of two stored plans, made by a process of its own; of the same files it is made once.

    Args:
        before: the earlier plan.json.
        after: the later one.
        shown: the most entries of each list.

    Errors: BadInput if one of them cannot be read, or they cannot be compared; OwnProcessFailed if one is too
    large, or if it takes too much time or memory.
    """
    return _comparison_once(before, after, shown, (state_of(before), state_of(after)))


@lru_cache(maxsize=16)
def _comparison_once(
    before: Path, after: Path, shown: int, _files: tuple[tuple[int, int, int], tuple[int, int, int]]
) -> DifferenceSummary:
    """Of a fleet's plans it takes some seconds to make, and a megabyte at most to keep."""
    plans = str(before), str(after)
    comparison: DifferenceSummary | None = answer_of(__name__, (*plans, shown), DifferenceSummary | None)
    if comparison is None:
        raise BadInput("the two plans", "", "are not two plans that can be compared")
    return comparison


def in_short(whole: PlanDifference, shown: int, *sentences: Mapping[str, tuple[Sentence, ...]]) -> DifferenceSummary:
    """The first entries of each list, and how many there are; ``sentences`` are those of the plans."""
    changed = [one for one in whole.loads if one.matters]
    comparison = DifferenceSummary(
        relation=whole.relation,
        what_if=whole.what_if,
        findings=_compared(whole.findings, _finding, shown),
        undecided=_lines(whole.undecided, _finding, shown),
        recommendations=_compared(whole.recommendations, _advice, shown),
        groups_new=FirstEntries(shown=whole.groups_new[:shown], total=len(whole.groups_new)),
        groups_gone=FirstEntries(shown=whole.groups_gone[:shown], total=len(whole.groups_gone)),
        loads=tuple(changed[:shown]),
        loads_changed=len(changed),
        loads_same=len(whole.loads) - len(changed),
        sentences={},
    )
    texts = {line.text for line in _shown(comparison)}
    known = {text: parts for one in sentences for text in texts if (parts := one.get(text))}
    return msgspec.structs.replace(comparison, sentences=known)


def _shown(comparison: DifferenceSummary) -> Iterator[PageLine]:
    """All lines that the page shows."""
    for part in (comparison.findings, comparison.recommendations):
        for lines in (part.new, part.gone, part.same):
            yield from lines.shown
        for pair in part.changed.shown:
            yield from (pair.before, pair.after)
    yield from comparison.undecided.shown


def _compared(changes: ListDifference[Item], line: Callable[[Item], PageLine], shown: int) -> ListSummary:
    pairs = changes.changed
    return ListSummary(
        new=_lines(changes.new, line, shown),
        gone=_lines(changes.gone, line, shown),
        changed=FirstEntries(
            shown=tuple(Pair(before=line(old), after=line(new)) for old, new in pairs[:shown]), total=len(pairs)
        ),
        same=_lines([new for _, new in changes.same], line, shown),
    )


def _lines(items: Sequence[Item], line: Callable[[Item], PageLine], shown: int) -> FirstEntries[PageLine]:
    return FirstEntries(shown=tuple(map(line, items[:shown])), total=len(items))


def _finding(item: PlanFinding) -> PageLine:
    return PageLine(severity=item.severity, places=places_of(item), text=cut(item.message, LONGEST), rule=item.rule)


def _advice(item: PlanRecommendation) -> PageLine:
    return PageLine(title=action_title(item), text=cut(item.reason, LONGEST), rule=item.action)


def _answer(asked: tuple[str, str, int]) -> DifferenceSummary | None:
    """The comparison of two plans; None if there is none."""
    before, after, shown = asked
    try:
        plans = [decoded_plan(Path(file).read_bytes()) for file in (before, after)]
        return in_short(difference(*plans), shown, *(plan.sentences for plan in plans))
    except (OSError, ValueError, RecursionError, BadInput):  # msgspec's errors are ValueErrors
        return None


if __name__ == "__main__":
    answer_question(tuple[str, str, int], _answer)
