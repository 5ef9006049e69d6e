"""report.html: one file that needs no other file, no script and no network."""

import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final

from jinja2 import BaseLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rocketmq_capacity.language.current import gettext, ngettext, speaking, translated, translated_refusal, words
from rocketmq_capacity.plan_file.ledger import LedgerEntry
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.visible import finalize, visible
from rocketmq_capacity.report.figures import number
from rocketmq_capacity.report.limits import COMMANDS
from rocketmq_capacity.report.rows import PageRows
from rocketmq_capacity.report.svg import start_to_draw
from rocketmq_capacity.report.view.courses import course_of
from rocketmq_capacity.report.view.page import page_of
from rocketmq_capacity.report.wording import KIND_WORDS, SEVERITY_WORDS, lower_first
from rocketmq_capacity.tables.assess.groups import GroupStatus
from rocketmq_capacity.tables.snapshot.groups import GroupDay, GroupHour
from rocketmq_capacity.vocabulary import ENGLISH, Language

PACKAGE: Final = "rocketmq_capacity.report"
TEMPLATE: Final = "report.html.j2"
GROUP_COURSE: Final = "group_course.html.j2"
STYLE: Final = "report.css"


def render_report(plan: Plan, beside: PageRows, language: Language = ENGLISH) -> str:
    """The page of a plan; equal input gives equal text.

    Args:
        plan: the plan.
        beside: rows that the page shows and the plan does not hold.
        language: of the page. Where a sentence of the plan has no text in it, the English one is shown.

    Errors: :class:`jinja2.UndefinedError` if a template uses a name that does not exist, which is a defect.
    """
    with speaking(language, plan.sentences):
        page = page_of(plan, beside)
        style = _style() + _filters(0 if page.owners is None else len(page.owners.owners))
        template = _environment().get_template(TEMPLATE)
        return template.render(page=page, style=style, style_hash=style_hash(style), lang=language)


def render_group_days(
    status: GroupStatus,
    hours: Sequence[GroupHour],
    days: Sequence[GroupDay],
    done: Sequence[LedgerEntry],
    language: Language,
) -> str | None:
    """The part of a page that shows a group over the days; None if too few hours are known. Arguments: `course_of`."""
    with speaking(language):
        course = course_of(status, hours, days, done, "1")
        return None if course is None else _environment().get_template(GROUP_COURSE).render(course=course)


def get_ready() -> None:
    """Do what the first page of a process would have to wait for: compile the templates, and start what draws."""
    environment = _environment()
    for name in environment.list_templates(extensions=[TEMPLATE.rpartition(".")[2]]):
        environment.get_template(name)
    start_to_draw()


def style_hash(style: str) -> str:
    """The hash by which a Content-Security-Policy allows a style element with this text.

    Source: Content Security Policy Level 3, "hash-source".
    """
    return "sha256-" + b64encode(sha256(style.encode()).digest()).decode()


def policy_of(page: bytes) -> str:
    """The Content-Security-Policy under which a stored page may be shown: its own style element and nothing else.

    The style is taken from the page itself, because an older page has an older style. It is in the head, before any
    name of the cluster. ``sandbox`` gives the page no origin.
    """
    _, _, rest = page.partition(b"<style>")
    style, end, _ = rest.partition(b"</style>")
    allowed = f"'{style_hash(style.decode(errors='replace'))}'" if end else "'none'"
    return (
        f"default-src 'none'; style-src {allowed}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox"
    )


def environment_of(loader: BaseLoader) -> Environment:
    """The environment of page templates: texts are in the language of now, and values are escaped.

    Invisible characters of values are written out.
    """
    environment = Environment(
        loader=loader,
        autoescape=True,  # always, whatever the file extension is
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.extend(newstyle_gettext=True)  # before the extension, which would set it to False
    environment.add_extension("jinja2.ext.i18n")
    # Not Jinja's own functions, which would not show invisible characters of the values in a text.
    environment.globals.update(_=gettext, gettext=gettext, ngettext=ngettext, severity_words=SEVERITY_WORDS)
    environment.filters |= {"number": number, "t": translated, "refusal": translated_refusal, "words": _visible_words}
    return environment


@cache
def _environment() -> Environment:
    environment = environment_of(PackageLoader(PACKAGE))
    environment.globals.update(kind_words=KIND_WORDS, most_commands=COMMANDS)
    environment.filters |= {"lower_first": lower_first, "breakable": _breakable}
    return environment


def _breakable(name: str) -> Markup:
    """A name that a browser breaks after ``_``, ``.``, ``$`` and ``-`` where it is too long for its column."""
    return Markup("<wbr>").join(re.split(r"(?<=[_.$-])(?=.)", visible(name)))


def _visible_words(text: str) -> str:
    """A text in the language of now, for an attribute or within another text: the whole may be mark-up."""
    return visible(words(text))


def _filters(owners: int) -> Markup:
    """Rules that show one owner's causes and groups alone, as the reader chooses; 0 are those of nobody."""
    if not owners:
        return Markup()
    shown = Markup("body:has(#only-{0}:checked) .owned:not(.of-{0}) {{ display: none; }}\n")
    return Markup().join(shown.format(number) for number in range(owners + 1))


@cache
def _style() -> Markup:
    return Markup("\n" + files(PACKAGE).joinpath("templates", STYLE).read_text("utf-8"))  # noqa: S704  # our own file
