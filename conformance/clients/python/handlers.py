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


def sync(job):
    given = job["input"]
    if given.get("fail"):
        raise ValueError("asked to fail")
    if "error" in given:
        return given
    for step in given.get("progress", []):
        progress_update(job, step)
        time.sleep(given["sleep"])
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
    """Returns how many jobs it has worked on at once."""
    global together, most
    together += 1
    most = max(most, together)
    await asyncio.sleep(job["input"].get("sleep", 0))
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
