"""A night, and the run of one of its cases: its files, processes, expectations, and result."""

import collections
import json
import mmap
import os
import re
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
        self.library = None
        """The directory of the librdkafka that workers use, or None for the system's."""
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
        self.lost = self.doubled = self.disordered = self.mended_at = self.recovered_seconds = self.version = None
        self.partitions = 0
        self.seconds = 0.0
        self.input = f"{case.name}-events"
        self.output = f"{case.name}-decisions"
        self.group = f"{case.name}-group"
        self.directory = night.work / case.name
        self.directory.mkdir(exist_ok=True)
        # The settings of commands that talk to the broker; a case with a secure broker changes the settings of its
        # workers.
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
            "exit_code": self.exit_code, "records": self.records, "lost": self.lost, "doubled": self.doubled,
            "out_of_order": self.disordered, "recovered_seconds": self.recovered_seconds,
            "librdkafka": self.version, "seconds": round(self.seconds, 1),
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

    def measure_recovery(self):
        """Measures the time from the end of the failure until a worker has committed records again.

        Without an end of its own, the failure ends when it begins.
        """
        since = self.mended_at or self.fault
        if since is None:
            return
        times = [time for time in (worker.next_commit(since) for worker in self.workers) if time is not None]
        self.recovered_seconds = round(min(times) - since, 1) if times else None

    def end(self):
        """Ends the processes of the case."""
        for process in [worker.process for worker in self.workers] + self.producers:
            if process.poll() is None:
                process.kill()
                process.wait()
        for worker in self.workers:
            worker.samples.clear()

    # The faults and their signs.

    def break_now(self):
        """Marks the time of the failure."""
        self.fault = time.monotonic()

    def mended(self):
        """Marks the end of the failure, and returns its time."""
        self.mended_at = time.monotonic()
        return self.mended_at

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

    def stop_process(self, worker):
        """Stops the process of a worker like a machine that is suspended, until it is continued."""
        worker.process.send_signal(signal.SIGSTOP)

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
        library = {"LD_LIBRARY_PATH": str(self.night.library)} if self.night.library else {}
        worker = Worker(self.night, arguments, self.environment(**library, **(environment or {})), log)
        self.workers.append(worker)
        self.night.wait(lambda: worker.find("start", 0, {}) or worker.process.poll() is not None, 20)
        started = worker.find("start", 0, {})
        self.version = started.data["librdkafka"] if started else self.version
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
        output = (self.directory / "commands.log").read_text(errors="replace")[-300:]
        self.expect(process.poll() == 0, f"`linkd produce` ended with code {process.poll()}: {output}")

    def sent_again(self, process, lines, within=60):
        """Waits until a producer has ended, and sends the lines again that are not stored, as it advises.

        A broker whose disk is full can refuse records for good before it ends, or fail after it has stored them.
        """
        self.night.wait(lambda: process.poll() is not None, within)
        if process.poll() != 1:
            return self.sent(process, within=0)
        log = (self.directory / "commands.log").read_text(errors="replace").splitlines()
        summary = json.loads([line for line in log if line.startswith('{"read":')][-1])
        refused, possible = ([lines[number - 1] for first, last in summary[f"{name}_stored_entries"]
                              for number in range(first, last + 1)] for name in ("not", "possibly"))
        self.expect(len(refused) == summary["failed"] and len(possible) == summary["possibly_stored"],
                    f"`linkd produce` lists {len(refused)} and {len(possible)} lines: {summary}")
        counted = re.compile(rf"UNKNOWN {len(possible)}\b")
        self.expect(not possible or any(counted.search(line) for line in log),
                    f"`linkd produce` does not know what was stored: {summary}")
        values = self.linkd("inspect", "--topic", self.input, "-f", "%s\n").splitlines()
        stored = {json.loads(value)["id"] for value in values}
        false = [line for line in refused if json.loads(line)["id"] in stored]
        self.expect(not false, f"`linkd produce` lists {len(false)} lines as not stored that are stored")
        missing = [line for line in possible if json.loads(line)["id"] not in stored]
        self.notes.append(f"the broker refused {len(refused)} events, and has stored {len(possible) - len(missing)} of "
                          f"{len(possible)} others without saying so")
        if refused or missing:
            self.send("again", refused + missing, key=None)

    # The results in the topics.

    def results(self, repeats_names=False):
        """Returns the number of results of each event: committed decisions, and dead letters by source."""
        decisions, letters, made = {}, {}, []
        for line in self.linkd("inspect", "--topic", self.output, "--json").splitlines():
            record = json.loads(line)
            value = record["value"]
            decisions.setdefault(value["event"], []).append(value)
            made.append((record["partition"], record["offset"], record["key"], value["decision"], value["event"]))
        self.disordered = self.count_disordered(made, repeats_names)
        pattern = "%{dlq.reason} %{dlq.source.topic}-%{dlq.source.partition}-%{dlq.source.offset}\n"
        for line in self.linkd("inspect", "--topic", f"{self.input}.dlq", "-f", pattern).splitlines():
            reason, source = line.split(" ", 1)
            letters.setdefault(source, []).append(reason)
        return decisions, letters

    def count_lost(self, names, letters):
        """Returns the number of records in the input without a decision and without a dead letter."""
        places = {name.rsplit("-", 1)[0] for name, _ in names} | set(letters)
        records = self.linkd("inspect", "--topic", self.input, "-f", "%t-%p-%o\n").split()
        return sum(record not in places for record in records)

    @staticmethod
    def count_disordered(made, repeats_names):
        """Returns the number of decisions after one of the same device whose record is later in its partition.

        If names repeat, the number of the event is compared in place of the offset of its record.
        """
        count, last = 0, {}
        for _, _, device, name, event in sorted(made):
            # The name ends with the partition and the offset of the record, and with a number.
            _, partition, offset, _ = name.rsplit("-", 3)
            place = int(event.rsplit("-", 1)[1] if repeats_names else offset)
            before = last.get((device, partition), -1)
            count += place < before
            last[device, partition] = max(before, place)
        return count

    def drained(self, *workers, within=60):
        """Waits until the workers own all partitions and have no lag."""
        def lags(since):
            samples = [worker.sample(since, lambda sample: True) for worker in workers]
            if not all(samples) or any(sample.value("linkd_librdkafka_fetchq_cnt") for sample in samples):
                return None
            return [lag for sample in samples for lag in sample.values("linkd_consumer_lag")]

        def is_done():
            values = lags(time.monotonic() - 1.5)
            return values is not None and len(values) == self.partitions and sum(values) == 0
        self.night.sleep(2.5)
        self.judge(self.night.wait(is_done, within), "the lag did not become 0")

    def committed(self, worker, count, within=60):
        """Waits until a worker has committed this number of decisions."""
        found = self.night.wait(
            lambda: worker.sample(0, lambda sample: sample.value("linkd_records_out_total") >= count), within)
        self.expect(found, f"the worker has not committed {count} decisions")

    def exactly_once(self, events, letters=0, others=0, repeats_names=False):
        """Checks that every record has one decision, except for those with a dead letter.

        `others` is the number of records that are no events, which have a dead letter each.

        The name of a decision contains the position of its record, so that a record that the producer has sent twice is
        not mistaken for a record that the worker has processed twice. After a recreation of the topic, names repeat.
        """
        decisions, dead = self.results(repeats_names)
        missing = [event for event in events if event not in decisions]
        names = collections.Counter((value["decision"], value["event"] if repeats_names else "")
                                    for values in decisions.values() for value in values)
        doubled = [name for name, count in names.items() if count > 1]
        doubled += [source for source, reasons in dead.items() if len(reasons) > 1]
        sent_twice = sum(len(values) - 1 for values in decisions.values()) - sum(names.values()) + len(names)
        self.records = len(events) + others + sent_twice
        # After a recreation of the topic, the records of the old one are gone.
        self.lost = len(missing) if repeats_names else self.count_lost(names, dead)
        self.doubled = len(doubled)
        self.judge(not self.lost, f"{self.lost} records of the input have no result")
        self.judge(len(missing) == letters, f"{len(missing)} events have no decision, expected {letters}")
        self.judge(len(dead) == letters + others, f"{len(dead)} dead letters, expected {letters + others}")
        self.judge(not doubled, f"{len(doubled)} records have two results, such as {doubled[:1]}")
        self.judge(not self.disordered, f"{self.disordered} decisions are out of order")
        if sent_twice:
            self.notes.append(f"{sent_twice} events were sent twice by `linkd produce`, and have a decision for each")
        return decisions, dead
