"""The Chinese catalogue: every text of the sources, none that is no more, and each with its figures."""

import re
from collections import Counter

from rocketmq_capacity.language.catalogue import read_catalogue
from tests.language.written import FILE, LANGUAGE, untranslated, written

PLACES = re.compile(r"%\(\w+\)s|\{[^{}|]*\}")
HALF_WIDTH = re.compile("[\u4e00-\u9fff][,;:!?]|[,;!?][\u4e00-\u9fff]")


def messages():
    return [message for message in read_catalogue(LANGUAGE) if message.id]


def texts(message):
    """The English text, of one and of several, and the Chinese one."""
    english = [message.id] if isinstance(message.id, str) else list(message.id)
    return english, message.string if isinstance(message.id, str) else message.string[0]


def test_the_catalogue_has_the_texts_of_the_sources_and_no_others():
    assert FILE.read_bytes() == written(), "a text has changed: python -m tests.language, then translate what it lists"


def test_every_text_has_a_translation():
    assert [message.id for message in untranslated()] == []


def test_a_translation_has_the_places_of_its_text_each_once():
    for message in messages():
        english, chinese = texts(message)
        places = Counter(PLACES.findall(chinese))
        assert set(places) == {place for text in english for place in PLACES.findall(text)}, message.id
        assert max(places.values(), default=1) == 1 or Counter(PLACES.findall(english[0])) == places, message.id


def test_mark_up_stays_in_a_translation():
    for message in messages():
        english, chinese = texts(message)
        tags = {tuple(sorted(re.findall(r"</?\w+", text))) for text in english}
        assert tuple(sorted(re.findall(r"</?\w+", chinese))) in tags, message.id


def test_chinese_texts_have_chinese_punctuation():
    wrong = [chinese for message in messages() if HALF_WIDTH.search(chinese := texts(message)[1])]
    assert wrong == []


def test_a_percent_sign_of_a_template_is_written_twice():
    for message in messages():
        english, chinese = texts(message)
        if "%(" in english[0]:
            assert not re.search(r"%(?![%(])", chinese.replace("%%", "")), message.id
