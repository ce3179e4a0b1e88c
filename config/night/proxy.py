"""A proxy between clients and a broker that can delay the requests for which a broker writes to its disk."""

import socket
import struct
import threading
import time

# Produce, InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn, and TxnOffsetCommit.
WRITES = {0, 22, 24, 25, 26, 28}


class SlowProxy:
    """A proxy from one port to another on this machine."""

    def __init__(self, port, target):
        self.port, self.target = port, target
        self.delay = 0.0
        self.server = None
        self.sockets = []

    def start(self):
        self.server = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.accept, daemon=True).start()

    def stop(self):
        for item in [self.server, *self.sockets]:
            if item:
                item.close()

    def accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            try:
                broker = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            self.sockets += [client, broker]
            threading.Thread(target=self.pass_requests, args=(client, broker), daemon=True).start()
            threading.Thread(target=self.pass_responses, args=(broker, client), daemon=True).start()

    def pass_requests(self, client, broker):
        """Passes whole requests on, each after the delay if it writes."""
        try:
            while True:
                head = self.read(client, 4)
                body = self.read(client, struct.unpack(">i", head)[0])
                if struct.unpack(">h", body[:2])[0] in WRITES:
                    time.sleep(self.delay)
                broker.sendall(head + body)
        except (OSError, EOFError, struct.error):
            self.close(client, broker)

    def pass_responses(self, broker, client):
        try:
            while data := broker.recv(65_536):
                client.sendall(data)
        except OSError:
            pass
        self.close(client, broker)

    @staticmethod
    def read(source, count):
        data = bytearray()
        while len(data) < count:
            part = source.recv(min(65_536, count - len(data)))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    @staticmethod
    def close(*sockets):
        for item in sockets:
            try:
                item.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            item.close()
