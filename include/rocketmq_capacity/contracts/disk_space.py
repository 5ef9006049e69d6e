"""How large a broker's disk is, as the broker writes it.

Source: BrokerStats and MixAll.humanReadableByteCount, rocketmq-all-5.3.3.
"""

import re
from typing import Final

from rocketmq_capacity.contracts.broker import Broker
from rocketmq_capacity.contracts.number_text import decimal_number

CAPACITY: Final = "commitLogDirCapacity"
_TOTAL: Final = re.compile(r"Total : ([0-9.]{1,20}) ?(B|[KMGTPE]i?B)\b", re.ASCII)
_POWERS: Final = "BKMGTPE"


def disk_bytes(broker: Broker) -> float | None:
    """The size of the disk of a broker's commit log; None if unknown.

    >>> disk_bytes(Broker(broker_name="a", broker_id=0, has_answered=True, runtime={CAPACITY: "Total : 2.0 KiB, Free : 1.0 KiB."}))
    2048.0
    """
    found = _TOTAL.search((broker.runtime or {}).get(CAPACITY, "")[:200])
    number = None if found is None else decimal_number(found[1])
    if found is None or not number:
        return None
    base = 1024 if "i" in found[2] else 1000
    return float(number * base ** _POWERS.index(found[2][0]))
