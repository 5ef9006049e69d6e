"""What brokers can store, by patterns of their names: no broker reports it."""

from pydantic import Field

from rocketmq_capacity.settings.patterns import NamePattern, is_found
from rocketmq_capacity.settings.section import Section


class BrokerEntry(Section):
    """What the policy tells of the brokers whose name matches.

    Attributes:
        match: a regular expression, searched in the broker's name.
        max_msgs_per_s: messages a second that such a broker can store, those of all topics.
        max_mib_per_s: MiB a second that it can store.
    """

    match: NamePattern
    max_msgs_per_s: float | None = Field(default=None, gt=0, allow_inf_nan=False, strict=True)
    max_mib_per_s: float | None = Field(default=None, gt=0, allow_inf_nan=False, strict=True)

    def has(self, broker_name: str) -> bool:
        """Whether a broker is meant."""
        return is_found(self.match, broker_name)
