"""Kafka brokers of the script in NIGHT_BROKER, and the faults of their disk, certificate, and network."""

import os
import pathlib
import random
import shutil
import socket
import struct
import subprocess

from proxy import SlowProxy

DISK_MEBIBYTES = 96
"""The size of the small disk. A new broker needs about 10 MiB of it."""

LOGGING = """\
rootLogger.level=WARN
rootLogger.appenderRef.out.ref=OUT
appender.out.type=Console
appender.out.name=OUT
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{HH:mm:ss.SSS} %p %c{1} %m%n
logger.server.name=kafka.server
logger.server.level=INFO
logger.transaction.name=kafka.coordinator.transaction
logger.transaction.level=INFO
"""
"""The lines in the log of a broker about its start, and about its transaction coordinator."""


def port_is_free(port):
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


TAKEN = set()
"""The first ports of all brokers of this night. The ports of one that is down are free and must not get another owner,
because all clusters have one id, so that the nodes of two would take each other for their own."""


def free_port(nodes=1):
    """Returns a port P for which P to P+4 and P+6 are free, and the ports of further nodes."""
    for _ in range(50):
        base = 20_000 + random.randrange(1_200) * 10
        bases = {base + 10 * node for node in range(nodes)}
        ports = [one + offset for one in bases for offset in (0, 1, 2, 3, 4, 6)]
        if TAKEN.isdisjoint(bases) and all(port_is_free(port) for port in ports):
            TAKEN.update(bases)
            return base
    raise RuntimeError("no free ports were found for a broker")


class Broker:
    """One broker with its own directory and ports.

    The kinds are `plain`, `members` (another plain one), `proxied` (clients connect through a proxy that can be slow),
    `secure` (with TLS, SASL, and access rights), `disk` (with its data on a small disk of its own), and `three` and
    `three-long` (three brokers with three replicas of each partition, of which two must have a record).
    """

    @staticmethod
    def missing(kind):
        """Returns the reason why this kind cannot run here, or None."""
        if kind == "disk" and (os.uname().sysname != "Linux" or os.geteuid() != 0):
            return "a small disk needs Linux and root"
        return None

    def __init__(self, night, kind):
        self.night, self.kind, self.port = night, kind, free_port(3 if kind.startswith("three") else 1)
        self.directory = night.work / f"broker-{kind}"
        self.disk = night.work / "disk"
        self.logging = night.work / f"broker-{kind}.properties"
        self.proxy = SlowProxy(self.port + 6, self.port + 4) if kind == "proxied" else None
        self.is_mounted = False

    @property
    def bootstrap(self):
        if self.kind.startswith("three"):
            return ",".join(f"127.0.0.1:{self.port + 10 * node}" for node in range(3))
        return f"127.0.0.1:{self.port + 6 if self.proxy else self.port}"

    @property
    def secure_bootstrap(self):
        return f"localhost:{self.port + 2}"

    def command(self, *arguments, checks=True):
        """Runs a command of the broker's script, and returns its output."""
        environment = dict(os.environ, KAFKA_DIR=str(self.directory), KAFKA_JIT="1",
                           KAFKA_OPTS=f"-Dlog4j2.configurationFile={self.logging}")
        with open(self.night.work / f"broker-{self.kind}.log", "ab") as log:
            process = self.night.start([os.environ["NIGHT_BROKER"], *arguments], env=environment, stderr=log,
                                       stdout=subprocess.PIPE, is_last=arguments[0] == "clean")
            output = process.communicate()[0].decode(errors="replace")
        if checks and process.returncode != 0:
            raise RuntimeError(f"`broker {arguments[0]}` failed with code {process.returncode}: {output[-400:]}")
        return output

    def start(self):
        self.logging.write_text(LOGGING)
        # The default of Kafka. With the interval of a test broker, 0.5 s, Kafka 4.3.1 ends transactions that timed out
        # during an outage while it starts, and then it skips their markers.
        arguments = ["start", "--port", str(self.port),
                     "--set", "transaction.abort.timed.out.transaction.cleanup.interval.ms=10000"]
        if self.kind.startswith("three"):
            arguments += ["--nodes", "3"]
        if self.kind == "secure":
            arguments.append("--secure")
        if self.proxy:
            arguments += ["--via", str(self.port + 6)]
            self.proxy.start()
        if self.kind == "disk":
            self.mount()
            arguments += ["--set", f"log.dirs={self.disk}/data"]
        try:
            self.command(*arguments)
        except RuntimeError as error:
            # Seen once in some hundred starts: a node of three ended while it joined its quorum.
            self.night.say(f"the {self.kind} broker is started again: {error}")
            self.command("clean")
            shutil.rmtree(self.disk / "data", ignore_errors=True)
            self.command(*arguments)

    def clean(self):
        """Ends the broker, and removes its data but not its log."""
        log = self.directory / "node1/log"
        if log.exists():
            shutil.copy(log, self.night.work / f"broker-{self.kind}-node.log")
        if self.proxy:
            self.proxy.stop()
        self.command("clean", checks=False)
        if self.is_mounted:
            subprocess.run(["umount", "-l", self.disk], check=False)

    def skipped_markers(self):
        """Returns the lines of the broker's log since its last start about transactions that ended without a marker.

        Kafka 4.3.1 takes a partition that has no leader for a deleted one (KAFKA-20734).
        """
        log = (self.directory / "node1/log").read_text(errors="replace")
        return [line for line in log.splitlines() if "find leader endpoint for partitions" in line]

    def repeated_offsets(self):
        """Returns the batches on the small disk whose first offset is not after the batch before them.

        A consumer sees only one record of each offset. Kafka writes a batch before its memory-mapped index, which can
        fail on a full disk, so that the next batch may get the same offsets.
        """
        repeated = []
        for file in sorted(self.disk.glob("data/*/*.log")) if self.is_mounted else []:
            data, position, following = file.read_bytes(), 0, 0
            # The layout of a batch: its first offset, the length of the rest, and after 11 bytes the last offset's
            # distance.
            while position + 27 <= len(data):
                first, length = struct.unpack_from(">qi", data, position)
                if length <= 0:
                    break
                if first < following:
                    repeated.append(f"{file.parent.name} offset {first}")
                following = first + struct.unpack_from(">i", data, position + 23)[0] + 1
                position += 12 + length
        return repeated

    def is_running(self):
        """Returns whether the process of the broker exists."""
        try:
            os.kill(int((self.directory / "node1/pid").read_text()), 0)
        except ProcessLookupError:
            return False
        return True

    # The small disk.

    def mount(self):
        self.disk.mkdir()
        size = f"size={DISK_MEBIBYTES}m"
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "linkd-night", self.disk], check=True)
        self.is_mounted = True

    def fill_disk(self):
        """Writes a file until the disk is full."""
        with open(self.disk / "filler", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(65_536))
            except OSError:
                return

    def empty_disk(self):
        (self.disk / "filler").unlink()

    # The certificate.

    def renew_certificate(self, days):
        """Gives the broker a new certificate, which it reads when it starts. Negative days make an expired one."""
        tls = self.directory / "tls"
        names = self.night.work / "names"
        names.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        subprocess.run(
            ["openssl", "x509", "-req", "-in", tls / "server.csr", "-CA", tls / "ca.pem", "-CAkey", tls / "ca.key",
             "-CAcreateserial", "-days", str(days), "-out", tls / "server.pem", "-extfile", names],
            check=True, capture_output=True)
        key = pathlib.Path(tls / "server.key").read_text()
        (tls / "server.keystore.pem").write_text(key + (tls / "server.pem").read_text())
