"""Tells each owner what is new, worse and gone, by the owner's channel: one notice a day, and none if nothing is.

What the owners of a cluster were told is kept beside its runs. A notice that could not be sent is not kept, so its
causes are told with the next plan.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
from airflow.sdk import Context

from rocketmq_capacity.handover.notices import (
    EVERYBODY,
    CauseRecord,
    News,
    NoticeRecord,
    OwnerRecord,
    content_of,
    news_of,
    record_in,
)
from rocketmq_capacity.handover.tickets import Ticket, Tickets
from rocketmq_capacity.plan_file.handed_over import TICKETS
from rocketmq_capacity.provider.channels import sent
from rocketmq_capacity.provider.form_text import phrase, words
from rocketmq_capacity.provider.notice_text import NoticeLine, notice
from rocketmq_capacity.report.view.changes import worse_words
from rocketmq_capacity.report.wording import SEVERITY_WORDS
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.store.notices import keep_record, record

MOST_LINES: Final = 3
"""Of each kind: what is new, worse and gone. The report has all."""
LIMIT_S: Final = 300.0
"""Seconds that all notices of a plan may take."""


class OwnerNotices:
    """The notices of one plan.

    Args:
        run: of the plan.
        policy: the deployment's: it tells the channels.
        page: the address of the plan's page.
        is_complete: whether everything answered to the snapshot.
    """

    def __init__(self, run: Run, policy: Policy, page: str, *, is_complete: bool) -> None:
        self._cluster, self._policy, self._page, self._is_complete = run.folder.parent, policy, page, is_complete
        self._tickets = msgspec.json.decode((run.report / TICKETS).read_bytes(), type=Tickets)
        self._record = _record(self._cluster)

    def send_all(self, context: Context) -> None:
        """Tell every owner who has a channel."""
        end = time.monotonic() + LIMIT_S
        for owner, channel in sorted(self._policy.channels.items()):
            news = self.news(owner)
            if news is None:
                continue
            if news.is_any:
                if time.monotonic() > end:
                    logging.getLogger(__name__).error("%s: no notice is sent: too little time is left", channel)
                    continue
                cluster, counts = self._tickets.cluster_name, _counts(news)
                subject = phrase(
                    "RocketMQ capacity of {cluster} for {owner}: {counts}", cluster=cluster, owner=owner, counts=counts
                )
                if not sent(notice(subject, *self.lines(news), link=self._page), channel, context):
                    continue
            self.keep(news, owner)

    def news(self, owner: str = EVERYBODY) -> News | None:
        """What is to be said to an owner; None if that was done on this day. Of everybody, each plan may say it."""
        return news_of(
            self._tickets,
            owner,
            self._record.owners.get(owner, OwnerRecord()),
            is_complete=self._is_complete,
            worse_factor=self._policy.changes.worse_factor,
            once_a_day=owner != EVERYBODY,
        )

    def lines(self, news: News) -> tuple[NoticeLine, ...]:
        """What is new, worse and gone, each in at most `MOST_LINES` lines, with links to the causes."""
        new = [self._found(phrase("New: {cause}", cause=self._cause(one)), one) for one in news.new]
        worse = [
            self._found(
                phrase("Worse: {cause}", cause=self._cause(one.ticket)),
                one.ticket,
                worse_words(one.ticket.severity, one.severity_before, one.figures),
            )
            for one in news.worse
        ]
        gone = [
            NoticeLine(phrase("Gone: {cause}", cause=self._cause(one)), more=f" · {one.message}") for one in news.gone
        ]
        return (
            *_first(new, phrase("{number} more new in the report", number=len(new) - MOST_LINES)),
            *_first(worse, phrase("{number} more worse in the report", number=len(worse) - MOST_LINES)),
            *_first(gone, phrase("{number} more gone in the report", number=len(gone) - MOST_LINES)),
        )

    def keep(self, news: News, owner: str = EVERYBODY) -> None:
        """Note what an owner has been told."""
        if news.known != self._record.owners.get(owner, OwnerRecord()):
            self._record = self._record.with_owner(owner, news.known)
            keep_record(self._cluster, content_of(self._record))

    def _found(self, said: str, ticket: Ticket, note: str = "") -> NoticeLine:
        anchor = ticket.link.partition("#")[2]
        noted = f" ({words(note)})" if note else ""
        return NoticeLine(said, f"{self._page}#{anchor}", f"{noted} · {ticket.message}")

    def _cause(self, cause: Ticket | CauseRecord) -> str:
        """Its severity and its title, without the cluster, which the subject names."""
        title = cause.title.removeprefix(f"{self._tickets.cluster_name}: ")
        return f"{words(SEVERITY_WORDS[cause.severity])} · {title}"


def _first(lines: Sequence[NoticeLine], more: str) -> Iterator[NoticeLine]:
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield NoticeLine(more)


def _counts(news: News) -> str:
    counts = (
        (news.new, phrase("{number} new", number=len(news.new))),
        (news.worse, phrase("{number} worse", number=len(news.worse))),
        (news.gone, phrase("{number} gone", number=len(news.gone))),
    )
    return ", ".join(text for found, text in counts if found)


def _record(cluster: Path) -> NoticeRecord:
    """What the owners were told. A damaged file is set aside, with a warning: everything is new then."""
    content = record(cluster)
    try:
        return NoticeRecord() if content is None else record_in(content)
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        logging.getLogger(__name__).warning("%s: what owners were told cannot be read: %s", cluster, error)
        return NoticeRecord()
