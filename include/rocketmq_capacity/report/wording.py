"""What the page says in plain words, beside rules and actions: their words are in the vocabulary."""

from typing import Final

from rocketmq_capacity.vocabulary import (
    CRITICAL,
    INFO,
    OVER,
    RIGHT,
    UNDECIDED,
    UNDER,
    WARNING,
    Severity,
    Wording,
)

SEVERITY_WORDS: Final[dict[Severity, str]] = {CRITICAL: "Critical", WARNING: "Warning", INFO: "Info"}


STATUS_WORDS: Final[dict[str, Wording]] = {
    UNDER: Wording("Too few consumers", "More arrives than the consumers can handle with room to spare."),
    RIGHT: Wording("Right", "The consumers fit what arrives."),
    OVER: Wording("More than needed", "Fewer consumers would do, with room to spare."),
    UNDECIDED: Wording("Undecided", "The facts do not suffice for a verdict."),
}
"""Worst first."""

PROTOCOL_WORDS: Final = {"GRPC": "gRPC", "MIXED": "gRPC and remoting"}
"""Kinds of clients, where they are not the usual ones."""
SOURCE_WORDS: Final = {
    "reported": "as its clients report it",
    "observed": "as their ownership shows",
    "policy": "by the policy's entry for the group",
    "default": "assumed: the policy's default",
}
