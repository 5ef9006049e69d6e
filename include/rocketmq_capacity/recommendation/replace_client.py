"""REPLACE_CLIENT: replace or restart a client that does its work far worse than its peers. No command does that."""

from collections.abc import Iterator, Sequence
from typing import Final

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.capacity import TooBusyEvidence
from rocketmq_capacity.assessment.client_outlier import ClientOutlierEvidence
from rocketmq_capacity.catalogue.action import Action, Proof, Recommended
from rocketmq_capacity.recommendation import commands
from rocketmq_capacity.recommendation.answer import answer, sentences
from rocketmq_capacity.recommendation.consequences import OUTLIER, comes_of_outlier
from rocketmq_capacity.recommendation.facts import AdvisedGroup, GroupAction
from rocketmq_capacity.wording import listed


def _check(recommended: Recommended, nameserver: str) -> Proof:
    command = commands.consumer_status(nameserver, recommended.consumer_group or "")
    return command, (
        "in the file of each client #Consume RT, #ConsumeFailed TPS and PROP_THREADPOOL_CORE_SIZE are like those of the"
        " others."
    )


ACTION: Final = Action(
    name="REPLACE_CLIENT",
    title="Mend or replace the unhealthy consumer of {group}",
    meaning="The others of its group do the same work without trouble.",
    place=10,
    changes="clients",
    check=_check,
    way_back="Start the client where it was, with its old set-up; it gets its share back.",
    answers=(OUTLIER,),
    offered="for every client that CLIENT_OUTLIER names",
    details="""
    The commands only look: `consumerStatus` with the stacks of the client's threads, which are gone after the
    restart.
    """,
)
CAPACITY: Final = "CONSUMER_CAPACITY"
ASKED: Final = 5
"""At most so many clients get a command of their own."""
THREADS: Final = "consume_threads"
"""The figure of clients that only have too few of them."""
LOOK: Final = (
    "Save the stacks first, and look at the machine and at what the listener calls. More clients, threads or queues do"
    " not mend it."
)
SAME_SET_UP: Final = "A restart with the same set-up does not mend it, and neither do more clients or queues."


def replace_client(group: AdvisedGroup) -> Iterator[tables.Recommendation]:
    """One recommendation for all outliers of a group. It changes no queue, so it also holds for part of the facts."""
    for finding in group.named(OUTLIER):
        facts, asked = ClientOutlierEvidence.of(finding), [one for one in finding.subjects if one in set(group.askable)]
        of_brokers = {one.rule for one in group.findings if one.broker_name is not None}
        follows = [
            one.rule
            for one in group.findings
            if one.rule not in of_brokers
            and comes_of_outlier(one.rule, one.subjects, one.queues, finding.subjects, facts)
        ]
        few = [one.client_id for one in facts.outliers if one.figure == THREADS]
        others = [one for one in finding.subjects if one not in few]
        yield answer(
            ACTION,
            consumer_group=group.name,
            target=finding.subjects,
            is_manual=True,
            reason=sentences(
                f"Replace or restart {listed(others)}: {finding.message} {LOOK}" if others else None,
                _more_threads(group, few, None if others else finding.message) if few else None,
            ),
            rules=[OUTLIER, *follows],
            commands=[commands.consumer_stack(group.cluster.nameserver, group.name, one) for one in asked[:ASKED]],
            before={"utilisation_ratio": facts.utilisation_ratio},
            after={"utilisation_ratio": facts.replaced_utilisation_ratio},
        )


def _more_threads(group: AdvisedGroup, few: Sequence[str], why: str | None) -> str:
    """What clients need that only lack threads. Where all clients need more of them, these do not get less."""
    busy = (TooBusyEvidence.read(one) for one in group.answerable(CAPACITY))
    threads = next((one.needed_consume_threads for one in busy if one is not None), None)
    give = (
        f"Give {listed(few)} as many consume threads as the others have (consumeThreadMin)."
        if threads is None
        else f"Give {listed(few)} at least {threads} consume threads, as all clients (consumeThreadMin)."
    )
    return sentences(give, why, SAME_SET_UP)


GROUP_ACTIONS: Final[tuple[GroupAction, ...]] = (replace_client,)
