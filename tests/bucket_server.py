"""A bucket on this machine, and a way to it on which requests fail at random."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

BUCKET = "results"
ADDRESS = f"s3://{BUCKET}/lab"
HOST = "127.0.0.1"
SOON = 60
SILENCE = 6.0
"""Seconds after which a request is given up that is not answered; clients should do so sooner."""
FAULTS = {"503": 3, "not passed on": 3, "answer lost": 3, "answer cut short": 3, "no answer": 1}
"""What goes wrong with requests, and how often in comparison."""


def environment(port: int) -> dict[str, str]:
    """What leads to the bucket at a port."""
    return {
        "AWS_ENDPOINT_URL": f"http://{HOST}:{port}", "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing", "AWS_ALLOW_HTTP": "true",
    }  # fmt: skip


@contextmanager
def bucket() -> Iterator[int]:
    """A server with an empty bucket; gives its port."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, __file__, str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + SOON
        while True:
            with suppress(OSError):
                answered = _request(port, "PUT", f"/{BUCKET}")
                assert answered == 200, answered
                break
            assert time.monotonic() < deadline and server.poll() is None
            time.sleep(0.1)
        yield port
    finally:
        server.kill()
        server.wait()


def serve(port: int) -> None:
    """One request after the other: S3 creates an object once, where moto looks for it and then writes it."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import run_simple

    answers, lock = DomainDispatcherApplication(create_backend_app), threading.Lock()

    def in_turn(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        with lock:
            return [b"".join(answers(environ, start_response))]

    run_simple(HOST, port, in_turn, threaded=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _request(port: int, method: str, path: str) -> int:
    connection = http.client.HTTPConnection(HOST, port, timeout=10)
    connection.request(method, path)
    return connection.getresponse().status


class FaultyWay:
    """Passes requests on to a port, but for faults: as many as are left, each with a probability."""

    def __init__(self, target: int, seed: int = 0, probability: float = 0.0, most: int = 10**9):
        self.target, self.chance, self.probability, self.left = target, Random(seed), probability, most
        self.port, self.faults, self.requests = free_port(), Counter[str](), Counter[str]()
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None

    def __enter__(self) -> FaultyWay:
        self.open()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def open(self) -> None:
        """Begin to answer, at the same port again."""
        handler = type("Handler", (_Handler,), {"way": self})
        self._server = ThreadingHTTPServer((HOST, self.port), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        """Answer no more: connections are refused."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    @property
    def is_open(self) -> bool:
        return self._server is not None

    def fault(self) -> str | None:
        """What is to go wrong with the next request."""
        with self._lock:
            if not self.left or self.chance.random() >= self.probability:
                return None
            self.left -= 1
            (kind,) = self.chance.choices(list(FAULTS), list(FAULTS.values()))
            self.faults[kind] += 1
            return kind


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    way: FaultyWay

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        kind = self.way.fault() if self.way.is_open else "not passed on"
        self.way.requests[self.command] += 1
        if kind == "503":
            self._answer(503, {"Content-Type": "application/xml"}, b"<Error><Code>SlowDown</Code></Error>")
            return
        if kind in ("not passed on", "no answer"):
            time.sleep(SILENCE if kind == "no answer" else 0)
            self._hang_up()
            return
        connection = http.client.HTTPConnection(HOST, self.way.target, timeout=SOON)
        connection.request(self.command, self.path, body, dict(self.headers))
        answer = connection.getresponse()
        content, headers = answer.read(), dict(answer.getheaders())
        if kind == "answer lost":
            self._hang_up()
        elif kind == "answer cut short" and len(content) > 1 and self.command == "GET":
            self._answer(answer.status, headers, content, len(content) // 2)
            self._hang_up()
        else:
            self._answer(answer.status, headers, content)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any  # noqa: N815

    def _answer(self, status: int, headers: dict[str, str], content: bytes, sent: int | None = None) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "connection", "transfer-encoding"):
                self.send_header(name, value)
        length = headers.get("Content-Length", headers.get("content-length", str(len(content))))
        self.send_header("Content-Length", length if self.command == "HEAD" else str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[:sent])

    def _hang_up(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    serve(int(sys.argv[1]))
