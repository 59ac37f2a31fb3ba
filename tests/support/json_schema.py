"""What in a JSON value doesn't fit a JSON Schema, as far as the schemas that msgspec writes go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_KINDS: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "null": type(None),
}


def misfits(value: object, schema: dict[str, Any]) -> list[str]:
    """A line for each thing in `value` that `schema` doesn't allow."""
    return list(_misfits(value, schema, schema["$defs"], "$"))


def _misfits(value: object, rule: dict[str, Any], known: dict[str, Any], where: str) -> Iterator[str]:
    if "$ref" in rule:
        rule = known[rule["$ref"].rpartition("/")[2]]
    if "anyOf" in rule:
        if all(list(_misfits(value, one, known, where)) for one in rule["anyOf"]):
            yield f"{where}: {value!r} fits nothing"
    elif "enum" in rule:
        if value not in rule["enum"]:
            yield f"{where}: {value!r} is none of {rule['enum']}"
    elif not _is_of(value, rule["type"]):
        yield f"{where}: {value!r} is no {rule['type']}"
    elif isinstance(value, dict):
        yield from _misfits_of_object(value, rule, known, where)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _misfits(item, rule["items"], known, f"{where}[{place}]")


def _is_of(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return kind != "boolean" and isinstance(value, _KINDS[kind])


def _misfits_of_object(
    value: dict[str, object], rule: dict[str, Any], known: dict[str, Any], where: str
) -> Iterator[str]:
    for name in set(rule.get("required", ())) - value.keys():
        yield f"{where}: {name} is missing"
    for name, item in value.items():
        of_item = rule.get("properties", {}).get(name) or rule.get("additionalProperties")
        if not isinstance(of_item, dict):
            yield f"{where}: {name} isn't in the schema"
        else:
            yield from _misfits(item, of_item, known, f"{where}.{name}")
