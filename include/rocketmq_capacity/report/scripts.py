"""A shell script for each way to mend a cause: it shows what it would run, and runs it only if it is told to."""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import UNSET

from rocketmq_capacity.plan_file.acts import COMMAND, PLACEHOLDER, acts_of, is_complete, is_plain
from rocketmq_capacity.plan_file.finding import Cause
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.plan_file.steps import RecommendationStep, StepCheck
from rocketmq_capacity.plan_file.visible import visible
from rocketmq_capacity.report.approval import answer_of_each
from rocketmq_capacity.report.ways import ways_of
from rocketmq_capacity.report.wording import action_title

FOLDER: Final = "scripts"
"""The folder of the scripts, beside plan.json."""
FILE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\.sh")
HEAD: Final = r"""set -eu

MQADMIN=${MQADMIN:-mqadmin}
apply=no
agreed=no
even_if_old=no
while [ $# -gt 0 ]; do
  case $1 in
    --dry-run) apply=no ;;
    --apply) apply=yes ;;
    --yes) agreed=yes ;;
    --even-if-old) even_if_old=yes ;;
    -*) printf 'usage: bash %q [--dry-run | --apply] [--yes] [--even-if-old] [NAMESRV]\n' "$0" >&2; exit 2 ;;
    *) NAMESRV=$1 ;;
  esac
  shift
done

say() { printf '%s\n' "$*"; }

show() {
  printf '+'
  printf ' %q' "$MQADMIN" "$@"
  printf '\n'
}

# Shows a command that only looks, and runs it with --apply.
run() {
  show "$@"
  if [ "$apply" = yes ]; then "$MQADMIN" "$@"; fi
}

# The same for a command that changes the cluster. mqadmin ends with 0 also if a broker refuses: it shows an exception.
change() {
  show "$@"
  if [ "$apply" = no ]; then return 0; fi
  failed=0
  { errors=$("$MQADMIN" "$@" 2>&1 >&3); } 3>&1 || failed=$?
  case $errors in
    *Exception*) if [ "$failed" = 0 ]; then failed=1; fi ;;
  esac
  if [ -n "$errors" ]; then printf '%s\n' "$errors" >&2; fi
  if [ "$failed" != 0 ]; then say 'It failed. Nothing more is run.' >&2; exit "$failed"; fi
}

# Goes on only if a person says yes; a dry run and --yes ask nobody.
ask() {
  say "? $*"
  if [ "$apply" = no ] || [ "$agreed" = yes ]; then return 0; fi
  printf 'yes or no: '
  read -r answer || answer=no
  if [ "$answer" != yes ]; then say 'Stopped. Nothing more is run.'; exit 3; fi
}

# The same before a later step: only a person sees whether the checks of the step before show what they should.
ask_person() {
  agreed_before=$agreed
  agreed=no
  ask "$@"
  agreed=$agreed_before
}

if [ "$apply" = no ]; then
  say 'A dry run: it calls nothing. --apply runs the lines that begin with +.'
else
  if [ -z "$NAMESRV" ]; then say 'No name server: give host:port, or set NAMESRV.' >&2; exit 2; fi
  if [ "$(date -u +%s)" -gt "$old_after_s" ] && [ "$even_if_old" = no ]; then
    say "The snapshot of $taken_at is too old: plan the cluster again, or add --even-if-old." >&2
    exit 3
  fi
fi
"""


def script_names(plan: Plan) -> dict[str, str]:
    """By the first recommendation of a way (id), the path of its script below the plan's folder.

    The first way of a cause has the cause's id as its name; any other way has its recommendation's id as well. A way
    has no script if it has no command, if a command has a character that a terminal would not show as it is, or if a
    person rejected it. A what-if has none: its commands are for a cluster that is not there. A trial has none either.
    """
    return {way[0].id: name for name, _, way in _scripts(plan)}


def scripts_of(plan: Plan) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The path of each script below the plan's folder, and its bytes."""
    for name, cause, way in _scripts(plan):
        yield name, _encoded(plan, cause, way)


def _scripts(plan: Plan) -> Iterator[tuple[str, Cause, list[PlanRecommendation]]]:
    if not plan.is_daily:
        return
    by_id = {one.id: one for one in plan.recommendations}
    said = {} if plan.approval is UNSET else answer_of_each(plan.approval)
    for cause in plan.causes:
        for number, way in enumerate(ways_of([by_id[one] for one in cause.recommendations], said)):
            name = f"{cause.id}.sh" if number == 0 else f"{cause.id}.{way[0].id}.sh"
            answer = said.get(way[0].id)
            is_rejected = answer is not None and not answer.is_approved
            if FILE_NAME.fullmatch(name) and not is_rejected and _has_commands(way) and _is_plain(way):
                yield f"{FOLDER}/{name}", cause, way


def _commands(way: Iterable[PlanRecommendation]) -> Iterator[str]:
    for recommendation in way:
        yield from recommendation.commands
        yield from (command for step in _steps(recommendation) for command in step.commands)


def _checks(way: Iterable[PlanRecommendation]) -> Iterator[StepCheck]:
    for recommendation in way:
        if recommendation.check is not None:
            yield recommendation.check
        yield from (check for step in _steps(recommendation) for check in step.checks)


