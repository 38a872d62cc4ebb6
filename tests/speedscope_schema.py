"""What speedscope's file format demands, as a JSON schema, and the rules that a schema cannot say."""

import jsonschema

UNITS = ["none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"]
INDEX = {"type": "integer", "minimum": 0}
SAMPLED = {
    "type": "object",
    "required": ["type", "name", "unit", "startValue", "endValue", "samples", "weights"],
    "additionalProperties": False,
    "properties": {
        "type": {"const": "sampled"},
        "name": {"type": "string"},
        "unit": {"enum": UNITS},
        "startValue": {"type": "number"},
        "endValue": {"type": "number"},
        "samples": {"type": "array", "items": {"type": "array", "items": INDEX}},
        "weights": {"type": "array", "items": {"type": "number"}},
    },
}
FRAME = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {"name": {"type": "string"}, "file": {"type": "string"}, "line": INDEX, "col": INDEX},
}
SCHEMA = {
    "type": "object",
    "required": ["$schema", "shared", "profiles"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"const": "https://www.speedscope.app/file-format-schema.json"},
        "shared": {"type": "object", "required": ["frames"], "properties": {"frames": {"type": "array", "items": FRAME}}},
        "profiles": {"type": "array", "items": SAMPLED},
        "name": {"type": "string"},
        "activeProfileIndex": INDEX,
        "exporter": {"type": "string"},
    },
}


def check(document):
    jsonschema.validate(document, SCHEMA)
    frames = len(document["shared"]["frames"])
    for profile in document["profiles"]:
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] >= profile["startValue"]
        assert abs(sum(profile["weights"]) - (profile["endValue"] - profile["startValue"])) < 1e-6 * (1 + profile["endValue"])
        assert all(index < frames for stack in profile["samples"] for index in stack)
