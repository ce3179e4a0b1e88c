"""The consumer's rule for corrections of `linkd recall`.

Reads records from the standard input in their order, as JSON, one a line. It prints the records whose decisions are to
be applied. A record without a value erases the device or user. A service keeps `last` where it keeps the state of its
devices, and changes both in one transaction.

    linkd inspect -b localhost:9092 --json | python3 config/samples/corrections.py
"""

import json
import sys


def applies(decision, last):
    """Returns True if a decision is to be applied, and remembers it as the last one of its device.

    `last` has the id of the last applied decision of each device.
    """
    device = ("device", decision["device"]) if "device" in decision else ("user", decision["user"])
    superseded = decision.get("supersedes")
    if superseded is not None and last.get(device) != superseded:
        return False
    last[device] = decision["decision"]
    return True


def erase(key, last):
    """Forgets a device or user, so that a correction of an earlier decision does not bring it back."""
    last.pop(("device", key), None)
    last.pop(("user", key), None)


def record(line):
    """Returns the key and the decision of a line, or None in place of the decision."""
    try:
        fields = json.loads(line)
        key, decision = fields.get("key"), fields["value"]
        if decision is None or "decision" in dict(decision):
            return key, decision
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    sys.exit("expected a record with a decision in each line, as `linkd inspect --json` prints them")


def main():
    last = {}
    for line in sys.stdin:
        key, decision = record(line)
        if decision is None:
            erase(key, last)
        elif applies(decision, last):
            print(line, end="")


if __name__ == "__main__":
    main()
