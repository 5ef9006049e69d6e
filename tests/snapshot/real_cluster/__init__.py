"""Snapshots of a real RocketMQ, which ends with the last of them."""