def _steps(recommendation: PlanRecommendation) -> tuple[RecommendationStep, ...]:
    return () if recommendation.steps is UNSET else recommendation.steps


def _has_commands(way: Sequence[PlanRecommendation]) -> bool:
    return any(True for _ in _commands(way))


def _is_plain(way: Sequence[PlanRecommendation]) -> bool:
    """Whether a terminal shows every command as it is."""
    lines = (*_commands(way), *(check.command for check in _checks(way)))
    return all(is_plain(line) for line in lines if not line.startswith("#"))


def _encoded(plan: Plan, cause: Cause, way: Sequence[PlanRecommendation]) -> Iterator[bytes]:
    for line in _lines(plan, cause, way):
        yield f"{line}\n".encode()


def _lines(plan: Plan, cause: Cause, way: Sequence[PlanRecommendation]) -> Iterator[str]:
    """The lines of a script; every text of the cluster's is quoted, and its invisible characters are written out."""
    titles = [action_title(one) for one in way]
    yield "#!/usr/bin/env bash"
    for title in titles:
        yield _comment(title)
    yield _comment(f"Cluster {plan.cluster_name}, snapshot of {plan.taken_at}, cause {cause.id}")
    yield _comment(f"Recommendations: {', '.join(one.id for one in way)}")
    if plan.freeze is not None:
        yield _comment(f"Frozen until {plan.freeze.ends} ({plan.freeze.why}): it only looks.")
    yield "# It shows its commands and calls nothing. With --apply it checks, asks and runs them."
    yield f"taken_at={_quoted(plan.taken_at)}"
    yield f"old_after_s={int(plan.last_moment.timestamp())}"
    yield f"nameservers={_nameserver(way)}"
    yield "NAMESRV=${NAMESRV:-$nameservers}"
    yield HEAD
    yield _say("== What the plan saw")
    yield _say(cause.message)
    checks = {check.command: check for one in way for check in ([] if one.check is None else [one.check])}
    yield from (_run(command) for command in checks)
    yield _ask("Is this what the plan saw?" if checks else "Is it still so?")
    for title, recommendation in zip(titles, way, strict=True):
        yield _say(f"== {title}")
        yield _say(recommendation.reason)
        yield from (
            _steps_lines(recommendation)
            if _steps(recommendation)
            else _commands_lines(recommendation.commands, is_manual=recommendation.manual)
        )
    if checks:
        yield _say("== Check")
    for check in checks.values():
        yield _run(check.command)
        yield _say(f"It must show: {check.shows}")
    for way_back in dict.fromkeys(one.way_back for one in way if one.way_back is not None):
        yield _say(f"The way back: {way_back}")


def _steps_lines(recommendation: PlanRecommendation) -> Iterator[str]:
    for number, step in enumerate(_steps(recommendation), 1):
        yield _say(f"-- Step {number}: {step.title}. {step.expect}")
        yield from (_say(f"Stop here if this is so: {block}") for block in step.blocks)
        yield _ask("Begin this step?", "ask" if number == 1 else "ask_person")
        yield from _commands_lines(step.commands, is_manual=recommendation.manual)
        for check in step.checks:
            yield _run(check.command)
            yield _say(f"It must show: {check.shows}")
        if step.way_back is not None:
            yield _say(f"The way back: {step.way_back}")


def _commands_lines(commands: Sequence[str], *, is_manual: bool) -> Iterator[str]:
    """The commands; what a person must decide or fill in stays a comment."""
    asked = False
    for act in acts_of(commands, is_manual=is_manual):
        if act.kind == "NOTE":
            yield _say(act.command)
        elif act.kind == "BY_HAND":
            yield _say(f"# By hand: {act.command}")
        else:
            if act.kind == "CHANGE" and not asked:
                asked = True
                yield _ask("Change the cluster?")
            yield _run(act.command, "change" if act.kind == "CHANGE" else "run")
    if not commands:
        yield _say("# By hand: no command does it.")


def _run(command: str, function: str = "run") -> str:
    """A line that runs a command with the script's own name server, by a function of the script."""
    parts = COMMAND.fullmatch(command)
    if parts is None or not is_complete(command):
        return _say(f"# By hand: {command}")
    return f'{function} {parts["subcommand"]} -n "$NAMESRV"{parts["options"]}'


def _nameserver(way: Sequence[PlanRecommendation]) -> str:
    """The name servers of the plan's commands, as a word of a shell; an empty one if the plan does not know them."""
    lines = (*_commands(way), *(check.command for check in _checks(way)))
    parts = next(filter(None, map(COMMAND.fullmatch, (line.removeprefix("# ") for line in lines))), None)
    addresses = "''" if parts is None else parts["nameserver"]
    return "''" if PLACEHOLDER.search(addresses) or visible(addresses) != addresses else addresses


def _comment(text: str) -> str:
    return f"# {visible(text)}"


def _say(text: str) -> str:
    return f"say {_quoted(visible(text))}"


def _ask(text: str, function: str = "ask") -> str:
    return f"{function} {_quoted(text)}"


def _quoted(text: str) -> str:
    return shlex.quote(text)
