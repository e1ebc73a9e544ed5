# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""
usage: schemas.py SCHEMAS FILE...

Check each FILE, COMMAND.ANYTHING, against SCHEMAS/COMMAND.json; and the schemas:
no object of theirs takes keys that it does not name
"""

import json
import os
import sys

from jsonschema import Draft202012Validator


def closed(schema, path=""):
    """Places where a key without a schema would pass."""
    if isinstance(schema, list):
        for i, part in enumerate(schema):
            yield from closed(part, f"{path}/{i}")
    elif isinstance(schema, dict):
        if "properties" in schema and schema.get("additionalProperties") is not False:
            yield path
        for key, part in schema.items():
            yield from closed(part, f"{path}/{key}")


def load(schemas, name):
    with open(os.path.join(schemas, name + ".json")) as file:
        return json.load(file)


def resolved(schemas, part, root):
    """The same without references: "#/..." and "urn:dateline:COMMAND:1#/..."."""
    if isinstance(part, list):
        return [resolved(schemas, item, root) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        urn, path = part["$ref"].split("#/")
        root = load(schemas, urn.split(":")[2]) if urn else root
        part = root
        for key in path.split("/"):
            part = part[int(key) if isinstance(part, list) else key]
        return resolved(schemas, part, root)
    return {key: resolved(schemas, item, root) for key, item in part.items()}


def keys(schema, path=""):
    """Every key that a schema names, by its path."""
    for part in schema.get("oneOf", []):
        yield from keys(part, path)
    if "items" in schema:
        yield from keys(schema["items"], path + "/*")
    for key, part in schema.get("properties", {}).items():
        yield f"{path}/{key}"
        yield from keys(part, f"{path}/{key}")


def present(document, path=""):
    """Every key of a document, in the same way."""
    if isinstance(document, list):
        for item in document:
            yield from present(item, path + "/*")
    elif isinstance(document, dict):
        for key, item in document.items():
            yield f"{path}/{key}"
            yield from present(item, f"{path}/{key}")


def main(schemas, *files):
    validators, bad, seen = {}, 0, {}
    whole = files[0] == "--whole"

    for name in files[whole:]:
        command = os.path.basename(name).split(".")[0]
        if command not in validators:
            schema = load(schemas, command)
            Draft202012Validator.check_schema(schema)
            for place in closed(schema):
                print(f"{command}.json{place}: takes keys that it does not name")
                bad += 1
            validators[command] = Draft202012Validator(resolved(schemas, schema, schema))
        with open(name) as file:
            document = json.load(file)
        seen.setdefault(command, set()).update(present(document))
        for error in list(validators[command].iter_errors(document))[:5]:
            where = "/".join(map(str, error.absolute_path))
            print(f"{name}: {where}: {error.message[:300]}")
            bad += 1
    for command in seen if whole else ():
        for key in sorted({*keys(validators[command].schema)} - seen[command]):
            print(f"{command}.json: no document has {key}")
            bad += 1
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
