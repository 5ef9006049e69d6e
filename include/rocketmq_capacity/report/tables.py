"""findings.csv and recommendations.csv: the plan's two lists for a spreadsheet (RFC 4180, UTF-8)."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from rocketmq_capacity.report.plan_file import Finding, Recommendation
from rocketmq_capacity.report.view.facts import subject

FINDING_COLUMNS: Final = (
    "rule",
    "severity",
    "consumer_group",
    "topic",
    "broker_name",
    "message",
    "subjects",
    "evidence",
)
RECOMMENDATION_COLUMNS: Final = (
    "id",
    "action",
    "consumer_group",
    "topic",
    "manual",
    "reason",
    "rules",
    "commands",
    "before",
    "after",
)

FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""A spreadsheet runs a cell that starts so as a formula; the last four are the full-width forms of the first four.

Source: OWASP, CSV Injection."""


def findings_csv(findings: Iterable[Finding]) -> bytes:
    """The plan's findings, one line each; subjects stand one a line in their cell, queues in short, objects as JSON."""
    return _csv(FINDING_COLUMNS, findings)


def recommendations_csv(recommendations: Iterable[Recommendation]) -> bytes:
    """The plan's recommendations, one line each; the commands stand one a line in their cell."""
    return _csv(RECOMMENDATION_COLUMNS, recommendations)


def _csv(columns: Sequence[str], records: Iterable[Finding | Recommendation]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_MINIMAL, lineterminator="\r\n")
    writer.writerow(columns)
    for record in records:
        writer.writerow(_cell(getattr(record, column)) for column in columns)
    return out.getvalue().encode("utf-8", "surrogatepass")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return msgspec.json.encode(value).decode()
    if isinstance(value, list | tuple):
        return defused("\n".join(map(subject, value)))
    return defused(str(value))


def defused(text: str) -> str:
    """The text with an apostrophe before it where a spreadsheet would take it for a formula."""
    return "'" + text if text.startswith(FORMULA_STARTS) else text
