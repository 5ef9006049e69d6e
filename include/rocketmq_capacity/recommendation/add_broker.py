"""ADD_BROKER: one more broker or several, if the disks of all brokers that take messages are too full.

Where one of them has room, the topics lie unevenly, and one more broker would not help. Where one does not say
how full it is, nothing is decided.
"""

from collections.abc import Sequence
from math import ceil
from typing import Final

import msgspec

from rocketmq_capacity import tables
from rocketmq_capacity.catalogue.action import Action, Proof, Recommended
from rocketmq_capacity.model.broker_figures import deletes_early_above, used_ratio
from rocketmq_capacity.plan_file.steps import RecommendationStep, StepCheck
from rocketmq_capacity.recommendation import commands
from rocketmq_capacity.recommendation.answer import answer, json_object, sentences
from rocketmq_capacity.recommendation.broker_plans import start_broker
from rocketmq_capacity.recommendation.commands import placeholder
from rocketmq_capacity.recommendation.facts import AdvisedCluster
from rocketmq_capacity.vocabulary import is_open
from rocketmq_capacity.wording import counted, fixed, listed, rounded


def _check(recommended: Recommended, nameserver: str) -> Proof:
    brokers = json_object(recommended.after).get("brokers", "the number that was decided on of")
    return commands.cluster_list(nameserver), f"{brokers} brokers with the id 0."


RULE: Final = "BROKER_DISK"
ACTION: Final = Action(
    name="ADD_BROKER",
    title="Add a broker",
    meaning="The brokers have too little capacity.",
    place=140,
    changes="cluster",
    check=_check,
    way_back=(
        "That of each step: nothing is written to the new broker any more, every group reads it to its end, and it is"
        " shut down."
    ),
    answers=(RULE,),
    offered="if the disks of all readable and writable brokers are above the bounds of BROKER_DISK, or soon will be",
    moves_queues=True,
    unknown_moves=(
        "which queues get another owner depends on the topics and queues that new brokers get. A what-if with"
        " add_broker computes it."
    ),
    thresholds=("BROKER_DISK",),
    details="""
    The recommendation names the fewest further brokers that bring the fullest disk below its bound, if the same
    bytes are spread evenly over disks of equal size. The steps say how a broker is added, and a what-if with
    `add_broker` gives the command for each topic. If one of the brokers has room, INVESTIGATE says to spread topics
    instead. If one does not report how full it is, it says UNDECIDED.
    """,
)
NEW: Final = "the new broker"


def add_broker(findings: Sequence[tables.Finding], cluster: AdvisedCluster) -> tables.Recommendation | None:
    """One recommendation for the whole cluster, or None."""
    if not any(one.rule == RULE for one in findings) or refusal(cluster) is not None:
        return None
    used = _used(cluster)
    brokers, most = len(used), max(ratio for ratio in used.values() if ratio is not None)
    bound = min(_bounds(cluster).values())
    more = _more(brokers, most, bound)
    after = most * brokers / (brokers + more)
    return answer(
        ACTION,
        target={"brokers": brokers + more},
        is_manual=True,
        reason=sentences(
            f"Add {counted(more, 'broker')} or more, with disks like the others', and spread the topics to"
            f" {'it' if more == 1 else 'them'}: the disk of every broker that takes messages is so full that it deletes"
            " messages before their time, or soon does.",
            f"The fullest one would fall from {fixed(most * 100, 0)} % to {fixed(after * 100, 0)} % once old files are"
            " gone, if only RocketMQ writes there. Brokers that delete early need more room than that.",
            "Larger disks do the same, and so does a shorter retention (fileReservedTime), if every group reads its"
            " messages within it.",
        ),
        rules=[RULE],
        before={"brokers": brokers, "used_ratio": rounded(most)},
        after={"brokers": brokers + more, "used_ratio": rounded(after)},
        steps=msgspec.json.encode(_steps(cluster)).decode(),
    )


def refusal(cluster: AdvisedCluster) -> str | None:
    """Why no broker is added although some disk is too full (a sentence), or None."""
    if cluster.undecided is not None:
        return cluster.undecided
    if cluster.awaited:
        names = listed([one.broker_name for one in cluster.awaited])
        return f"UNDECIDED whether another broker would help: wait until lost brokers are back ({names})."
    used, bounds = _used(cluster), _bounds(cluster)
    unknown = sorted(name for name, ratio in used.items() if ratio is None)
    if unknown or not used:
        who = listed(unknown) if unknown else "any broker that takes messages"
        return f"UNDECIDED whether another broker would help: it is unknown how full the disk of {who} is."
    roomy = sorted(
        name
        for name, ratio in used.items()
        if ratio is not None and ratio <= bounds[name] and name not in cluster.filling
    )
    if roomy:
        return (
            f"Spread the topics of the full brokers to those that have room ({listed(roomy)}), or keep messages for a"
            " shorter time (fileReservedTime), if every group reads its messages within it; that needs no other broker."
        )
    return None


def _used(cluster: AdvisedCluster) -> dict[str, float | None]:
    """How full the masters are that can be read and written."""
    return {name: used_ratio(broker) for name, broker in sorted(cluster.masters.items()) if is_open(broker.broker_perm)}


def _bounds(cluster: AdvisedCluster) -> dict[str, float]:
    bounds = cluster.policy.thresholds.BROKER_DISK
    masters = cluster.masters
    return {
        name: min(deletes_early_above(masters[name], bounds.warning_ratio), bounds.critical_ratio)
        for name in _used(cluster)
    }


def _more(brokers: int, used: float, bound: float) -> int:
    """The fewest brokers more with which the same bytes, spread evenly, leave no disk above the bound."""
    return max(1, ceil(rounded(brokers * used / bound, 6) or 0) - brokers)


def _steps(cluster: AdvisedCluster) -> tuple[RecommendationStep, ...]:
    nameserver, address = cluster.nameserver, placeholder(f"address of {NEW}")
    return (
        start_broker(nameserver, NEW),
        RecommendationStep(
            title="Spread the topics",
            expect="Within 30 s producers write to it, and consumers divide its queues with the others. RocketMQ itself"
            " never spreads a topic over brokers that were added later.",
            checks=(
                StepCheck(
                    command=commands.topic_route(nameserver, placeholder("each topic")),
                    shows=f"{NEW} is listed with as many queues as the others.",
                ),
            ),
            blocks=(
                "A what-if with add_broker gives the command for each topic, and names the topics that must not be"
                " spread as they are: ordered, static, or read by groups that are offline.",
            ),
            way_back="Stop writing there: the same commands with -p 4 instead of -p 6. Once every group has read the"
            " queues there to their end, the broker may be shut down.",
        ),
        RecommendationStep(
            title="See that disks empty",
            expect="The others take a smaller share. Their disks fall once the files of before are deleted, after"
            " fileReservedTime.",
            checks=(
                StepCheck(
                    command=commands.broker_status(nameserver, address), shows="putTps is about that of the others."
                ),
                *(
                    StepCheck(
                        command=commands.broker_status(nameserver, cluster.address(name)),
                        shows="commitLogDiskRatio falls.",
                    )
                    for name in _used(cluster)
                ),
            ),
            way_back="That of the second step.",
        ),
    )
