"""The sentences of a plan without language: each with its key and figures, as plan.json has them."""

from functools import cache
from typing import Any, Final

import msgspec
from msgspec import Struct

from rocketmq_capacity.language.catalogue import words_of
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.sentence import Sentence

CATALOGUE: Final = "zh-CN"
"""The language whose catalogue has the keys; those of all languages are the same."""
MEMBERS: Final = frozenset({
    "advice",
    "blocks",
    "expect",
    "goes_on",
    "meaning",
    "message",
    "note",
    "notes",
    "provision_reason",
    "reason",
    "shows",
    "stops",
    "title",
    "transition_undecided",
    "undecided",
    "way_back",
    "why",
})
"""Members of a plan that have sentences."""
MOST_UNKNOWN: Final = 500
"""So many texts are looked at in vain: names that look like sentences must not keep a plan waiting."""


def with_sentences(plan: Plan) -> Plan:
    """The plan with its sentences that are known as a whole, in their order, each once."""
    parts_of = words_of(CATALOGUE).sentences.parts
    sentences: dict[str, tuple[Sentence, ...]] = {}
    unknown = 0
    for text in sorted(text for text in _texts(plan) if " " in text):
        parts = parts_of(text) if unknown < MOST_UNKNOWN else None
        if parts is None:
            unknown += 1
        else:
            sentences[text] = parts
    return msgspec.structs.replace(plan, sentences=sentences)


def _texts(plan: Plan) -> set[str]:
    """The texts of all members that have sentences."""
    texts: set[str] = set()
    left: list[Any] = [plan]
    while left:
        part = left.pop()
        if isinstance(part, tuple):
            left += part
        elif isinstance(part, Struct):
            for name in _members(type(part)):
                held = getattr(part, name)
                if name not in MEMBERS:
                    left.append(held)
                elif isinstance(held, str):
                    texts.add(held)
                elif isinstance(held, tuple):
                    texts.update(held)
    return texts


@cache
def _members(kind: type[Struct]) -> tuple[str, ...]:
    """The members of a part of the plan that have sentences, or parts that may have some."""
    fields = msgspec.structs.fields(kind)
    return tuple(
        field.name for field in fields if field.name in MEMBERS or _has_parts(msgspec.inspect.type_info(field.type))
    )


def _has_parts(kind: msgspec.inspect.Type) -> bool:
    match kind:
        case msgspec.inspect.StructType():
            return True
        case msgspec.inspect.VarTupleType(item) | msgspec.inspect.Metadata(item):
            return _has_parts(item)
        case msgspec.inspect.UnionType(types):
            return any(map(_has_parts, types))
    return False
