"""Messages that came twice: whether they were more than predicted at worst, as far as committed offsets tell.

No broker counts deliveries. An offset that went back shows that at least so many messages come again, so it can show
that they were more than predicted, and never that they were not.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from rocketmq_capacity.plan_file.ledger import LedgerFigure
from rocketmq_capacity.report.gates import NAMED
from rocketmq_capacity.wording import counted, listed


def judged_deliveries(figure: LedgerFigure, names: Sequence[str], went_back: Mapping[str, int | None]) -> LedgerFigure:
    """The figure with what came, or why it cannot be judged.

    Args:
        figure: messages that come twice, at worst.
        names: the groups that the change is about.
        went_back: by group, the messages by which its offsets went back between the two snapshots; None if unknown.
    """
    known = sum(number for name in names if (number := went_back.get(name)) is not None)
    if isinstance(figure.predicted, int | float) and known > figure.predicted:
        why = f"offsets went back by {counted(known, 'message')}, which come again; a reset of offsets looks the same"
        return replace(figure, came=known, is_right=False, why=why)
    unknown = [name for name in names if went_back.get(name) is None]
    if not names:
        return replace(figure, came=None, is_right=None, why="no group is known that it is about")
    if unknown:
        why = f"the offsets of {listed(unknown, NAMED)} are not known in both snapshots"
        return replace(figure, came=None, is_right=None, why=why)
    went = f"offsets went back by {counted(known, 'message')}" if known else "no offset went back"
    return replace(figure, came=None, is_right=None, why=f"no broker counts what is delivered twice; {went}")
