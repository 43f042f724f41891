"""A study's page for a browser on this machine, while the study runs. Reads the store, and writes nothing into it."""

from __future__ import annotations

import re
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from threading import Lock
from typing import NamedTuple
from urllib.parse import urlsplit

from babelscope.core.errors import BabelscopeError, InputError
from babelscope.core.outside import opened
from babelscope.engine.course import course_of
from babelscope.face.job import Job
from babelscope.report.live import Course, FailedStep, Live, live_policy, render_live
from babelscope.report.page import render
from babelscope.report.section import Section, sections_of
from babelscope.report.tables import Cell, Table

FRESH = 2.0
"""Seconds for which what was read of the store is shown again."""
TAIL = 4000
"""Characters of a failed step's log on the page."""
PATIENCE = 60.0
"""Seconds that somebody who asks may be silent for; each has a thread."""
LONGEST_LOG = 2_000_000
"""Bytes of a whole log."""
EVERYWHERE = {
    "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}  # fmt: skip
NOTHING = "default-src 'none'"
CLOSED = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
HTML, TEXT = "text/html; charset=utf-8", "text/plain; charset=utf-8"


class Answer(NamedTuple):
    """The body of an answer, with its type and the policy for pages."""

    body: str
    kind: str = TEXT
    policy: str = NOTHING
    status: int = 200


class Watched:
    """A study that is looked at: what its pages say. What was read lately is not read again."""

    def __init__(self, job: Job):
        self._job, self._lock = job, Lock()
        self._live: tuple[float, Live] | None = None
        self._written: tuple[int, list[Section], list[str]] = (0, [], [])

    def answer(self, path: str) -> Answer:
        """What a path stands for."""
        with self._lock:
            if path == "/":
                return Answer(render_live(self._now()), HTML, live_policy())
            if path == "/now":
                return Answer(render_live(self._now(), fragment=True), HTML)
            if path == "/report":
                return Answer(render(self._job.report()), HTML, "")  # its policy is in the page
            if match := re.fullmatch("/log/([0-9a-f]{64})", path):
                return self._log(match[1])
        return Answer("There is nothing by this name; / is the study's page.\n", status=404)

    def _now(self) -> Live:
        if self._live is None or time.monotonic() - self._live[0] > FRESH:
            live = self._look()
            self._live = time.monotonic(), live
        return self._live[1]

    def _look(self) -> Live:
        job, steps = self._job, self._job.plan.steps
        published, running = job.store.published(steps), job.store.running(steps)
        failed = job.store.logs.left_by(steps) - published - running
        header, lines = job.status()
        return Live(
            job.title, job.study.question, len(published), len(steps),
            Table("Steps by kind", header, [[Cell(line[0]), *(Cell(n, float(n)) for n in line[1:])] for line in lines]),
            [Course(key, step.title, course_of(job.store, key)) for key, step in steps.items() if key in running],
            [FailedStep(key, step.title, self._text(key)[-TAIL:]) for key, step in steps.items() if key in failed],
            *self._found(len(published)),
        )  # fmt: skip

    def _found(self, done: int) -> tuple[list[Section], list[str]]:
        """The report's sections and warnings, written anew when more is done."""
        if done and done != self._written[0]:
            report = self._job.report()
            warnings = report.warnings[bool(report.missing) :]  # how far it is, the page says itself
            self._written = done, sections_of(report), warnings
        return self._written[1:] if done else ([], [])

    def _log(self, key: str) -> Answer:
        text = self._text(key) if key in self._job.plan.steps else ""
        return Answer(text) if text else Answer("This step has left no log.\n", status=404)

    def _text(self, key: str) -> str:
        """The end of a step's log; nothing of a link or a pipe in its place, which somebody else has put there."""
        log = self._job.store.logs.of(key)
        with suppress(BabelscopeError, OSError), opened(log) as stream:
            stream.seek(max(0, log.stat().st_size - LONGEST_LOG))
            return "" if log.is_symlink() else stream.read(LONGEST_LOG).decode(errors="replace")
        return ""


def server_of(job: Job, host: str = "127.0.0.1", port: int = 0) -> ThreadingHTTPServer:
    """A server of the study's pages, at an address of this machine alone; its `serve_forever` serves.

    Raises:
        InputError: the address can be reached from other machines, or is taken.
    """
    check_loopback(host)
    watched = Watched(job)
    kind = type("Pages", (_Pages,), {"answer": staticmethod(watched.answer)})
    try:
        return _Server((host, port), kind)
    except OSError as error:
        raise InputError(f"--port {port}: {error.strerror or error}; give another --port, or 0 for any") from None


def check_loopback(host: str) -> None:
    """Refuse an address that other machines can reach: who sees the page sees the study, its data's names and logs."""
    try:
        is_here = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        is_here = False
    if not is_here:
        raise InputError(
            f"--host {host}: pages are served to this machine alone: 127.0.0.1, ::1 or localhost. From another one, "
            "forward the port: ssh -L 8765:127.0.0.1:8765 HOST"
        )


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], kind: type[BaseHTTPRequestHandler]):
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, kind)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of who asked and went away before the answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Pages(BaseHTTPRequestHandler):
    """Answers GET and HEAD, and those alone who ask for this machine by its own name."""

    answer: Callable[[str], Answer]
    timeout = PATIENCE
    server_version, sys_version = "babelscope", ""

    def do_GET(self) -> None:
        """Answer with the body."""
        self._reply(self._answered())

    def do_HEAD(self) -> None:
        """Answer without the body."""
        self._reply(self._answered(), with_body=False)

    def _answered(self) -> Answer:
        # A name of elsewhere that leads here (DNS rebinding) would let other sites read the page.
        try:
            check_loopback((urlsplit(f"//{self.headers.get('Host', '')}").hostname or "").strip("[]"))
        except (InputError, ValueError):
            return Answer("Ask for 127.0.0.1 or localhost.\n", status=421)
        try:
            path = urlsplit(self.path).path
        except ValueError as error:
            return Answer(f"{error}; / is the study's page.\n", status=400)
        try:
            return self.answer(path)
        except BabelscopeError as error:
            return Answer(f"{error}\n", status=503)

    def _reply(self, answer: Answer, with_body: bool = True) -> None:
        body = answer.body.encode()
        self.send_response(answer.status)
        headers = {"Content-Type": answer.kind, "Content-Length": str(len(body)), **EVERYWHERE}
        headers["Content-Security-Policy"] = "; ".join(filter(None, [answer.policy, CLOSED]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing of requests."""
