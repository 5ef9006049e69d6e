"""The evidence of a finding from the few figures that a test is about."""

from typing import Any

from msgspec import UNSET, inspect

from rocketmq_capacity.catalogue.rule import rule_of


def whole(rule: str, figures: dict[str, Any]) -> dict[str, Any]:
    """The figures as the rule has them: those that are not given are null, zero or empty.

    No figures stay none, and figures that the rule does not have are those of another version.
    """
    kinds = [kind for kind in rule_of(rule).kinds if figures]
    fits = max(kinds, key=lambda kind: len(figures.keys() & set(kind.__struct_fields__)), default=None)
    return (
        figures
        if fits is None or not figures.keys() <= set(fits.__struct_fields__)
        else _filled(inspect.type_info(fits), figures)
    )


def _filled(kind: inspect.Type, given: Any) -> Any:
    if isinstance(kind, inspect.Metadata):
        return _filled(kind.type, given)
    if isinstance(kind, inspect.UnionType):
        parts = [part for part in kind.types if not isinstance(part, inspect.NoneType)]
        return None if kind.includes_none and given in (UNSET, None) else _filled(parts[0], given)
    if isinstance(kind, inspect.StructType):
        held = {} if given is UNSET else given
        names = {field.encode_name: field.type for field in kind.fields if field.required or field.encode_name in held}
        return {name: _filled(part, held.get(name, UNSET)) for name, part in names.items()} | {
            name: value for name, value in held.items() if name not in names
        }
    if isinstance(kind, inspect.ListType):
        return [] if given is UNSET else [_filled(kind.item_type, part) for part in given]
    if given is not UNSET:
        return given
    if isinstance(kind, inspect.LiteralType):
        return kind.values[0]
    return {inspect.StrType: "", inspect.BoolType: False}.get(type(kind), 0)
