"""The ids of clients that restart.

A client id is ``clientIP@instanceName``. Unless the program sets ``instanceName``, the client makes it from its process
id and the time: ``pid#nanoseconds`` (ClientConfig.buildMQClientId, ClientConfig.changeInstanceNameToPID,
rocketmq-all-5.3.3). So a client whose id has this form comes back with another id, and any other client with its own.
"""

import re
from typing import Final

from msgspec import structs

from rocketmq_capacity.model.facts import Consumer

_OF_PROCESS: Final = re.compile(r"(?P<address>[^@]*)@[0-9]+#[0-9]+(?P<rest>@.*)?")


def changes_its_id(client_id: str) -> bool:
    """Whether a client with this id has another one after a restart."""
    return _OF_PROCESS.fullmatch(client_id) is not None


def restarted(consumer: Consumer, number: int) -> Consumer:
    """The consumer after its restart, on the same machine; its new id is made up.

    A new id sorts after all others of the same address, as a later process id and a later time usually do.

    Args:
        consumer: the consumer as it is.
        number: its place in the order of the restarts.
    """
    match = _OF_PROCESS.fullmatch(consumer.client_id)
    if match is None:
        return consumer
    client_id = f"{match['address']}@restarted#{number:05}{match['rest'] or ''}"
    return structs.replace(consumer, client_id=client_id)
