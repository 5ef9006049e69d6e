"""Who sends: the producers of every group with a channel to the broker that was asked (328)."""

from dataclasses import replace
from typing import Any

from rocketmq_capacity.protocol import tolerant_json
from rocketmq_capacity.protocol.body import field
from rocketmq_capacity.protocol.body.consumers import ConsumerChannel, channel_of


def decode_producers(body: bytes) -> dict[str, tuple[ConsumerChannel, ...]]:
    """Read 328: by producer group. Source: ProducerTableInfo.java and ProducerInfo.java, rocketmq-all-5.3.3."""
    members = field.as_object(tolerant_json.decode(body), "ProducerTableInfo")
    return {
        field.name(group, "a key of data"): tuple(
            _producer(value, f"data.{group}") for value in field.as_list(each, f"data.{group}")
        )
        for group, each in field.as_object(members.get("data"), "data").items()
    }


def _producer(value: Any, place: str) -> ConsumerChannel:
    channel = channel_of(value, place, "remoteIP")
    # A socket address as Java writes it begins with a slash where no host name is known.
    return replace(channel, client_addr=channel.client_addr and channel.client_addr.rpartition("/")[2])
