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

from rocketmq_capacity.language.sentences import Sentences
from rocketmq_capacity.vocabulary import ENGLISH, Language

DOMAIN: Final = "rocketmq_capacity"
FOLDER: Final = "locale"
"""In the package; below it are the folders as gettext names them."""
PHRASE: Final = "a phrase"
"""The comment of a text that is said with its values where it is made; no sentence of a plan is compared with it."""


@dataclass(frozen=True, slots=True)
class Words:
    """All texts of a language."""

    language: Language
    texts: NullTranslations
    """Those of templates, by the English text."""
    sentences: Sentences
    """Those that are made of figures and names."""


@cache
def words_of(language: Language) -> Words:
    """The texts of a language; English needs no catalogue."""
    if language == ENGLISH:
        return Words(language, NullTranslations(), Sentences({}, {}))
    catalogue = read_catalogue(language)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    sentences: dict[str, str] = {}
    nouns: dict[str, str] = {}
    for message in catalogue:
        if PHRASE in message.auto_comments:
            continue
        said = message.string or ""
        if isinstance(message.id, str):
            sentences[message.id] = str(said)
        else:
            # A noun that a number counts, or a title of one and of several, which begins with a capital letter.
            of = sentences if message.id[0][:1].isupper() else nouns
            of |= dict.fromkeys(message.id, said[0])
    known = {text: said for text, said in sentences.items() if text and said and "%(" not in text}
    return Words(language, GNUTranslations(compiled), Sentences(known, nouns))


def read_catalogue(language: Language) -> Catalog:
    """The catalogue as it is in the package."""
    place = files(__name__.partition(".")[0]).joinpath(FOLDER, language.replace("-", "_"), "LC_MESSAGES")
    return read_po(BytesIO(place.joinpath(f"{DOMAIN}.po").read_bytes()), domain=DOMAIN)
