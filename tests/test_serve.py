"""The page of a study that runs: what it says, to whom, and that it changes nothing."""

from __future__ import annotations

import http.client
import os
import socket
import struct
from pathlib import Path
from threading import Thread

import pytest
from markupsafe import escape

from babelscope.core.errors import InputError
from babelscope.core.row import Row
from babelscope.engine.course import course_file
from babelscope.face import serve
from babelscope.face.job import Job, job_of
from babelscope.face.serve import Watched, check_loopback, server_of
from babelscope.report.page import asset, hash_of
from babelscope.report.section import sections_of
from babelscope.steps import Baseline, Evaluate, Tune
from command_line import babelscope, declaration, write_study

HOSTILE = "<img src=x onerror='window.hacked=1'></script><script>window.hacked = 1</script>"


@pytest.fixture
def job(tmp_path, encoder_folder) -> Job:
    """A study of which one step is done and one has failed."""
    declared = declaration(encoder_folder, surgeries=[None], retrieval=None, question=f"What follows? {HOSTILE}")
    job = job_of(str(write_study(tmp_path / "study.yaml", declared)), None, tmp_path / "store")
    job.store.prepare()
    publish(job, next(key for key, step in job.plan.steps.items() if isinstance(step, Baseline)))
    failed = keys(job, Tune)[1]
    job.store.logs.of(failed).write_text(f"ValueError: odd weights {HOSTILE}\n")
    return job


def keys(job: Job, kind: type) -> list[str]:
    return [key for key, step in job.plan.steps.items() if isinstance(step, kind)]


def publish(job: Job, key: str) -> None:
    step = job.plan.steps[key]
    labels = {"task": "pos", "train_languages": "qaa", "language": "qab", "dataset": "world:qab", "split": "test"}
    encoder = {"encoder": "tiny", "seed": step.model.seed} if isinstance(step, Evaluate) else {"encoder": "majority"}
    job.store.write_rows(key, [Row("accuracy", 0.625, "share", **encoder, **labels)])
    job.store.publish(key, {"step": type(step).__name__, "version": step.version, "fields": {}, "seconds": 1.0})


@pytest.fixture
def served(job, monkeypatch):
    """The port of a server of the study."""
    monkeypatch.setattr(serve, "FRESH", 0.0)
    with server_of(job) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_stands_in_the_place_of_a_log_is_not_read(job, tmp_path, kind):
    """A store may be another's: a link could show any file, and a pipe would never answer."""
    (tmp_path / "private").write_text("secret")
    log = job.store.logs.of(keys(job, Tune)[0])
    log.symlink_to(tmp_path / "private") if kind == "link" else os.mkfifo(log)
    assert Watched(job).answer(f"/log/{keys(job, Tune)[0]}").status == 404


def test_of_a_long_log_the_end_is_shown(job, monkeypatch):
    monkeypatch.setattr(serve, "LONGEST_LOG", 10)
    log = job.store.logs.of(keys(job, Tune)[0])
    log.write_text("0123456789" * 50 + "the end")
    assert Watched(job).answer(f"/log/{keys(job, Tune)[0]}").body == "789the end"


def ask(port: int, path: str, method: str = "GET", host: str | None = None) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, headers={"Host": host or f"127.0.0.1:{port}"})
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read().decode()


def test_the_page_tells_how_far_the_study_is(served, job):
    running = keys(job, Tune)[0]
    lines = [f'[{done}, 40, {{"loss": {2 / done}}}]' for done in (1, 10, 20)]
    course_file(job.store, running).write_text("\n".join(lines) + "\n")
    with job.store.claim(running):
        status, _, page = ask(served, "/")
    assert status == 200
    assert f"1 of {len(job.plan.steps)} steps are done, 1 running, 1 failed." in page
    assert '<progress value="20" max="40"' in page and "20 of 40, loss 0.1" in page
    assert "Loss of running steps" in page and "<svg" in page
    assert "ValueError: odd weights" in page and f'href="/log/{keys(job, Tune)[1]}"' in page
    assert "62.5" in page  # of the section that is finished
    assert "<img" not in page and HOSTILE not in page and page.count("<script>") == 1
    status, _, rest = ask(served, "/now")
    assert status == 200 and "nothing is running." in rest and "<html" not in rest and "Loss of" not in rest


def test_what_a_report_warns_of_stands_above_what_is_found(served, monkeypatch):
    """Findings were shown without the doubts that a report has of them."""
    monkeypatch.setattr("babelscope.face.job.doubts", lambda steps: [f"1 of 2 sentences of {HOSTILE} is trained on"])
    _, _, page = ask(served, "/now")
    warned, found = page.index("1 of 2 sentences of &lt;img"), page.index('href="/report"')
    assert page.index("<h2>Steps</h2>") < warned < found and HOSTILE not in page
    assert page.index('<ul class="warnings"') < warned
    assert "not finished" not in page  # which the page says by itself


