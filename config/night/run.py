"""A night, and the run of one of its cases: its files, processes, expectations, and result."""

import collections
import json
import mmap
import os
import signal
import subprocess
import sys
import threading
import time

from worker import Worker


class Stopped(Exception):
    """The night was interrupted."""


class Night:
    """The directory and the processes of all cases."""

    def __init__(self, root, work):
        self.root, self.work = root, work
        self.linkd = os.environ["LINKD"]
        self.stopping = threading.Event()
        self.status = 0
        self.processes = []
        self.lock = threading.Lock()

    def can_crash(self):
        """Returns whether the program can be made to crash, which only a debug build can."""
        with open(self.linkd, "rb") as program, mmap.mmap(program.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(b"LINKD_TEST_CRASH_AT") >= 0

    def say(self, text):
        print(f"night: {text}", file=sys.stderr, flush=True)

    def stop(self, status):
        self.status = status
        self.stopping.set()

    def start(self, arguments, is_last=False, **settings):
        """Starts a process, which is ended with the night. The last one of a broker also starts after a stop."""
        with self.lock:
            if self.stopping.is_set() and not is_last:
                raise Stopped
            process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, start_new_session=True, **settings)
            if not is_last:
                self.processes = [other for other in self.processes if other.poll() is None] + [process]
            return process

    def end_processes(self):
        """Ends all processes but those that remove the brokers."""
        with self.lock:
            for process in self.processes:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)

    def sleep(self, seconds):
        if self.stopping.wait(seconds):
            raise Stopped

    def wait(self, condition, seconds):
        """Waits for a condition, and returns its first true value, or None after the time."""
        end = time.monotonic() + seconds
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                return None
            self.sleep(0.05)


