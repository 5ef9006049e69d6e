"""Which RocketMQ the tests are compared with: 5.3.3, unless ``RMQC_ROCKETMQ`` names another profile of their poms."""

import os
from typing import Final

USUAL: Final = "5.3.3"
NEWEST: Final = "5.5.0"
"""The newest of which Maven Central has every part (of 5.5.1 client, name server, Proxy and tools are missing)."""
ROCKETMQ: Final = os.environ.get("RMQC_ROCKETMQ", USUAL)
ROCKETMQ_NAME: Final = f"V{ROCKETMQ.replace('.', '_')}"
"""As RocketMQ writes it."""
if ROCKETMQ not in (USUAL, NEWEST):
    raise ValueError(f"RMQC_ROCKETMQ is {ROCKETMQ}; expected {USUAL} or {NEWEST}")
