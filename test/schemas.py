# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""
usage: schemas.py SCHEMAS FILE...

Check each FILE, COMMAND.ANYTHING, against SCHEMAS/COMMAND.json; and the schemas:
no object of theirs takes keys that it does not name.
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


def main(schemas, *files):
    validators, bad = {}, 0

    for name in files:
        command = os.path.basename(name).split(".")[0]
        if command not in validators:
            with open(os.path.join(schemas, command + ".json")) as file:
                schema = json.load(file)
            Draft202012Validator.check_schema(schema)
            for place in closed(schema):
                print(f"{command}.json{place}: takes keys that it does not name")
                bad += 1
            validators[command] = Draft202012Validator(schema)
        with open(name) as file:
            document = json.load(file)
        for error in list(validators[command].iter_errors(document))[:5]:
            where = "/".join(map(str, error.absolute_path))
            print(f"{name}: {where}: {error.message[:300]}")
            bad += 1
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
