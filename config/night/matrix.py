"""The page of the fault matrix: the counted results of each fault, with each version of librdkafka."""

import datetime
import re
import subprocess

TEXT = """# The fault matrix

Faults of brokers, workers, and operators, and the results that were counted after each of them.

## Overview

`config/night/check --matrix FILE` writes this page, with `--long` also outages of 80 s and of 10 minutes, and with
`--case` a part of it. It causes each fault with real brokers and real worker processes, once with each version of
librdkafka, while records arrive. Then it reads the input, the committed decisions, and the committed dead letters, and
counts:

- **Lost**: records without a decision and without a dead letter.
- **Doubled**: records with two results.
- **Out of order**: decisions of a device that follow one of a later record.
- **Recovers**: the time from the end of the fault until a worker has committed records again. A fault without an end of
  its own, such as a second worker with the same name, ends when it begins.

The guarantee is exactly-once. Kafka {kafka}, linkd {linkd}, {date}.

## Results

| Fault | librdkafka | Runs | Records | Lost | Doubled | Out of order | Recovers |
|---|---|---|---|---|---|---|---|
{rows}

{remarks}See <doc:ANightOnCall> for the signs of the faults, and what to do.
"""


def cell(value):
    return "-" if value is None else f"{value:,}"


def row(runs):
    """Returns the row of the runs of one fault with one version."""
    def total(values):
        known = [value for value in values if value is not None]
        return sum(known) if known else None
    seconds = [run.recovered_seconds for run in runs if run.recovered_seconds is not None]
    recovers = f"{max(seconds):.1f} s" if seconds else "-"
    cells = [runs[0].case.title, runs[0].version or "-", str(len(runs)), cell(total(run.records for run in runs)),
             cell(total(run.lost for run in runs)), cell(total(run.doubled for run in runs)),
             cell(total(run.disordered for run in runs)), recovers]
    return "| " + " | ".join(cells) + " |"


def remarks(runs):
    """Returns what is not in the table: failed and skipped cases, and those that Kafka itself has broken."""
    lines = []
    for run in runs:
        name = f"{run.case.title}, librdkafka {run.version or '-'}"
        lines += [f"- {name}: FAILED: {failure}" for failure in run.failures]
        lines += [f"- {name}: {note}" for note in run.notes if note.startswith("NOT JUDGED") or "restarted" in note]
        if run.skipped:
            lines.append(f"- {name}: {run.state}: {run.skipped}")
    # Paths and ports differ between two runs.
    return "\n".join(re.sub(r"\s+", " ", line) for line in lines) + ("\n\n" if lines else "")


def write(night, broker, runs, file):
    """Writes the page."""
    groups = {}
    for run in runs:
        if not run.skipped:
            groups.setdefault((run.case.name, run.version), []).append(run)
    version = subprocess.run([night.linkd, "--version"], capture_output=True, text=True, check=True).stdout.split()
    jars = (broker.parent / "libs").glob("kafka-clients-*.jar")
    kafka = next((jar.stem.removeprefix("kafka-clients-") for jar in jars), "-")
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    with open(file, "w", encoding="utf-8") as page:
        page.write(TEXT.format(
            kafka=kafka, linkd=version[1] if len(version) > 1 else version[0], date=today,
            rows="\n".join(row(group) for group in groups.values()), remarks=remarks(runs)))
