r"""The consumer's rule for corrections of `linkd recall`.

Reads records from the standard input in their order, one a line: the key, a tab, and the decision as JSON, or nothing
for a null record, which erases the device or user. It prints the decisions to apply. A service keeps `last` where it
keeps the state of its devices, and changes both in one transaction.

    linkd inspect -b localhost:9092 -f '%k\t%s\n' | python3 config/samples/corrections.py
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
    """Returns the key and the text of a line."""
    key, tab, text = line.rstrip("\n").partition("\t")
    if not tab:
        sys.exit(r"expected a key, a tab, and a decision, as `linkd inspect -f '%k\t%s\n'` prints them")
    return key, text


def main():
    last = {}
    for line in sys.stdin:
        key, text = record(line)
        if not text:
            erase(key, last)
        elif applies(json.loads(text), last):
            print(text)


if __name__ == "__main__":
    main()
