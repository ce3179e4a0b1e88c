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
        self.time, self.ping, self.ready = began, ping, ready
        self.series = []
        for line in metrics.splitlines():
            match = SERIES.match(line)
            if match:
                self.series.append((match[1], dict(LABEL.findall(match[2] or "")), float(match[3])))

    def values(self, name, **labels):
        return [value for found, has, value in self.series
                if found == name and all(has.get(label) == text for label, text in labels.items())]

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

    def last_line(self):
        return json.dumps(self.lines[-1].data) if self.lines else "the log is empty"

    def last_health(self):
        return [self.samples[-1].ping, self.samples[-1].ready] if self.samples else "nothing"
