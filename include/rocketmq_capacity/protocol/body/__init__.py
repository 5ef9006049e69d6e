"""What the bodies of answers hold: one frozen dataclass a fact, decoded and checked, in RocketMQ's words."""
