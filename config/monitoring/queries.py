"""Runs every query of the dashboard with a Prometheus, and reads the state of its targets and rules.

Usage: queries.py PROMETHEUS-URL DASHBOARD-FILE
"""

import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

PROMETHEUS, DASHBOARD = sys.argv[1:3]


def get(path, **parameters):
    """Returns the data of a response of the API, or raises an error with its message."""
    url = f"{PROMETHEUS}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
    try:
        with urllib.request.urlopen(url, timeout=10) as response:
            return json.load(response)["data"]
    except urllib.error.HTTPError as error:
        raise ValueError(json.load(error)["error"]) from error


def until(seconds, condition, text):
    """Waits for a condition, or ends the program with a text."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if condition():
                return
        except (OSError, ValueError):
            pass
        time.sleep(0.2)
    sys.exit(f"queries.py: {text}")


def targets_are_up():
    targets = get("targets")["activeTargets"]
    return targets and all(target["health"] == "up" for target in targets)


def rules():
    return [rule for group in get("rules")["groups"] for rule in group["rules"]]


until(30, targets_are_up, "the worker is not scraped")
until(30, lambda: get("query", query="rate(linkd_records_in_total[1m])")["result"], "there are no two scrapes")
until(30, lambda: all(rule["health"] != "unknown" for rule in rules()), "the rules are not evaluated")
failed = [f"rule {rule['name']}: {rule.get('lastError')}" for rule in rules() if rule["health"] != "ok"]
queries = [
    target["expr"]
    for panel in json.load(open(DASHBOARD, encoding="utf-8"))["panels"]
    for target in panel["targets"]
]
empty = []
for query in queries:
    text = query.replace("$instance", ".*").replace("$__rate_interval", "1m")
    try:
        if not get("query", query=text)["result"]:
            empty.append(query)
    except ValueError as error:
        failed.append(f"query {query}: {error}")
for query in empty:
    print(f"no samples at this time: {query}")
print(f"{len(queries)} queries, {len(empty)} without samples, {len(rules())} rules, {len(failed)} failed")
sys.exit("\n".join(failed) or None)
