"""``python -m rocketmq_capacity.report.summary PLAN.json``: prints where the report is, and the plan in one table."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import UNSET
from rich.box import SIMPLE_HEAD, Box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rocketmq_capacity.catalogue.rule import rule_of
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.language.current import phrase, speaking, words
from rocketmq_capacity.plan_file.finding import still_open
from rocketmq_capacity.plan_file.plan import Plan, read_plan
from rocketmq_capacity.plan_file.scenario import ScenarioResult
from rocketmq_capacity.plan_file.visible import visible
from rocketmq_capacity.report.detail import SEVERITY_RANK
from rocketmq_capacity.report.figures import number, per_cent, when
from rocketmq_capacity.report.files import REPORT
from rocketmq_capacity.report.summary_file import summary_of_plan
from rocketmq_capacity.report.view.verdicts import VERDICTS
from rocketmq_capacity.report.what_if_lines import first_lines
from rocketmq_capacity.report.wording import SEVERITY_WORDS, STATUS_WORDS
from rocketmq_capacity.vocabulary import CRITICAL, ENGLISH, INFO, WARNING, Language, Severity

STYLES: Final[dict[Severity, str]] = {CRITICAL: "bold red", WARNING: "yellow", INFO: "blue"}
PLAIN_WIDTH: Final = 100
"""Columns of an output that is not a terminal."""


def summary_table(plan: Plan, frame: Box | None) -> Table:
    """A table of the rules that found something, worst first: severity, rule, meaning, number of findings."""
    findings = Counter((finding.severity, finding.rule) for finding in still_open(plan.findings))
    table = Table(box=frame, show_edge=False, pad_edge=False)
    table.add_column(words("Severity"))
    table.add_column(words("Rule"), no_wrap=True)
    table.add_column(words("What it means"))
    table.add_column(words("Findings"), justify="right")
    for (severity, rule), count in sorted(findings.items(), key=lambda entry: (SEVERITY_RANK[entry[0][0]], entry[0])):
        styled = Text(words(SEVERITY_WORDS[severity]), STYLES[severity])
        table.add_row(styled, visible(rule), words(rule_of(rule).title), f"{count:,}")
    return table


def summary_console() -> Console:
    """Standard output, for a summary."""
    return Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH, highlight=False, markup=False)


def print_summary(plan: Plan, report: Path, console: Console, language: Language = ENGLISH) -> None:
    """Print a summary of the plan and the path of its report."""
    with speaking(language, plan.sentences):
        _print(plan, report, console)


def _print(plan: Plan, report: Path, console: Console) -> None:
    def say(text: str, *, wraps: bool = True) -> None:
        console.print(Text(words(text)), soft_wrap=not wraps)

    facts = summary_of_plan(plan)
    manual = sum(recommendation.manual for recommendation in plan.recommendations)
    statuses = Counter(group.provision_status for group in plan.groups)
    # By its own text: the comma in it does not tell where the name ends, once the name is in its place.
    name, moment = visible(plan.cluster_name), words(when(visible(plan.taken_at)))
    console.print(Text(phrase("Cluster {cluster_name}, {taken_at}", cluster_name=name, taken_at=moment)))
    if plan.recorded_at is not UNSET:
        say(f"A recorded snapshot, of {when(visible(plan.recorded_at))}, which was given this date")
    if plan.scenario is not UNSET:
        # Also by its own text: a person may have given the scenario a name of several words.
        console.print(Text(phrase("What-if, not the cluster as it is: {name}", name=visible(plan.scenario.name))))
        for line in _answer(plan.scenario):
            say(visible(line))
    if facts.policy_differences:
        kind = "A trial, not the day's plan" if facts.trial else "Not the deployment's policy"
        say(f"{kind}: {'; '.join(facts.policy_differences)}")
    say(f"Queues read completely: {per_cent(facts.completeness)}")
    counts = phrase(", ").join(
        f"{statuses[status]:,} {words(one.title).lower()}" for status, one in STATUS_WORDS.items()
    )
    say(f"Consumer groups: {facts.groups:,} ({counts})")
    say(f"Recommendations: {facts.recommendations:,}, of which {manual:,} manual")
    if plan.score is not None and plan.score.before is not None:
        after, judged = number(plan.score.after), per_cent(plan.score.judged_ratio)
        say(f"Score: {number(plan.score.before)} of 100, {after} after all recommendations; {judged} of goals judged")
    if facts.accepted:
        say(f"Accepted risks: {facts.accepted:,} findings that are not counted below")
    for note in plan.notes:
        say(visible(note), wraps=False)
    if still_open(plan.findings):
        console.print(summary_table(plan, SIMPLE_HEAD if console.is_terminal else None))
    else:
        say("No findings.")
    say(f"Report: {report}", wraps=False)


def _answer(scenario: ScenarioResult) -> Iterator[str]:
    """What the changes would do; nothing in an earlier version's plan."""
    if scenario.verdict is not None:
        yield VERDICTS[scenario.verdict].title
        yield from first_lines(scenario)


def main(argv: Sequence[str] | None = None) -> int:
    """The command. Gives the exit status: 0, or 2 if the plan cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m rocketmq_capacity.report.summary", description=__doc__)
    parser.add_argument("plan", type=Path, metavar="PLAN.json", help="a plan; its report is expected beside it")
    path = parser.parse_args(argv).plan
    try:
        plan = read_plan(path)
    except BadInput as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_status
    print_summary(plan, path.resolve().parent / REPORT, summary_console())
    return 0


if __name__ == "__main__":
    sys.exit(main())
