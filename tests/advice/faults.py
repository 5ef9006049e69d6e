"""Faults to put into a healthy fleet, and what a plan has to say of each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.advice.fleet import Fleet, healthy
from tests.advice.judge import Expected

PutIn = Callable[[Fleet], Expected]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong.

    Attributes:
        name: in a few words.
        put_in: changes a healthy fleet, and returns what a plan has to say of it.
        with_history: whether it takes earlier inventories to see it.
    """

    name: str
    put_in: PutIn = field(compare=False)
    with_history: bool = False

    def fleet(self, seed: int, size: str = "small") -> tuple[Fleet, Expected]:
        """A fleet with this fault, and what a plan has to say of it."""
        fleet = healthy(size, seed, with_history=self.with_history)
        return fleet, self.put_in(fleet)


def named(*faults: PutIn, with_history: bool = False) -> dict[str, Fault]:
    """These faults by the names of their functions, in words."""
    words = {put_in.__name__.replace("_", " "): put_in for put_in in faults}
    return {name: Fault(name, put_in, with_history) for name, put_in in words.items()}


def all_faults() -> Mapping[str, Fault]:
    """Every fault by its name."""
    # These modules use `named`.
    from tests.advice import cluster_faults, lag_faults, load_faults, member_faults, topic_faults

    modules = (member_faults, load_faults, lag_faults, topic_faults, cluster_faults)
    return {name: fault for module in modules for name, fault in module.FAULTS.items()}
