"""The impact of a cause in words, for the page and for the question to a person."""

from rocketmq_capacity.plan_file.finding import Impact
from rocketmq_capacity.report.figures import number, per_cent
from rocketmq_capacity.wording import counted


def impact_words(impact: Impact) -> tuple[str, ...]:
    """The figures that a reader decides by, the worst first."""
    words = (
        (impact.deleted_messages, f"{_counted(impact.deleted_messages, 'message')} deleted unread"),
        (impact.messages_at_risk, f"{_counted(impact.messages_at_risk, 'message')} unread"),
        (impact.unread_queues, f"{_counted(impact.unread_queues, 'queue')} without reader"),
        (impact.lag != impact.messages_at_risk and impact.lag, f"{_counted(impact.lag, 'message')} behind"),
        (impact.idle_clients, f"{_counted(impact.idle_clients, 'client')} without work"),
        (
            not impact.idle_clients and impact.utilisation_ratio,
            f"busiest client {per_cent(impact.utilisation_ratio)} busy at the peak",
        ),
        (impact.unread_msgs_per_s, f"{number(impact.unread_msgs_per_s)} messages/s unread"),
    )
    return tuple(text for figure, text in words if figure)


def _counted(figure: int | None, noun: str) -> str:
    return counted(figure or 0, noun)
