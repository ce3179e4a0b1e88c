"""The consumer's rule for corrections of `linkd recall`.

Reads decisions from the standard input, one JSON object a line in the order of their records, and prints those to
apply. A service keeps `last` where it keeps the state of its devices, and changes both in one transaction.

    linkd inspect -b localhost:9092 -f '%s\n' | python3 config/samples/corrections.py
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


def main():
    last = {}
    for line in sys.stdin:
        if applies(json.loads(line), last):
            sys.stdout.write(line)


if __name__ == "__main__":
    main()
