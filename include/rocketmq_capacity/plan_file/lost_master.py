"""What a lost master means: who is served again when, what waits, what may be lost, and how clients come back."""

from typing import Annotated, Literal

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means

Use = Literal["WRITE", "PULL", "PULL_IN_ORDER", "POP"]
LostWith = Literal["PROCESS", "POWER", "DISK"]


class ServedClients(Struct, frozen=True, kw_only=True):
    """Clients of a kind at the queues of the broker. Times are in seconds since the loss, at most."""

    use: Annotated[
        Use, means("what they do: WRITE, PULL (and consume in any order), PULL_IN_ORDER (and lock queues) or POP")
    ]
    is_served: Annotated[bool | None, means("whether they are served without the master; null if unknown")]
    killed_s: Annotated[
        float | None, means("until they are served again if the master's process ends; null if never, or unknown")
    ]
    silent_s: Annotated[float | None, means("the same if its machine or network is gone, and no connection is closed")]
    back_s: Annotated[float, means("until the master serves them, once it is back and has registered")]
    meaning: Annotated[str, means("what that means, in words")]


class WaitingMessages(Struct, frozen=True, kw_only=True):
    """What waits there for a group; nothing is added, since nobody writes there."""

    consumer_group: Annotated[str, means("name of the group")]
    use: Annotated[Use, means("how it reads there")]
    queues: Annotated[int, means("readable queues there that it reads in this way")]
    messages: Annotated[int | None, means("messages of them that it has not read; null: UNDECIDED")]
    is_served: Annotated[bool | None, means("whether it reads them without the master; null if unknown")]
    killed_s: Annotated[float | None, means("until it reads them again if the master's process ends")]
    silent_s: Annotated[float | None, means("the same if its machine or network is gone")]
    missing_topics: Annotated[
        tuple[str, ...],
        means("topics that the slave has not copied, or with fewer queues: it refuses to have them read"),
    ] = ()


class MessagesAtRisk(Struct, frozen=True, kw_only=True):
    """What may be lost, of messages that producers were told are stored; null is UNDECIDED."""

    lost_with: Annotated[
        LostWith,
        means(
            "PROCESS (it ends, its machine runs on), POWER (the machine fails, its disk survives) or DISK "
            "(the machine's disk is lost for good)"
        ),
    ]
    lost_bytes: Annotated[float | None, means("bytes of messages: of POWER and PROCESS at most, of DISK as seen")]
    lost_messages: Annotated[float | None, means("the same in messages of mean size")]
    why: Annotated[str, means("where the figure comes from, or what is unknown")]
