"""The catalogue of a language: gettext's file, which Babel reads."""

from dataclasses import dataclass
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from io import BytesIO
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from rocketmq_capacity.language.errors import Errors
from rocketmq_capacity.language.sentences import Sentences
from rocketmq_capacity.vocabulary import ENGLISH, Language

DOMAIN: Final = "rocketmq_capacity"
FOLDER: Final = "locale"
"""In the package; below it are the folders as gettext names them."""
PHRASE: Final = "a phrase"
"""The comment of a text that is said with its values where it is made; no sentence of a plan is compared with it."""
BESIDE_PLANS: Final = "beside plans"
"""The comment of a text that only errors, refusals and doctor have."""
IN_BOTH: Final = "in plans and beside them"
"""The comment of one that plans or pages have, too."""

COUNTER: Final = "个"
"""What stands between a number and a noun in Chinese."""


@dataclass(frozen=True, slots=True)
class Words:
    """All texts of a language."""

    language: Language
    texts: NullTranslations
    """Those of templates, by the English text."""
    sentences: Sentences
    """Those that are made of figures and names."""
    errors: Errors
    """Those of errors, refusals and doctor."""


@cache
def words_of(language: Language) -> Words:
    """The texts of a language; English needs no catalogue."""
    if language == ENGLISH:
        nothing = Sentences({}, {})
        return Words(language, NullTranslations(), nothing, Errors({}, nothing.said))
    catalogue = read_catalogue(language)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    sentences: dict[str, str] = {}
    errors: dict[str, str] = {}
    nouns: dict[str, str] = {}
    for message in catalogue:
        if PHRASE in message.auto_comments:
            continue
        said = message.string or ""
        if isinstance(message.id, str):
            if BESIDE_PLANS not in message.auto_comments:
                sentences[message.id] = str(said)
            if {BESIDE_PLANS, IN_BOTH} & {*message.auto_comments}:
                errors[message.id] = str(said)
        else:
            # A noun that a number counts, or a title of one and of several, which begins with a capital letter.
            of = sentences if message.id[0][:1].isupper() else nouns
            of |= dict.fromkeys(message.id, said[0])
            if IN_BOTH in message.auto_comments:
                errors[message.id[0]] = said[0].removeprefix(COUNTER).strip()
    known = Sentences({text: said for text, said in sentences.items() if text and said and "%(" not in text}, nouns)
    beside = Errors({text: said for text, said in errors.items() if said}, known.said)
    return Words(language, GNUTranslations(compiled), known, beside)


def read_catalogue(language: Language) -> Catalog:
    """The catalogue as it is in the package."""
    place = files(__name__.partition(".")[0]).joinpath(FOLDER, language.replace("-", "_"), "LC_MESSAGES")
    return read_po(BytesIO(place.joinpath(f"{DOMAIN}.po").read_bytes()), domain=DOMAIN)
