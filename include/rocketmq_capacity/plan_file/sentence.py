"""A sentence without language: its key, and the figures and names that stand in it."""

from typing import Annotated

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means


class Sentence(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A sentence, or a phrase within one. The key with its figures in their places is the English text."""

    key: Annotated[
        str,
        means(
            "the English text with places such as `{n_queues}`; the catalogue in the package has it, unless"
            " it only joins its places, as `{1}; {2}` does"
        ),
    ]
    figures: Annotated[
        dict[str, str | tuple["Sentence", ...]],
        means(
            "what stands in each place: a number with what it counts, a name or a list of names as a text; "
            "phrases as their sentences"
        ),
    ] = {}
