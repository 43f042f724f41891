"""Commands `babelscope` and `python -c` whose processes are forks of one that has imported what they need.

That takes longer than most of what pages have them do; so it does where steps have a process of their own, which these
compute in the command's. Run as a program, this file is that process.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from processes import in_one_core

CLIENT = """#!{python} -SE
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    call = [sys.argv, os.getcwd(), dict(os.environ)]
    socket.send_fds(server, [json.dumps(call).encode()], [0, 1, 2])
    server.shutdown(socket.SHUT_WR)
    sys.exit(int(server.recv(10) or 70))
"""
"""Hands over arguments, folder, environment and streams; 70 where there is no answer."""
AT_ONCE = 1 << 20


@contextmanager
def warm_command(folder: Path) -> Iterator[Path]:
    """Gives the folder, which has the commands as long as the context lasts. One call at a time."""
    folder.mkdir()
    address = folder / "socket"
    server = subprocess.Popen(
        [sys.executable, __file__, address], stdout=subprocess.PIPE, text=True, preexec_fn=in_one_core,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    try:
        assert server.stdout and server.stdout.readline() == "ready\n"
        for name in ("babelscope", "python"):
            (folder / name).write_text(CLIENT.format(python=sys.executable, address=str(address)))
            (folder / name).chmod(0o755)
        yield folder
    finally:
        server.kill()
        server.communicate()


def serve(address: str) -> None:
    """Fork for each call, and send its exit status."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while True:
            connection, _ = listener.accept()
            with connection:
                if not (process := os.fork()):
                    os._exit(status_of(partial(answer, connection)))
                status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
                connection.sendall(str(status if status >= 0 else 128 - status).encode())


def answer(connection: socket.socket) -> None:
    """Do what a call says, in its place."""
    message, streams, _, _ = socket.recv_fds(connection, AT_ONCE, 3)
    while more := connection.recv(AT_ONCE):
        message += more
    (program, *arguments), folder, environment = json.loads(message)
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [program, *arguments]
    if Path(program).name == "python":
        exec(arguments[1], {"__name__": "__main__"})  # noqa: S102
    else:
        main()


if __name__ == "__main__":
    import altair  # noqa: F401
    import pandas  # noqa: F401
    from faults.warm import main, status_of
    from transformers import BertModel  # noqa: F401

    import babelscope.report  # noqa: F401
    from babelscope.engine import local, run
    from in_process import InProcess

    local.LocalCrew = run.LocalCrew = InProcess
    serve(sys.argv[1])
