"""Fails a run that leaves anything of its servers: a thread, a descriptor, a process, a port or a file."""

import contextlib
import os
import subprocess
import threading
from http.client import HTTPException
from pathlib import Path

import pytest

from pytest_berth import Server
from pytest_berth.connection import Connection

served = []  # the address and the key of each server, in the first process


def descriptors():
    """Counts what this process has open, where there is /proc. Sockets are among it."""
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left_in_this_process(tmp_path_factory):
    """Holds what a process of the run has after its tests against what it had before them."""
    with Server(["--seed", "seed.yaml"], directory=tmp_path_factory.getbasetemp()):  # what a process makes once is not left of a server
        pass
    threads, opened = set(threading.enumerate()), descriptors()
    yield
    assert set(threading.enumerate()) == threads
    assert descriptors() <= opened


@pytest.fixture
def server(berth, record_property):
    """The server of the test, which the first process of the run hears of."""
    record_property("server", [berth.url, berth.key])
    return berth


def pytest_runtest_logreport(report):
    """Notes the server of a test."""
    if report.when == "call":
        served.extend(value for name, value in report.user_properties if name == "server")


def pytest_sessionfinish(session):
    """Fails the run for what is left on the machine, once all of its processes are done."""
    if hasattr(session.config, "workerinput"):
        return
    base = session.config.option.basetemp
    shown = subprocess.run(["ps", "-A", "-ww", "e", "-o", "pid=,args="], check=True, capture_output=True, text=True).stdout
    left = [f"the process {line.split()[0]}" for line in shown.splitlines() if str(base) in line and "serve --json" in line]
    left += [f"the directory {path}" for path in Path(base).rglob("berth-*")]
    left += [f"the port of {url}" for url, key in served if answers(url, key)]
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if left:
        reporter.write_line("LEFT: " + ", ".join(left))
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    elif served:
        reporter.write_line(f"nothing is left of {len(served)} servers")


def answers(url, key):
    """Tells whether the server of the key is there still: its port may be another program's by now."""
    with contextlib.suppress(OSError, HTTPException):
        return Connection(url, key).send("GET", "/v2/pods", timeout=5)[0] == 200
    return False
