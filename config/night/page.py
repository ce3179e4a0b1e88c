"""The comparison of the log lines in the article ANightOnCall with the lines of a run."""

import json
import re

ARTICLE = "Sources/DispatchWorker/DispatchWorker.docc/ANightOnCall.md"
BLOCK = re.compile(r"```json\n(.*?)```", re.DOTALL)
WIDTH = 118
EXACT = {"code", "signal", "deaths"}
"""The members whose numbers are compared."""
DIFFERENT = {"lane", "call"}
"""The members that differ between two runs."""


def section(text, title):
    """Returns the begin and the end of the first block of log lines below a heading."""
    heading = text.find(f"\n## {title}\n")
    if heading < 0:
        return None
    end = text.find("\n## ", heading + 1)
    block = BLOCK.search(text, heading, end if end > 0 else len(text))
    return block.span(1) if block else None


def objects(text):
    """Returns the JSON objects of a block, each of which may be in several lines."""
    decoder, found, position = json.JSONDecoder(), [], 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        value, position = decoder.raw_decode(text, position)
        found.append(value)
    return found


def canonical(name, value):
    """Returns a member without what differs between two runs: numbers, ports, times, and hashes."""
    if isinstance(value, list):
        return [canonical(name, item) for item in value]
    if isinstance(value, str):
        # The call that reports an error, and its text, differ between two runs.
        value = re.sub(r" \([a-z_]+: .*\)$", "", value)
        return re.sub(r"[0-9]+", "N", re.sub(r"\+[0-9a-f]{8}", "+HASH", value)) if name != "time" else "T"
    return value if name in EXACT else 0


def canonical_line(line):
    return {name: canonical(name, value) for name, value in line.items() if name not in DIFFERENT}


def presented(run, value):
    """Returns a value with the usual ports instead of the ports of this run."""
    if isinstance(value, list):
        return [presented(run, item) for item in value]
    if not isinstance(value, str):
        return value
    return re.sub(r"(127\.0\.0\.1|localhost):\d+", "broker:9092", value)


def wrapped(run, line):
    """Returns the text of a line of the log, in several lines if it is long."""
    members = [f"{json.dumps(name)}:{json.dumps(presented(run, value), separators=(',', ':'))}"
               for name, value in line.items()]
    rows = ["{" + members[0]]
    for member in members[1:]:
        if len(rows[-1]) + len(member) + 2 > WIDTH:
            rows[-1] += ","
            rows.append(" " + member)
        else:
            rows[-1] += "," + member
    return "\n".join(rows) + "}\n"


def check(root, runs, writes):
    """Compares the lines of each case with the article, or writes them there."""
    article = root / ARTICLE
    text = article.read_text()
    for run in runs:
        if not run.case.is_in_article:
            continue
        span = section(text, run.case.title)
        if run.skipped or not run.expect(span, f"{ARTICLE} has no log lines below `{run.case.title}`"):
            continue
        lines = [line.data for line in sorted(run.shown, key=lambda line: line.time)]
        if writes and not run.failures:
            text = text[:span[0]] + "".join(wrapped(run, line) for line in lines) + text[span[1]:]
            article.write_text(text)
            continue
        expected = [canonical_line(line) for line in objects(text[span[0]:span[1]])]
        seen = [canonical_line({name: presented(run, value) for name, value in line.items()}) for line in lines]
        for index in range(max(len(expected), len(seen))):
            one, other = (items[index] if index < len(items) else None for items in (expected, seen))
            run.expect(one == other, f"line {index + 1} of {ARTICLE} is {one}, but the log has {other}")
