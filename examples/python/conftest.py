"""A pytest fixture: a berth server for each test, on a new database, with its clock in the test's hand."""

import json
import os
import shlex
import subprocess
import urllib.request
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

BERTH = os.environ.get("BERTH", "berth")  # the program


@dataclass
class Controls:
    """The test controls of the server: spec/controls.yaml has all of them."""

    url: str
    key: str

    def send(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method, headers={"Authorization": f"Bearer {self.key}"})
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or "null")

    def reset(self):
        """Forgets what became of the server: what seed.yaml has is there, as it was at first."""
        return self.send("POST", "/reset")

    def fault(self, operation, **members):
        """Scripts what an operation does wrong, such as when="after", status=503, times=1."""
        return self.send("POST", "/faults", {"operation": operation, **members})

    def verify(self, *expectations):
        """Holds the requests that came against what is expected of them; gives what does not hold, a sentence each."""
        return [failure["says"] for failure in self.send("POST", "/journal/verify", {"expectations": expectations})["failures"]]


@dataclass
class Clock:
    """The server's clock. What falls due on the way has been done when advance returns."""

    controls: Controls

    def freeze(self):
        return self._call("POST", "/freeze")

    def resume(self):
        return self._call("POST", "/resume")

    def advance(self, seconds: float):
        return self._call("POST", "/advance", {"milliseconds": round(seconds * 1000)})

    def now(self):
        return self._call("GET", "")

    def _call(self, method, path, body=None):
        return datetime.fromisoformat(self.controls.send(method, "/clock" + path, body)["now"])


@dataclass
class Berth:
    """A running server."""

    url: str  # of REST; the SDK adds /graphql to it
    queue_url: str  # of jobs: queue_url + "/v2/<endpoint id>/run"
    key: str  # with every scope
    endpoints: dict[str, str]  # ids by name
    controls: Controls
    clock: Clock


@pytest.fixture
def berth(tmp_path):
    """A server with two endpoints: "echo" gives back what it is given, and "idle" has no workers."""
    command = [BERTH, "serve", "--test-controls", "--json", "--listen", "127.0.0.1:0", "--data", tmp_path / "berth"]
    command += ["--endpoint", f"echo={shlex.quote(BERTH)} worker --handler echo", "--endpoint", "idle="]
    seed = Path(__file__).with_name("seed.yaml")
    if seed.exists():  # what the server has from the start
        command += ["--seed", seed]
    # A handler of your own: ["--endpoint", f"mine={shlex.quote(sys.executable)} -u {shlex.quote(path_of_handler)}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            ready = json.loads(server.stdout.readline())  # the only line; what is logged goes to stderr
            controls = Controls(ready["url"] + "/_berth", ready["controlsKey"])
            yield Berth(ready["url"], ready["queueUrl"], ready["key"], ready["endpoints"], controls, Clock(controls))
        finally:
            server.terminate()
    assert server.returncode == 0
