"""Runs the cases of a night on call with real brokers and workers, and prints how soon an operator knows.

Cases with the same broker run one after another, and some brokers run side by side.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

import cases
import faults  # noqa: F401 (adds its cases)
import matrix
import page
from broker import Broker
from run import Night, Run, Stopped

LIMIT = 10
"""The seconds after which an operator must know of a failure, by a log line or by a metric."""
PARALLEL = 2 * (os.cpu_count() or 1)
"""The number of brokers that run at one time. With more for each processor, times say more about the machine than about
the worker."""


def options():
    parser = argparse.ArgumentParser(prog="config/night/check", description=__doc__.split("\n")[0])
    parser.add_argument("--case", action="append", metavar="NAME", help="run this case only; can be repeated")
    parser.add_argument("--list", action="store_true", help="print the cases and end")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--keep", action="store_true", help="keep the directory with the logs")
    parser.add_argument("--long", action="store_true", help="run the cases that take minutes too")
    parser.add_argument("--matrix", metavar="FILE",
                        help="run the cases with each version of librdkafka, and write the page of the fault matrix")
    parser.add_argument("--write-page", action="store_true", help="write the lines that were seen to the page")
    return parser.parse_args()


def libraries(night, is_matrix):
    """Returns the directories of the versions of librdkafka, and None for the version of the system."""
    newer = pathlib.Path(os.environ["NIGHT_BROKER"]).parent / "librdkafka-2.16"
    if is_matrix and not newer.is_dir():
        night.say(f"skipped, not passed: {newer} does not exist")
    return [None, newer] if is_matrix and newer.is_dir() else [None]


def chosen(names, is_long):
    known = {case.name: case for case in cases.ALL}
    for name in names or []:
        if name not in known:
            sys.exit(f"night: no case is named `{name}`. Next: use one of {', '.join(known)}")
    return [known[name] for name in names] if names else [
        case for case in cases.ALL if is_long or not case.is_long]


def perform(night, case, broker):
    """Runs a case, and records its failures in the result."""
    run = Run(night, case, broker)
    if case.name == "poison" and not night.can_crash():
        return skip(night, run, f"{night.linkd} is no debug build, and cannot be made to crash")
    began = time.monotonic()
    try:
        case.function(run)
        run.measure_recovery()
        if case.is_in_article:
            run.check_known(LIMIT)
    except Stopped:
        run.fail("interrupted")
    except Exception as error:  # A defect of one case must not hide the results of the others.
        run.fail(f"{type(error).__name__}: {error}")
    finally:
        run.end()
    run.seconds = time.monotonic() - began
    night.say(f"{case.name}: {run.state} in {run.seconds:.0f} s")
    return run


def skip(night, run, reason):
    run.skipped = reason
    run.notes.append(reason)
    night.say(f"{run.case.name}: {run.state}: {reason}")
    return run


def perform_group(night, kind, group, runs):
    """Runs the cases of one broker in order."""
    reason = Broker.missing(kind)
    if reason:
        runs += [skip(night, Run(night, case, None), reason) for case in group]
        return
    if night.stopping.is_set():
        return
    broker = Broker(night, kind)
    try:
        broker.start()
        for case in group:
            if night.stopping.is_set():
                return
            runs.append(perform(night, case, broker))
    except Exception as error:
        for case in group[len([run for run in runs if run.case in group]):]:
            run = Run(night, case, None)
            run.fail(f"no broker: {error}")
            runs.append(run)
    finally:
        broker.clean()


def perform_all(night, selected):
    """Runs all cases, those of brokers with many cases first, because they take longest."""
    runs = []
    groups = {}
    for case in selected:
        groups.setdefault(case.broker, []).append(case)
    with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
        performed = [pool.submit(perform_group, night, kind, group, runs)
                     for kind, group in sorted(groups.items(), key=lambda item: -len(item[1]))]
        while not all(future.done() for future in performed):
            if night.stopping.is_set():
                night.end_processes()
            time.sleep(0.2)
        for future in performed:
            future.result()
    return sorted(runs, key=lambda run: cases.ALL.index(run.case))


def perform_each(night, selected, versions):
    """Runs all cases with each version of librdkafka, one after the other."""
    runs, work = [], night.work
    for number, library in enumerate(versions):
        if not night.stopping.is_set():
            # The directories of a version's cases are its own: brokers and states of the other one are not met again.
            night.library, night.work = library, work / str(number)
            night.work.mkdir()
            runs += perform_all(night, selected)
    return sorted(runs, key=lambda run: cases.ALL.index(run.case))


def row(name, log, metric, known, code, records, state):
    return f"{name:<18} {log:>7} {metric:>7} {known:>7}  {code:>5}  {records:>8}  {state}"


def table(runs):
    """Returns the table of the results, one row for each case."""
    def seconds(value):
        return "-" if value is None else f"{value:.1f} s"
    lines = [row("case", "log", "metric", "known", "exit", "records", "result")]
    for run in runs:
        code = "-" if run.exit_code is None else str(run.exit_code)
        lines.append(row(run.case.name, seconds(run.log_seconds), seconds(run.metric_seconds), seconds(run.known),
                         code, str(run.records or "-"), run.state))
    for run in runs:
        lines += [f"{run.case.name}: {failure}" for failure in run.failures]
        lines += [f"{run.case.name}: {note}" for note in run.notes]
    return "\n".join(lines)


def main():
    arguments = options()
    if arguments.list:
        for case in cases.ALL:
            print(f"{case.name:<18} {case.title}")
        return 0
    selected = chosen(arguments.case, arguments.long)
    work = pathlib.Path(tempfile.mkdtemp(prefix="linkd-night."))
    night = Night(pathlib.Path(os.environ["NIGHT_ROOT"]), work)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: night.stop(128 + number))
    try:
        runs = perform_each(night, selected, libraries(night, arguments.matrix))
    finally:
        night.end_processes()
        if arguments.keep:
            night.say(f"the logs are in {work}")
        else:
            shutil.rmtree(work, ignore_errors=True)
    if not night.stopping.is_set():
        if arguments.matrix:
            matrix.write(night, pathlib.Path(os.environ["NIGHT_BROKER"]), runs, arguments.matrix)
        else:
            page.check(night.root, runs, writes=arguments.write_page)
    if arguments.json:
        print(json.dumps({"limit_seconds": LIMIT, "cases": [run.document() for run in runs]}, indent=2))
    else:
        print(table(runs))
    if night.stopping.is_set():
        return night.status
    return 1 if any(run.failures for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
