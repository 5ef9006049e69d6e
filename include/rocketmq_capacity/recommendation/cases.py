"""Cases: changes of a topic's queues that are tried on the topic's groups before they are recommended."""

import json
from collections.abc import Iterable

from msgspec.structs import replace

from rocketmq_capacity.catalogue.action import Action
from rocketmq_capacity.model.cases import QueueChange, QueueCounts
from rocketmq_capacity.model.facts import GroupFacts, Place, TopicFacts
from rocketmq_capacity.recommendation.facts import AdvisedCluster
from rocketmq_capacity.vocabulary import MASTER, READ_WRITE


def queue_case(action: Action, topic: str, counts: Iterable[QueueCounts], *names: str | int) -> QueueChange:
    """A case of an action; ``names`` make its id differ from the action's other cases of the topic."""
    return QueueChange(case_id=f"{action.name}{json.dumps([topic, *names])}", topic=topic, counts=tuple(counts))


def changed_facts(facts: GroupFacts, case: QueueChange, cluster: AdvisedCluster) -> GroupFacts:
    """The group's facts in a case, with only its business topics, because retry topics have no weight."""
    reads = [
        replace(one, topic=_changed_topic(one.topic, case, cluster)) if one.topic.topic == case.topic else one
        for one in facts.business
    ]
    return replace(facts, reads=tuple(reads))


def _changed_topic(topic: TopicFacts, case: QueueChange, cluster: AdvisedCluster) -> TopicFacts:
    places = {place.broker_name: place for place in topic.places}
    for counts in case.counts:
        places[counts.broker_name] = _changed_place(places.get(counts.broker_name), counts, cluster)
    return replace(topic, places=tuple(places.values()))


def _changed_place(place: Place | None, counts: QueueCounts, cluster: AdvisedCluster) -> Place:
    """The topic on a broker with new counts; if it is not there yet, the broker counts as a healthy master."""
    place = place or Place(broker_name=counts.broker_name, broker_state=MASTER, has_answered=True)
    master = cluster.masters.get(counts.broker_name)
    return replace(
        place,
        read_queue_nums=counts.read_queue_nums,
        write_queue_nums=counts.write_queue_nums,
        perm=READ_WRITE if place.perm is None else place.perm,
        room=master.room if place.room is None and master else place.room,
    )
