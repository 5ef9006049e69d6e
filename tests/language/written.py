"""The catalogue as the sources ask for it: every text of the page, with the translations that exist.

``python -m tests.language`` writes it. A new text comes without a translation, and a text that is no more is dropped.
"""

from collections.abc import Iterator
from io import BytesIO
from typing import Final

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import write_po

from rocketmq_capacity.language.catalogue import BESIDE_PLANS, DOMAIN, FOLDER, IN_BOTH, PHRASE, read_catalogue
from rocketmq_capacity.vocabulary import Language
from tests.language.errors import texts_beside_plans
from tests.language.extraction import PACKAGE, PAGES, counted_figures, fields_of_changes, labels, texts_of_code

LANGUAGE: Final[Language] = "zh-CN"
FILE: Final = PACKAGE / FOLDER / "zh_CN" / "LC_MESSAGES" / f"{DOMAIN}.po"
TEMPLATES: Final = {"report": PACKAGE / "report" / "templates", "plugins": PAGES / "templates"}
"""By the beginning of the place that the catalogue has for their texts."""
OF_TEMPLATES: Final = {"newstyle_gettext": "true"}

Id = str | tuple[str, str]


def wanted() -> dict[Id, list[str]]:
    """Every text, or text and plural, with the files that have it."""
    found: dict[Id, list[str]] = {}
    for text, file in [*_of_templates(), *_of_code()]:
        files = found.setdefault(text, [])
        if file not in files:
            files.append(file)
    # gettext finds a text in the entry of the same text with a plural, which a file can have only once.
    for text in [text for text in found if not isinstance(text, str)]:
        found[text] += found.pop(text[0], [])
    return found


def written() -> bytes:
    """The file."""
    before = read_catalogue(LANGUAGE)
    made = Catalog(locale="zh_CN", domain=DOMAIN, project="rocketmq-capacity", fuzzy=False, header_comment=HEADER)
    made.creation_date = made.revision_date = before.creation_date
    phrases = texts_of_code().phrases.keys() - {text for text, _ in [*_of_templates(), *_of_sentences()]}
    beside, of_plans = texts_beside_plans(), {text for text, _ in _of_plans()}
    for text, files in wanted().items():
        name = text if isinstance(text, str) else text[0]
        old = before.get(name)
        keeps = old is not None and (old.id if isinstance(old.id, str) else tuple(old.id)) == text
        string = old.string if old is not None and keeps else None
        kinds = [PHRASE] if text in phrases else []
        if name in beside:
            kinds.append(IN_BOTH if text in of_plans else BESIDE_PLANS)
        made.add(
            text,
            string=string,
            locations=[(file, 0) for file in files],
            flags=_flags(text),
            auto_comments=kinds,
        )
    buffer = BytesIO()
    write_po(buffer, made, width=120, include_lineno=False, omit_header=False)
    return buffer.getvalue()


def untranslated() -> list[Message]:
    """The texts of the file without a translation."""
    return [one for one in read_catalogue(LANGUAGE) if one.id and not translation_of(one)]


def translation_of(message: Message) -> str:
    """The translation; Chinese has one form for any number."""
    said = message.string or ""
    return said if isinstance(said, str) else said[0]


def _flags(text: Id) -> list[str]:
    return ["python-brace-format"] if isinstance(text, str) and "{" in text else []


def _of_templates() -> Iterator[tuple[Id, str]]:
    method = [("**.j2", "jinja2.ext:babel_extract")]
    for room, folder in TEMPLATES.items():
        for file, _, text, _, _ in extract_from_dir(folder, method, {"**.j2": OF_TEMPLATES}):
            yield text if isinstance(text, str) else (text[0], text[1]), f"{room}/templates/{file}"


def _of_code() -> Iterator[tuple[Id, str]]:
    yield from _of_plans()
    for text, places in texts_beside_plans().items():
        for place in places:
            yield text, place.partition(":")[0]


def _of_plans() -> Iterator[tuple[Id, str]]:
    """Those of plans and pages."""
    yield from _of_sentences()
    for text, places in texts_of_code().phrases.items():
        for place in places:
            yield text, place.partition(":")[0]


def _of_sentences() -> Iterator[tuple[Id, str]]:
    found = texts_of_code()
    for text, places in found.texts.items():
        for place in places:
            yield text, place.partition(":")[0]
    for noun, places in found.nouns.items():
        for place in places:
            yield noun, place.partition(":")[0]
    for unit in counted_figures():
        yield (unit, f"{unit}s"), "catalogue/evidence.py"
    for text in labels():
        yield text, "catalogue/evidence.py"
    for text in fields_of_changes():
        yield text, "provider/change_form.py"


HEADER: Final = """\
# All texts in Simplified Chinese; English is the source, in the templates and in the code.
# `python -m tests.language` adds new texts and drops old ones; {names} are taken over, {a|b} is left out."""
