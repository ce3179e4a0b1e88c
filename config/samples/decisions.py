"""A consumer of decisions in Python.

Reads records as corrections.py does, checks each decision with the schema of its table, and prints what to do for the
device. A service also keeps `last` where it keeps the state of its devices, and changes both in one transaction.

    linkd routes export config/routes/shop.json --format json-schema > shop.schema.json
    linkd inspect -b localhost:9092 --json | python3 config/samples/decisions.py shop.schema.json
"""

import json
import sys

from corrections import applies, erase, record
from jsonschema import Draft202012Validator


def entry(one):
    models = one.get("data", {})
    fields = [f"{model}.{field}" for model in models for field in models[model]]
    return f"{one['coordinator']}/{one['screen']}({','.join(fields)})"


def action(decision):
    outcome = decision["outcome"]
    if outcome in ("navigate", "deferred"):
        wait = " until " + decision["guard"] if outcome == "deferred" else ""
        return decision["mode"] + wait + " " + " > ".join(map(entry, decision["stack"]))
    if outcome == "external":
        return "open " + decision["url"]
    # A reason that is unknown here counts like the outcome.
    return decision["reason"]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        validator = Draft202012Validator(json.load(file))
    last = {}
    for number, line in enumerate(sys.stdin, 1):
        key, decision = record(line)
        if decision is None:
            erase(key, last)
            continue
        error = next(validator.iter_errors(decision), None)
        if error is not None:
            sys.exit(f"line {number}: {error.json_path} is not as in the schema: was the table changed?")
        if applies(decision, last):
            device = json.dumps(decision.get("device") or decision.get("user"), ensure_ascii=False)
            print(device, decision["outcome"], action(decision).strip(), sep="\t")


if __name__ == "__main__":
    main()
