"""What an unmodified SDK worker does with each kind of handler, as a client sees it.

usage: workers.py URL KEY ENDPOINTS, ENDPOINTS being JSON of names and ids; the workers of each run handlers.py with its name,
but for cancelled (asynchronous), blocked and progress (both sync).
"""

import json
import os
import sys
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import runpod

url, key, endpoints = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
version = tuple(int(n) for n in runpod.__version__.split(".")[:2])
cancels_jobs = version >= (1, 10)


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url + path, data, headers, method=method), timeout=320) as answer:
        return json.load(answer)


def submit(kind, **given):
    return call("POST", f"/{endpoints[kind]}/run", {"input": given})["id"]


def status(kind, job):
    return call("GET", f"/{endpoints[kind]}/status/{job}")


def ended(kind, job):
    return call("GET", f"/{endpoints[kind]}/status-sync/{job}?wait=300000")


def run(kind, **given):
    return call("POST", f"/{endpoints[kind]}/runsync?wait=300000", {"input": given})


def until(true, seconds, what):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.05)


def stream(kind, job):
    """Reads the stream to its end."""
    values, end = [], time.monotonic() + 200
    while True:
        assert time.monotonic() < end, f"{kind}: the stream does not end, after {str(values)[:200]}"
        read = call("GET", f"/{endpoints[kind]}/stream/{job}")
        values += [chunk["output"] for chunk in read["stream"]]
        if read["status"] not in ("IN_QUEUE", "IN_PROGRESS"):
            return read["status"], values


def sync_handler():
    job = run("sync", n=1, text="é€😀")
    assert job["status"] == "COMPLETED" and job["output"]["echo"] == {"n": 1, "text": "é€😀"}, job
    assert isinstance(job["delayTime"], int) and isinstance(job["executionTime"], int) and job["workerId"], job


def async_handler():
    assert run("asynchronous", n=1)["output"]["echo"] == {"n": 1}


def failing_handler():
    job = run("sync", fail=True)
    assert job["status"] == "FAILED" and json.loads(job["error"])["error_message"] == "asked to fail", job
    job = run("sync", error="no luck", part=1)
    assert (job["status"], job["error"], job["output"]) == ("FAILED", "no luck", {"part": 1}), job
    status_, values = stream("generator", job := submit("generator", values=[1, "raise"]))
    assert (status_, values) == ("FAILED", [1]), (status_, values)
    assert "asked to fail" in status("generator", job)["error"]


def large_outputs():
    assert run("sync", size=9_900_000)["output"] == "x" * 9_900_000
    assert run("sync", size=19_900_000)["output"] == "x" * 19_900_000
    job = ended("sync", submit("sync", size=10_000_000))  # and two quotes
    assert job["status"] == "FAILED" and "10000002 bytes is over the limit of 10000000" in job["error"], job
    _, values = stream("async_generator", submit("async_generator", values=["y" * 2_500_000]))
    assert len(values) == 3 and "".join(values) == "y" * 2_500_000, [len(v) for v in values]


def generators():
    for kind in ("generator", "async_generator", "aggregate"):
        given = [1, "two", {"three": [3]}, None]
        job = submit(kind, values=given, sleep=0.2)
        assert stream(kind, job) == ("COMPLETED", given), kind
        assert status(kind, job).get("output") == (given if kind == "aggregate" else []), status(kind, job)


def concurrent_handler():
    run("concurrent")
    outputs = [ended("concurrent", job)["output"] for job in [submit("concurrent", company=120) for _ in range(4)]]
    assert max(o["most"] for o in outputs) > 1, outputs


def progress():
    with tempfile.TemporaryDirectory() as folder:
        steps, seen = ["a third", {"of": 3}], [Path(folder) / "first", Path(folder) / "second"]
        job = submit("progress", progress=steps, seen=[str(file) for file in seen], last_progress="late")
        for step, file in zip(steps, seen):
            until(lambda: (now := status("progress", job)).get("output") == step and now["status"] == "IN_PROGRESS", 200, step)
            file.touch()
        end = ended("progress", job)
    assert end["status"] == "COMPLETED" and end["output"]["echo"]["last_progress"] == "late", end
    time.sleep(2)
    assert status("progress", job) == end, "the late one changed it"


def refreshing():
    for kind in ("refresh", "sync"):
        first = run(kind, refresh=True)
        second = run(kind, n=2)
        assert "refresh_worker" not in first["output"], first
        assert first["workerId"] != second["workerId"], (kind, first, second)
        assert first["output"]["pid"] != second["output"]["pid"], (kind, first, second)


def cancel(kind, **given):
    """Cancels a job that a handler is at work on, and gives the process that ran it and when."""
    pid = run(kind)["output"]["pid"]
    with tempfile.TemporaryDirectory() as folder:
        begun = Path(folder) / "begun"
        job = submit(kind, sleep=600, begun=str(begun), **given)
        until(begun.exists, 200, "a handler began")
        answer = call("POST", f"/{endpoints[kind]}/cancel/{job}")
    assert answer["status"] == "CANCELLED", answer
    return pid, time.monotonic()


def runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def replaced(kind, pid, since):
    until(lambda: not runs(pid), 200, f"process {pid} ended")
    took = time.monotonic() - since
    assert run(kind)["output"]["pid"] != pid
    return f"process replaced {took:.0f} s after it"


def cancelling_async():
    with tempfile.TemporaryDirectory() as folder:
        marker = Path(folder) / "cancelled"
        pid, since = cancel("cancelled", cancelled=str(marker))
        if not cancels_jobs:
            return replaced("cancelled", pid, since)
        until(marker.exists, 200, "the handler was cancelled")
        took = time.monotonic() - since
        assert run("cancelled")["output"]["pid"] == pid, "the worker stays"
        return f"handler cancelled {took:.1f} s after it"


def cancelling_sync():
    return replaced("blocked", *cancel("blocked"))


checks = [
    cancelling_sync, cancelling_async, sync_handler, async_handler, failing_handler, large_outputs, generators, concurrent_handler,
    progress, refreshing,
]


def attempt(check):
    try:
        return check.__name__.replace("_", " "), None, check()
    except Exception as error:  # every check is reported, then the script fails
        return check.__name__.replace("_", " "), f"{type(error).__name__}: {str(error)[:2000]}", None


failed = False
with ThreadPoolExecutor(len(checks)) as pool:
    for result in as_completed([pool.submit(attempt, check) for check in checks]):
        name, error, note = result.result()
        failed = failed or error is not None
        what = f"worker {runpod.__version__}, {name}"
        print(f"FAILED: {what}: {error}" if error else f"ok: {what}" + (f", {note}" if note else ""), flush=True)
sys.exit(failed)
