"""Checks the rules of the envelope: JSON Schemas, and rules that not every validator of schemas can check (envelope-schema/fixtures/README.md)."""

import datetime
import json
import os
import pathlib
import re

from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource

HERE = pathlib.Path(__file__).resolve().parent
SCHEMAS = pathlib.Path(os.environ.get("SCHEMAS", HERE / "../../../envelope-schema/schemas"))
BASE = "https://orderflow.example/schemas/"
MAX_LEVELS = 64

_schemas = [json.loads(path.read_text("utf-8")) for path in SCHEMAS.rglob("*.json")]
_registry = Registry().with_resources((schema["$id"], Resource.from_contents(schema)) for schema in _schemas)
_formats = FormatChecker(formats=())


@_formats.checks("date", raises=ValueError)
def _is_day(value: object) -> bool:
    return not isinstance(value, str) or (re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value) is not None and _is_date(value))


@_formats.checks("date-time", raises=ValueError)
def _is_date(value: object) -> bool:
    """Checks that the day exists. The pattern in the schema checks the rest."""
    return not isinstance(value, str) or datetime.date.fromisoformat(value[:10]) is not None


def _validator(schema_id: str) -> Draft202012Validator:
    return Draft202012Validator(_registry.contents(schema_id), registry=_registry, format_checker=_formats)


_envelopes = {variant: _validator(f"{BASE}envelope.{variant}.json") for variant in ("full", "received")}
_payloads: dict[str, dict[int, Draft202012Validator]] = {}
for _schema in _schemas:
    _event = re.fullmatch(BASE + r"events/(\w+)\.(\d+)\.json", _schema["$id"])
    if _event:
        _payloads.setdefault(_event[1], {})[int(_event[2])] = _validator(_schema["$id"])


def check(value: bytes, variant: str = "received") -> tuple[str, list[str]]:
    """Returns the code of the first broken rule, or "ok", and the JSON pointers of all problems."""
    try:
        text = value.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "not-utf8", [""]
    if _levels(text) > MAX_LEVELS:
        return "not-an-envelope", [""]
    try:
        document = json.loads(text, parse_int=float, parse_constant=_refuse)
    except ValueError:
        return "not-json", [""]
    wrong = set(_beyond_limits(document))
    is_object = isinstance(document, dict)
    if is_object and "specversion" in document and "Payload" not in document:
        wrong.add("")  # a CloudEvent around an envelope
    elif is_object and document.keys() == {"schema", "payload"}:
        wrong.add("")  # a record of Kafka Connect around an envelope
    else:
        wrong |= set(_problems(_envelopes[variant], document))
    code, in_payload = _check_payload(document) if is_object else ("ok", [])
    return ("not-an-envelope" if wrong else code), sorted(wrong.union(in_payload))


def _check_payload(document: dict) -> tuple[str, list[str]]:
    name, version = document.get("Name"), document.get("Version")
    if not isinstance(name, str):
        return "ok", []
    if name not in _payloads:
        return "unknown-event", ["/Name"]
    validator = _payloads[name].get(version) if isinstance(version, float) else None
    if validator is None:
        return "unknown-version", ["/Version"]
    pointers = list(_problems(validator, document.get("Payload"), "/Payload"))
    return ("invalid-payload" if pointers else "ok"), pointers


def _problems(validator: Draft202012Validator, document: object, base: str = ""):
    for error in validator.iter_errors(document):
        pointer = base + "".join(f"/{key}" for key in error.absolute_path)
        if error.validator == "required":
            yield from (f"{pointer}/{field}" for field in error.validator_value if field not in error.instance)
        else:
            yield pointer


def _refuse(constant: str):
    raise ValueError(f"{constant} is no JSON")


def _levels(text: str) -> int:
    """Returns the depth of nested objects and lists. Uses no parser, because parsers have other limits for the depth."""
    deepest = level = 0
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', text, re.DOTALL):
        if token[0] in "[{":
            level += 1
            deepest = max(deepest, level)
        elif token[0] in "]}":
            level -= 1
    return deepest


def _beyond_limits(document: object):
    """Returns the pointers of numbers too large for a double, and of texts and keys with U+0000 or a lone surrogate."""
    waiting = [((), document)]
    while waiting:
        path, value = waiting.pop()
        if (isinstance(value, str) and _not_portable(value)) or value in (float("inf"), float("-inf")):
            yield _pointer(path)
        children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, child in children:
            if isinstance(key, str) and _not_portable(key):
                yield _pointer(path)
            waiting.append(((*path, str(key)), child))


def _not_portable(text: str) -> bool:
    return re.search("[\0\ud800-\udfff]", text) is not None


def _pointer(path: tuple) -> str:
    """Returns a pointer with at most two parts. The pointer ends before a key that cannot be a field name."""
    pointer = ""
    for key in path[:2]:
        if not re.fullmatch(r"[A-Za-z0-9_]{1,64}", key):
            break
        pointer += f"/{key}"
    return pointer
