"""Plain handlers for an unmodified SDK worker, one kind a process.

usage: handlers.py KIND, one of the functions below; refresh is sync, with every worker replaced after one job.
"""

import asyncio
import os
import sys
import time
from pathlib import Path

import runpod
from runpod.serverless.modules.rp_progress import progress_update  # 1.7.12 has no runpod.serverless.progress_update


def begin(given):
    """Leaves a file behind, so that who cancels the job knows that its handler is at work."""
    if "begun" in given:
        Path(given["begun"]).touch()


def wait_for(holds, seconds=200):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)


def sync(job):
    given = job["input"]
    begin(given)
    if given.get("fail"):
        raise ValueError("asked to fail")
    if "error" in given:
        return given
    for step, seen in zip(given.get("progress", []), given.get("seen", [])):
        progress_update(job, step)
        wait_for(Path(seen).exists)  # which the client makes once it saw the step
    if "last_progress" in given:  # sent beside the result, and often after it
        progress_update(job, given["last_progress"])
    elif "sleep" in given:
        time.sleep(given["sleep"])
    if "size" in given:
        return "x" * given["size"]
    if "refresh" in given:
        return {"refresh_worker": True, "pid": os.getpid()}
    return {"echo": given, "pid": os.getpid()}


async def asynchronous(job):
    """Leaves a file behind if it was cancelled."""
    given = job["input"]
    begin(given)
    try:
        await asyncio.sleep(given.get("sleep", 0))
    except asyncio.CancelledError:
        Path(given["cancelled"]).touch()
        raise
    return {"echo": given, "pid": os.getpid()}


def generator(job):
    for value in job["input"]["values"]:
        time.sleep(job["input"].get("sleep", 0))
        if value == "raise":
            raise ValueError("asked to fail")
        yield value


async def async_generator(job):
    for value in job["input"]["values"]:
        await asyncio.sleep(job["input"].get("sleep", 0))
        yield value


together = most = 0


async def concurrent(job):
    """Returns how many jobs it has worked on at once. It waits for so many seconds, company, until there is another one."""
    global together, most
    together += 1
    most = max(most, together)
    end = time.monotonic() + job["input"].get("company", 0)
    while most < 2 and time.monotonic() < end:
        await asyncio.sleep(0.05)
    together -= 1
    return {"pid": os.getpid(), "most": most}


kind = sys.argv.pop(1)
start = {"handler": {"refresh": sync, "aggregate": async_generator}.get(kind) or globals()[kind]}
if kind == "refresh":
    start["refresh_worker"] = True
if kind == "aggregate":
    start["return_aggregate_stream"] = True
if kind == "concurrent":
    start["concurrency_modifier"] = lambda current: 4
runpod.serverless.start(start)
