"""Whether a cluster has what a scenario names, by its stored snapshot; found out by a process of its own.

Airflow's API server asks this before a what-if starts. To read the snapshot of a large cluster takes a second.
"""

from pathlib import Path

import msgspec

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.own_process import OwnProcessFailed, answer_of, answer_question
from rocketmq_capacity.settings.policy import PolicyChanges, read_policy
from rocketmq_capacity.simulation.scenario import apply, scenario_of_text
from rocketmq_capacity.snapshot.outline import LARGEST_APART, outline_of


class Fitting(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked up where.

    Attributes:
        inventory: path of the stored snapshot.
        scenario: YAML of a scenario file.
        policy: path of the deployment's policy file; None for the defaults.
        policy_changes: YAML of what the run changes in it.
        source: the name of the scenario in errors.
    """

    inventory: str
    scenario: str
    policy: str | None
    policy_changes: str
    source: str


def mismatch_by_own_process(fitting: Fitting) -> str:
    """What the scenario names that the cluster does not have, with the nearest name; empty if it has all.

    Empty as well if it cannot be found out: the task that reads the cluster says it then.
    """
    try:
        said: str = answer_of(__name__, fitting, str)
    except OwnProcessFailed:
        return ""
    return said


def mismatch_of(fitting: Fitting) -> str:
    """The same, in this process."""
    inventory = outline_of(Path(fitting.inventory), LARGEST_APART)
    if inventory is None:
        return ""
    try:
        policy = read_policy(
            None if fitting.policy is None else Path(fitting.policy), PolicyChanges((), fitting.policy_changes)
        )
    except BadInput:
        return ""
    try:
        apply(inventory, scenario_of_text(fitting.scenario, fitting.source), policy, fitting.source)
    except BadInput as error:
        return f"{error} (looked up in the snapshot of {inventory.taken_at}; plan the cluster anew if the name is new)"
    return ""


if __name__ == "__main__":
    answer_question(Fitting, mismatch_of)