def test_what_is_found_is_what_the_report_says(served, job):
    """Also of claims that are to come, and of what an unfinished study does not know yet."""
    _, _, page = ask(served, "/now")
    found = [finding for section in sections_of(job.report()) for finding in section.findings]
    assert job.report().missing and found
    assert all(str(escape(finding)) in page for finding in found)


def test_the_whole_log_and_the_report_have_pages(served, job):
    status, headers, text = ask(served, f"/log/{keys(job, Tune)[1]}")
    assert (status, headers["Content-Type"]) == (200, "text/plain; charset=utf-8") and HOSTILE in text
    status, headers, page = ask(served, "/report")
    assert status == 200 and headers["Content-Type"].startswith("text/html")
    assert "How this was made" in page and HOSTILE not in page


@pytest.mark.parametrize("path", ["/nothing", "/log/../../etc/passwd", f"/log/{'0' * 64}", "/log/", "//x/log"])
def test_other_names_stand_for_nothing(served, path):
    assert ask(served, path)[0] == 404


def test_who_asks_for_what_is_no_address_is_told_so(served, capfd):
    assert ask(served, "http://[")[0] == 400
    assert not capfd.readouterr().err


def test_nothing_is_said_of_who_goes_away_before_the_answer(served, capfd):
    for _ in range(3):
        asking = socket.create_connection(("127.0.0.1", served))
        asking.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing resets it
        asking.sendall(b"GET /report HTTP/1.1\r\nHost: localhost\r\n\r\n")
        asking.close()
    assert ask(served, "/now")[0] == 200
    assert not capfd.readouterr().err


def test_who_says_nothing_is_not_waited_for(served, monkeypatch):
    monkeypatch.setattr(serve._Pages, "timeout", 0.1)
    with socket.create_connection(("127.0.0.1", served), timeout=60) as asking:
        asking.sendall(b"GET / HT")
        assert asking.recv(1) == b""


def test_headers_shut_the_page_off(served):
    _, headers, page = ask(served, "/?from=elsewhere")
    policy = headers["Content-Security-Policy"]
    assert policy.startswith(f"default-src 'none'; script-src {hash_of(asset('live.js'))}; style-src 'unsafe-inline'")
    assert "frame-ancestors 'none'" in policy and "form-action 'none'" in policy and "base-uri 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["X-Frame-Options"] == "DENY"
    assert headers["Cache-Control"] == "no-store" and headers["Referrer-Policy"] == "no-referrer"
    assert asset("live.js") in page
    assert "Python" not in headers["Server"]
    assert ask(served, "/", "HEAD")[2] == "" and ask(served, "/", "POST")[0] == 501


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "10.0.0.1", "", "[", "127.0.0.1.evil.example"])
def test_who_asks_for_another_machine_is_refused(served, host):
    status, _, text = ask(served, "/", host=host or " ")
    assert status == 421 and "steps" not in text


@pytest.mark.parametrize("host", ["localhost:{}", "[::1]:{}", "127.0.0.1"])
def test_this_machine_goes_by_several_names(served, host):
    assert ask(served, "/now", host=host.format(served))[0] == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "", "example.org", "127.0.0.1.nip.io"])  # noqa: S104
def test_addresses_that_others_reach_are_refused(host, job, tmp_path):
    with pytest.raises(InputError, match="to this machine alone"):
        server_of(job, host)
    if host:
        answer = babelscope("serve", tmp_path / "study.yaml", "--store", job.store.address, "--host", host)
        assert answer.status == 2 and "ssh -L" in answer.errors


def test_addresses_of_this_machine_are_not():
    for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost"):
        check_loopback(host)


def test_a_port_that_is_taken_is_an_error_in_words(served, job):
    with pytest.raises(InputError, match=f"--port {served}: Address already in use; give another"):
        server_of(job, port=served)


def test_nothing_is_written(served, job):
    def files() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in job.store.folder.rglob("*")}

    before = files()
    for path in ("/", "/now", "/report", f"/log/{keys(job, Tune)[1]}"):
        assert ask(served, path)[0] == 200
    assert files() == before


def test_a_study_that_has_no_result_yet_has_a_page(tmp_path, encoder_folder):
    declared = declaration(encoder_folder, surgeries=[None], retrieval=None)
    job = job_of(str(write_study(tmp_path / "study.yaml", declared)), None, tmp_path / "nowhere")
    watched = serve.Watched(job)
    page = watched.answer("/")
    assert page.status == 200 and "0 of" in page.body and "nothing is running" in page.body
    with pytest.raises(InputError, match="run the study first"):
        watched.answer("/report")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_a_browser_follows_the_study(served, job, browser, width, scheme):
    from playwright.sync_api import expect

    complaints: list[str] = []
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.goto(f"http://127.0.0.1:{served}/")
    page.locator("summary").click()
    expect(page.locator("pre")).to_contain_text("odd weights")
    publish(job, keys(job, Evaluate)[0])
    expect(page.locator(".summary")).to_contain_text("2 of", timeout=30_000)
    expect(page.locator("pre")).to_be_visible()  # what was open stays open
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("window.hacked") is None
    page.locator("#follow").uncheck()
    page.close()
    assert complaints == []
