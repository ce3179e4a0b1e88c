"""A running worker: its log and its HTTP pages, with the times at which they were seen."""

import json
import re
import subprocess
import threading
import time
import urllib.error
import urllib.request

SERIES = re.compile(r'^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


class Line:
    """A line of the log."""

    def __init__(self, data):
        self.time, self.data = time.monotonic(), data


class Sample:
    """The answers of the HTTP server at one time."""

    def __init__(self, began, ping, ready, metrics):
        # A page is read when it is asked for: in ten minutes there are thousands.
        self.time, self.ping, self.ready, self.metrics = began, ping, ready, metrics

    def series(self, name):
        """Returns the labels and the value of each series of a metric."""
        matches = (SERIES.match(line) for line in self.metrics.splitlines() if line.startswith(name))
        return [(dict(LABEL.findall(match[2] or "")), float(match[3])) for match in matches
                if match and match[1] == name]

    def values(self, name, **labels):
        return [value for has, value in self.series(name)
                if all(has.get(label) == text for label, text in labels.items())]

    def value(self, name, **labels):
        return sum(self.values(name, **labels))


class Worker:
    """A process of `linkd worker`."""

    def __init__(self, night, arguments, environment, log):
        self.night, self.log = night, log
        self.lines, self.samples = [], []
        self.process = night.start(arguments, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        threading.Thread(target=self.read_log, daemon=True).start()
        threading.Thread(target=self.read_pages, daemon=True).start()

    def read_log(self):
        with open(self.log, "wb") as copy:
            for text in self.process.stderr:
                copy.write(text)
                copy.flush()
                try:
                    self.lines.append(Line(json.loads(text)))
                except ValueError:
                    self.lines.append(Line({"event": "unreadable", "message": text.decode(errors="replace")}))

    def read_pages(self):
        """Reads the pages several times a second, from the start of the server until the end of the process."""
        while self.process.poll() is None and not self.night.stopping.is_set():
            server = self.find("http", 0, {})
            if server:
                address = server.data["address"]
                metrics = self.page(address, "/metrics")
                if metrics[0] == 200:
                    # A page counts when it has arrived.
                    answers = self.page(address, "/ping"), self.page(address, "/ready")
                    self.samples.append(Sample(time.monotonic(), *answers, metrics[1]))
            time.sleep(0.2)

    @staticmethod
    def page(address, path):
        """Returns the status and the text of a page, with status 0 if there is no answer."""
        try:
            with urllib.request.urlopen(f"http://{address}{path}", timeout=5) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def find(self, event, since, members):
        """Returns the first line of an event after a time whose members contain texts."""
        for line in list(self.lines):
            if line.time >= since and line.data.get("event") == event and all(
                    str(text) in str(line.data.get(name, "")) for name, text in members.items()):
                return line
        return None

    def count(self, event):
        return sum(1 for line in list(self.lines) if line.data.get("event") == event)

    def sample(self, since, condition):
        """Returns the first sample after a time for which a condition holds."""
        for sample in list(self.samples):
            if sample.time >= since and condition(sample):
                return sample
        return None

    def next_commit(self, since):
        """Returns the time of the first page after a time with more committed decisions than at that time."""
        def count(sample):
            return sample.value("linkd_records_out_total")
        samples = list(self.samples)
        before = [count(sample) for sample in samples if sample.time <= since]
        least = before[-1] if before else 0
        return next((sample.time for sample in samples if sample.time > since and count(sample) > least), None)

    def last_line(self):
        return json.dumps(self.lines[-1].data) if self.lines else "the log is empty"

    def last_health(self):
        return [self.samples[-1].ping, self.samples[-1].ready] if self.samples else "nothing"
