"""What a run from Airflow's form decides otherwise than the deployment: which strategies it computes, what differs."""

from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from rocketmq_capacity import tables
from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.current import client_runs, current_strategy, strategies_in_use
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import GroupFacts
from rocketmq_capacity.plan_file.own_policy import OwnPolicy, PolicyDifference
from rocketmq_capacity.settings.policy import Policy, read_policy
from rocketmq_capacity.steps.app import policy_of
from rocketmq_capacity.steps.reported_rows import records
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.vocabulary import STRATEGIES

NO_SAMPLES: Final = "{}"


def store_own_policy(args: Namespace, *runs: Run) -> None:
    """Store with these runs, whose units are stored, what they decide otherwise than the deployment's policy.

    A run that is planned as the deployment's policy says stores nothing, and loses what an earlier try has stored.
    Without ``replaces_plan`` in the app's arguments, runs that decide something otherwise are a trial.
    """
    deployment, asked = read_policy(args.policy), policy_of(args)
    policy = asked.model_copy(update={"strategies": computed(asked, deployment, runs)})
    differences = differences_of(deployment, policy)
    kept = OwnPolicy(
        is_trial=bool(differences) and not getattr(args, "replaces_plan", False),
        differences=differences,
        strategies=policy.strategies,
    )
    for run in runs:
        if differences or policy.strategies != asked.strategies:
            kept.write(run.own_policy)
        else:
            run.own_policy.unlink(missing_ok=True)


def computed(asked: Policy, deployment: Policy, runs: Iterable[Run]) -> tuple[str, ...]:
    """The strategies of a run: those that it asks for, and those in use, without which no group could be judged."""
    if asked.strategies == deployment.strategies:
        return asked.strategies
    every = asked.model_copy(update={"strategies": tuple(dict.fromkeys((*deployment.strategies, *asked.strategies)))})
    in_use = {name for run in runs for name in _in_use(run, every)}
    chosen = (*asked.strategies, *(name for name in STRATEGIES if name in in_use and name not in asked.strategies))
    return deployment.strategies if set(chosen) == set(deployment.strategies) else chosen


class _Facts(NamedTuple):
    facts: str
    observations: str


def _in_use(run: Run, policy: Policy) -> Iterator[str]:
    """The strategies that the groups of a run use, as they are found out when they are judged."""
    decoder, strategies = msgspec.json.Decoder(GroupFacts), Strategies(policy)
    for unit in records(run, tables.GroupUnit, _Facts):
        facts = decoder.decode(unit.facts).observed(unit.observations, NO_SAMPLES)
        if facts.is_clustering:
            division = Division.of(facts)
            current = current_strategy(division, strategies, policy).strategy
            yield from (current, *strategies_in_use(division, client_runs(division, current, policy)))


def differences_of(deployment: Policy, run: Policy) -> tuple[PolicyDifference, ...]:
    """The values that differ, by their keys; a list is one value."""
    return tuple(_different("", deployment.model_dump(mode="json"), run.model_dump(mode="json")))


def _different(key: str, ours: Any, theirs: Any) -> Iterator[PolicyDifference]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in sorted({*ours, *theirs}):
            yield from _different(f"{key}.{name}" if key else name, ours.get(name), theirs.get(name))
    elif ours != theirs:
        yield PolicyDifference(key=key, deployment=ours, run=theirs)
