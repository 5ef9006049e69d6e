"""What is known of a consumer group, in words: the facts of its section, and cells of its line."""

from typing import Final

from msgspec import UNSET

from rocketmq_capacity.plan_file.group import GroupPlan, TrafficForecast
from rocketmq_capacity.plan_file.in_use import in_use
from rocketmq_capacity.report.figures import UNKNOWN, factor, number, per_cent, when
from rocketmq_capacity.report.limits import ITEMS
from rocketmq_capacity.report.needed import ClientsOfGroup
from rocketmq_capacity.report.view.score import score_facts
from rocketmq_capacity.report.wording import BREAKS_WORDS, PROTOCOL_WORDS, READING_WORDS, SOURCE_WORDS, Wording
from rocketmq_capacity.tables.assess.groups import GroupStatus
from rocketmq_capacity.vocabulary import CONSUME_ACTIVELY, CONSUME_PASSIVELY, GRPC, POP, is_broadcasting, is_clustering
from rocketmq_capacity.wording import counted

YEAR: Final = 365
CONSUMERS: Final = {CONSUME_PASSIVELY: " (push consumers)", CONSUME_ACTIVELY: " (pull consumers)"}
"""What is said of the consumers of a group, by its type."""


def clients_in_words(group: GroupPlan) -> str:
    """How many run, with their ids where these are fewer, and whether a Proxy serves them."""
    running, distinct = group.connections, group.distinct_client_ids
    notes = [] if running == distinct else ["1 id" if distinct == 1 else f"{number(distinct)} ids"]
    notes += [PROTOCOL_WORDS[group.protocol]] if group.protocol in PROTOCOL_WORDS else []
    return f"{number(running)} ({', '.join(notes)})" if notes else number(running)


def useful_in_words(group: GroupPlan) -> str:
    """How many clients can own a queue under the strategy in use."""
    if group.client_bounds.max_useful is not None:
        return number(group.client_bounds.max_useful)
    is_boundless = not is_clustering(group.message_model) or group.message_request_mode == POP
    return "no limit" if is_boundless else "unknown"


def reads_in_words(group: GroupPlan) -> str:
    """Whether it broadcasts, else how it asks for messages."""
    return "broadcasting" if is_broadcasting(group.message_model) else group.message_request_mode


def facts_of_group(group: GroupPlan, staff: ClientsOfGroup, status: GroupStatus) -> tuple[tuple[str, str], ...]:
    """The facts of its section, each with its name."""
    topics = group.topics
    listed = ", ".join(topics[:ITEMS]) + (f" and {len(topics) - ITEMS:,} more" if len(topics) > ITEMS else "")
    facts = [
        ("Running consumers", clients_in_words(group)),
        ("Useful at most", useful_in_words(group) + (" clients" if group.client_bounds.max_useful is not None else "")),
        (f"Reads {counted(len(topics), 'topic')}", listed or "no business topic"),
        ("Message model", (group.message_model or "unknown").replace("_", " ").capitalize()),
        ("Reads by", group.message_request_mode + CONSUMERS.get(group.consume_type or "", "")),
        ("Queues read", READING_WORDS.get(group.reading_status, Wording(UNKNOWN, UNKNOWN)).meaning),
        ("Strategy in use", _strategy_words(group)),
        ("Utilisation of the busiest client", _utilisation(group)),
        ("Peak", _peak(group)),
        ("Clients enough for the peak", _enough(group)),
        ("Clients needed", number(staff.needed)),
        ("Can give back", number(staff.spare)),
        ("Headroom", _headroom(group)),
        *score_facts(group.score),
    ]
    if group.traffic_forecast is not UNSET:
        facts.append(("Traffic grows", _growth(group.traffic_forecast)))
    filters = {**(status.pass_ratios or {}), **dict.fromkeys(status.unknown_filters)}
    facts += [(f"Filter on {topic} lets through", per_cent(filters[topic])) for topic in sorted(filters)[:ITEMS]]
    if status.provision_doubt:
        facts.append(("Facts that do not agree", status.provision_doubt))
    return tuple(facts)


def _utilisation(group: GroupPlan) -> str:
    """``37.8 % (c1)``, or from least to most where it is not exactly known."""
    use = group.utilisation
    if use is None:
        return UNKNOWN
    share = per_cent(use.estimate)
    if use.lower != use.upper:
        share = f"{share}, from {per_cent(use.lower)} to {per_cent(use.upper)}"
    return f"{share} ({group.busiest_client})"


def _enough(group: GroupPlan) -> str:
    needed = group.needed_clients
    if needed is None:
        return UNKNOWN
    if needed.target is None:
        return "more clients alone are not enough"
    bounds = "" if needed.lower == needed.upper else f" ({needed.lower} to {needed.upper or 'no number is enough'})"
    return f"{number(needed.target)}{bounds}; at least {number(group.min_safe_clients)} however they share the work"


def _peak(group: GroupPlan) -> str:
    peak = group.peak
    if peak is None or peak.msgs_per_s is None:
        return UNKNOWN
    times = "" if group.peak_factor is None else f", {group.peak_factor:.4g} times the measured rate"
    when_seen = "" if peak.at is None else f" at {when(peak.at)}"
    rate = f"{number(peak.msgs_per_s)} messages/s{when_seen}{times}; {counted(peak.days, 'stored day')}"
    if peak.most_msgs_per_s is UNSET or peak.most_at is UNSET:
        return rate
    most = number(peak.most_msgs_per_s)
    return f"{rate}; at most {most} messages/s between two samples, in the hour from {when(peak.most_at)} on"


def _headroom(group: GroupPlan) -> str:
    if group.headroom is None:
        return UNKNOWN
    at_peak, of_measured = factor(group.headroom.factor), group.headroom.measured_factor
    is_same = of_measured is None or factor(of_measured) == at_peak
    today = "" if of_measured is None or is_same else f" ({factor(of_measured)} the measured one)"
    return f"{at_peak} the traffic at the peak{today}: then {BREAKS_WORDS[group.headroom.breaks]}"


def _growth(forecast: TrafficForecast) -> str:
    """How fast, and when the clients are too busy; over a year is not told."""
    per_day, days = number(forecast.per_day_msgs_per_s), counted(forecast.known_days, "day")
    if forecast.likely_days > YEAR:
        return f"by {per_day} messages/s a day, seen over {days}"
    likely, earliest = f"{forecast.likely_days:.0f}", f"{forecast.earliest_days:.0f}"
    growth = f"by {per_day} messages/s a day, seen over {days}: too much in about {likely} days, at least {earliest}"
    if forecast.queues is None or forecast.queues.likely_days > YEAR:
        return growth
    return f"{growth}; its queues are too few in about {forecast.queues.likely_days:.0f} days"


def _strategy_words(group: GroupPlan) -> str:
    if group.protocol == GRPC:
        return f"{POP} (a Proxy assigns the queues)"
    now = in_use(group)
    if now is not None and now.strategy != group.current_strategy:
        return f"{now.strategy} (its request mode)"
    source = SOURCE_WORDS.get(group.current_strategy_source or "", "")
    return f"{group.current_strategy or 'none'}{f' ({source})' if source else ''}"