class Run:
    """One run of a case."""

    def __init__(self, night, case, broker):
        self.night, self.case, self.broker = night, case, broker
        self.skipped = None
        self.failures, self.notes, self.shown = [], [], []
        self.workers, self.producers = [], []
        self.fault = self.log_seconds = self.metric_seconds = self.exit_code = self.records = None
        self.needs_metric = True
        self.partitions = 0
        self.seconds = 0.0
        self.input = f"{case.name}-events"
        self.output = f"{case.name}-decisions"
        self.group = f"{case.name}-group"
        self.directory = night.work / case.name
        self.directory.mkdir(exist_ok=True)
        # The settings of commands that talk to the broker; a case with a secure broker changes those of its workers.
        self.bootstrap = ["--bootstrap", broker.bootstrap] if broker else []

    # The result.

    @property
    def known(self):
        found = [value for value in (self.log_seconds, self.metric_seconds) if value is not None]
        return min(found, default=None)

    @property
    def state(self):
        if self.skipped:
            return "SKIPPED, NOT PASSED"
        return "FAILED" if self.failures else "passed"

    def document(self):
        return {
            "case": self.case.name, "title": self.case.title, "result": self.state, "skipped": self.skipped,
            "known_seconds": self.known, "log_seconds": self.log_seconds, "metric_seconds": self.metric_seconds,
            "exit_code": self.exit_code, "records": self.records, "seconds": round(self.seconds, 1),
            "failures": self.failures, "notes": self.notes, "lines": [line.data for line in self.shown],
        }

    def fail(self, text):
        self.failures.append(text)

    def expect(self, condition, text):
        if not condition:
            self.fail(text)
        return bool(condition)

    def judge(self, condition, text):
        """Expects something that depends on the end of all transactions.

        Kafka 4.3.1 can end a transaction without its marker, see `Broker.skipped_markers`. Then results are visible
        twice, not visible, or not made, and no worker can prevent it. This is a note, with the line of the broker.
        """
        skipped = [] if condition else self.broker.skipped_markers()
        if not skipped:
            return self.expect(condition, text)
        self.notes.append(f"NOT JUDGED: {text}. The broker ended {len(skipped)} transactions without a marker: "
                          f"{skipped[0]}")
        return False

    def check_known(self, limit):
        if self.known is None:
            self.fail("neither a log line nor a metric shows the failure")
        elif self.known > limit:
            self.fail(f"an operator knows after {self.known:.1f} s, the limit is {limit} s")

    def end(self):
        """Ends the processes of the case."""
        for process in [worker.process for worker in self.workers] + self.producers:
            if process.poll() is None:
                process.kill()
                process.wait()

    # The faults and their signs.

    def break_now(self):
        """Marks the time of the failure."""
        self.fault = time.monotonic()

    def line(self, worker, event, within=15, since=None, shows=True, **members):
        """Waits for a log line after the failure, which the article shows.

        The text of each member contains the expected one.
        """
        since = self.fault if since is None else since
        found = self.night.wait(lambda: worker.find(event, since, members), within)
        wanted = " ".join([event, *(f"{name}={value}" for name, value in members.items())])
        if self.expect(found, f"the log has no line `{wanted}`") and shows:
            self.shown.append(found)
        return found

    def known_by_line(self, worker, event, within=15, since=None, shows=True, **members):
        found = self.line(worker, event, within, since, shows, **members)
        if found:
            self.log_seconds = max(0.0, found.time - self.fault)

    def known_by_metric(self, worker, text, condition, within=15):
        """Waits for a page of metrics after the failure for which the condition holds."""
        found = self.night.wait(lambda: worker.sample(self.fault, condition), within)
        if self.expect(found, f"the metrics never show that {text}"):
            self.metric_seconds = found.time - self.fault

    def health(self, worker, path, status, text="", within=15, since=None):
        """Waits for an answer of `/ping` or `/ready` after the failure."""
        since = self.fault if since is None else since

        def answered(sample):
            answer = sample.ping if path == "/ping" else sample.ready
            return answer[0] == status and text in answer[1]
        found = self.night.wait(lambda: worker.sample(since, answered), within)
        self.expect(found, f"{path} never answers {status} `{text}`, but {worker.last_health()}")

    def alive(self, worker, since, until=None):
        """Checks that `/ping` never advised a restart, that nothing hung, and that the worker did not end."""
        bad = [sample for sample in worker.samples if since <= sample.time <= (until or sample.time)
               and sample.ping[0] != 200]
        self.expect(not bad, f"/ping failed during the outage: {bad[0].ping if bad else ''}")
        for event in ("hung", "exit"):
            self.expect(not worker.find(event, since, {}), f"the log has a line `{event}`")
        self.expect(worker.process.poll() is None, "the worker ended")

    def ends(self, worker, code, within=40):
        """Waits for the worker's end, and checks its exit code."""
        self.night.wait(lambda: worker.process.poll() is not None, within)
        self.exit_code = worker.process.poll()
        self.expect(self.exit_code == code, f"exit code {self.exit_code}, expected {code}: {worker.last_line()}")

    def stop(self, worker, within=40):
        """Stops a worker, which must commit its work and end with code 0."""
        worker.process.terminate()
        self.ends(worker, 0, within)

    # Commands.

    def linkd(self, *arguments, settings=(), checks=True):
        """Runs a command of linkd, and returns its output."""
        with open(self.directory / "commands.log", "ab") as log:
            process = self.night.start([self.night.linkd, *arguments, *(settings or self.bootstrap)],
                                       stdout=subprocess.PIPE, stderr=log, env=self.environment())
        output = process.communicate()[0].decode(errors="replace")
        if checks and process.returncode != 0:
            raise RuntimeError(f"`linkd {' '.join(arguments)}` ended with code {process.returncode}: {output[-300:]}")
        return output

    @staticmethod
    def environment(**more):
        """Returns the environment without the user's settings."""
        plain = {name: value for name, value in os.environ.items()
                 if not name.startswith(("LINKD_", "KAFKA_")) or name == "LINKD_HOME"}
        return dict(plain, **more)

    def topics(self, partitions=4):
        self.partitions = partitions
        self.linkd("topics", "create", "--partitions", str(partitions), "--input", self.input,
                   "--output", self.output)

    def worker(self, *flags, table=None, settings=None, environment=None, waits=True):
        """Starts a worker, and waits until all lanes are ready."""
        table = table or self.night.root / "config/routes/shop.json"
        arguments = [
            self.night.linkd, "worker", *(settings or self.bootstrap), "--input", self.input, "--output", self.output,
            "--group", self.group, "--table", str(table), "--lanes", "2", "--http-listen", "127.0.0.1:0",
            "--log-format", "json", *flags]
        log = self.directory / f"worker-{len(self.workers)}.log"
        worker = Worker(self.night, arguments, self.environment(**(environment or {})), log)
        self.workers.append(worker)
        if waits and not self.night.wait(lambda: worker.count("ready") == 2 or worker.process.poll() is not None, 60):
            raise RuntimeError(f"the worker is not ready: {worker.last_line()}")
        if waits and worker.process.poll() is not None:
            raise RuntimeError(f"the worker did not start: {worker.last_line()}")
        return worker

    def send(self, name, values, rate=0, key="d-1", waits=True, settings=None):
        """Sends lines to the input, all at once or with a number per second."""
        file = self.directory / f"{name}.jsonl"
        file.write_text("".join(value + "\n" for value in values))
        arguments = [self.night.linkd, "produce", str(file), "--topic", self.input, "--json", "--raw", "--key", key]
        if key is None:
            arguments = [*arguments[:-3]]
        if rate:
            arguments += ["--rate", str(rate)]
        with open(self.directory / "commands.log", "ab") as log:
            process = self.night.start([*arguments, *(settings or self.bootstrap)], env=self.environment(),
                                       stdout=log, stderr=log)
        self.producers.append(process)
        if waits:
            self.sent(process)
        return process

    def sent(self, process, within=60):
        """Waits until a producer has sent everything."""
        self.night.wait(lambda: process.poll() is not None, within)
        self.expect(process.poll() == 0, f"`linkd produce` ended with code {process.poll()}")

    # The results in the topics.

    def results(self):
        """Returns the number of results of each event: committed decisions, and dead letters by source."""
        decisions, letters = {}, {}
        for line in self.linkd("inspect", "--topic", self.output, "--json").splitlines():
            value = json.loads(line)["value"]
            decisions.setdefault(value["event"], []).append(value)
        pattern = "%{dlq.reason} %{dlq.source.topic}-%{dlq.source.partition}-%{dlq.source.offset}\n"
        for line in self.linkd("inspect", "--topic", f"{self.input}.dlq", "-f", pattern).splitlines():
            reason, source = line.split(" ", 1)
            letters.setdefault(source, []).append(reason)
        return decisions, letters

    def drained(self, worker, within=60):
        """Waits until the worker owns all partitions and has no lag."""
        def is_done(sample):
            lags = sample.values("linkd_consumer_lag")
            return len(lags) == self.partitions and sum(lags) == 0 and sample.value("linkd_librdkafka_fetchq_cnt") == 0
        since = time.monotonic()
        found = self.night.wait(lambda: worker.sample(since + 2.5, is_done), within)
        self.judge(found, "the lag did not become 0")

    def exactly_once(self, events, letters=0):
        """Checks that every record has one decision, except for those with a dead letter.

        The name of a decision contains the position of its record, so that a record that the producer has sent twice is
        not mistaken for a record that the worker has processed twice.
        """
        decisions, dead = self.results()
        missing = [event for event in events if event not in decisions]
        names = collections.Counter(value["decision"] for values in decisions.values() for value in values)
        doubled = [name for name, count in names.items() if count > 1]
        doubled += [source for source, reasons in dead.items() if len(reasons) > 1]
        sent_twice = sum(len(values) - 1 for values in decisions.values()) - sum(names.values()) + len(names)
        self.records = len(events) + sent_twice
        self.judge(len(missing) == letters, f"{len(missing)} events have no decision, expected {letters}")
        self.judge(len(dead) == letters, f"{len(dead)} dead letters, expected {letters}")
        self.judge(not doubled, f"{len(doubled)} records have two results, such as {doubled[:1]}")
        if sent_twice:
            self.notes.append(f"{sent_twice} events were sent twice by `linkd produce`, and have a decision for each")
        return decisions, dead
