"""CHECK_PRODUCER_KEYS: producers choose the hot queue, and no number of queues or consumers mends that."""

from collections.abc import Iterator, Mapping
from typing import Final

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.layout import HotQueuesEvidence
from rocketmq_capacity.catalogue.action import Action, Proof, Recommended
from rocketmq_capacity.recommendation.answer import answer, sentences
from rocketmq_capacity.recommendation.commands import topic_status
from rocketmq_capacity.recommendation.facts import AdvisedTopic
from rocketmq_capacity.recommendation.outcomes import CaseOutcome
from rocketmq_capacity.recommendation.preflight import Safety
from rocketmq_capacity.recommendation.topic_action import ActionResult, TopicAction
from rocketmq_capacity.vocabulary import FIFO
from rocketmq_capacity.wording import listed, queue_label


def _check(recommended: Recommended, nameserver: str) -> Proof:
    command = topic_status(nameserver, recommended.topic or "")
    return command, "#Max Offset of all queues grows alike from one call to the next."


RULE: Final = "HOT_QUEUE"
ACTION: Final = Action(
    name="CHECK_PRODUCER_KEYS",
    title="Look at the keys that producers of {topic} send by",
    meaning="They choose the queue.",
    place=150,
    changes="nothing",
    check=_check,
    way_back="Let the producers choose the queue as before.",
    answers=(RULE,),
    offered="for every topic with a hot queue",
    details="""
    Find out how producers choose the queue. The command shows the queues' offsets.
    """,
)


KEYS: Final = "A key with more values spreads them, and so does no key, where order is not needed. More queues do not."
BROKERS: Final = (
    "Queues of one broker get equal shares, so that no key chooses them: look for producers that do not reach every"
    " broker, that have an old route, or that avoid a broker after errors. More queues do not spread them."
)


def check_producer_keys(topic: AdvisedTopic) -> Iterator[tables.Recommendation]:
    """One recommendation for hot queues, even if the snapshot is too incomplete for a change."""
    for finding in topic.findings:
        if finding.rule == RULE:
            hot = [*map(queue_label, finding.queues)]
            facts, gets = HotQueuesEvidence.of(finding), "gets" if len(hot) == 1 else "get"
            yield answer(
                ACTION,
                topic=topic.name,
                target=hot,
                reason=sentences(
                    f"Check how producers choose the queue, because {listed(hot)} {gets} far more messages than the"
                    " others.",
                    BROKERS if facts.kind == "DISPLACED" else KEYS,
                    "It is a FIFO topic: its message group is the key." if facts.message_type == FIFO else None,
                ),
                rules=[RULE],
                commands=[topic_status(topic.cluster.nameserver, topic.name)],
            )


def _answers(topic: AdvisedTopic, _: Mapping[str, CaseOutcome], __: Safety) -> ActionResult:
    return ActionResult(tuple(check_producer_keys(topic)))


TOPIC_ACTIONS: Final = (TopicAction(_answers),)
