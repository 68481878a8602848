"""Plays the machines that have the public image runpod/mock-worker: starts a worker for every endpoint of that image, with the
arguments of the endpoint, for as long as the endpoint is there.

usage: machine.py URL KEY; URL is that of the API. Ends its workers on SIGTERM.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

url, key = sys.argv[1:]
IMAGE = "runpod/mock-worker:latest"
PROGRAM = Path(__file__).with_name("mock_worker.py")
workers = {}


def endpoints():
    asked = urllib.request.Request(url + "/v2/serverless", headers={"Authorization": "Bearer " + key})
    with urllib.request.urlopen(asked, timeout=100) as answer:
        return {e["id"]: e for e in json.load(answer)["endpoints"] if e.get("image") == IMAGE}


def started(endpoint):
    at = f"{url}/v2/{endpoint['id']}"
    environment = os.environ | {
        "RUNPOD_WEBHOOK_GET_JOB": at + "/job-take/$ID?gpu=none",
        "RUNPOD_WEBHOOK_POST_OUTPUT": at + "/job-done/$RUNPOD_POD_ID/$ID?gpu=none",
        "RUNPOD_WEBHOOK_POST_STREAM": at + "/job-stream/$RUNPOD_POD_ID/$ID?gpu=none",
        "RUNPOD_WEBHOOK_PING": at + "/ping/$RUNPOD_POD_ID?gpu=none",
        "RUNPOD_PING_INTERVAL": "10000",
        "RUNPOD_POD_ID": "machine-" + endpoint["id"],
        "RUNPOD_ENDPOINT_ID": endpoint["id"],
        "RUNPOD_AI_API_KEY": key,
        "RUNPOD_SKIP_AUTO_SYSTEM_CHECKS": "true",
        "RUNPOD_SKIP_GPU_CHECK": "true",
    }
    # The command of an endpoint is that of the image's container, such as python -u /handler.py --generator.
    arguments = shlex.split(endpoint["args"])
    arguments = arguments[arguments.index("/handler.py") + 1 :]
    directory = tempfile.mkdtemp(dir=os.environ.get("TMPDIR"))
    return subprocess.Popen([sys.executable, "-u", PROGRAM, *arguments], cwd=directory, env=environment, start_new_session=True)


def ended(worker):
    os.killpg(worker.pid, signal.SIGKILL)  # its pinger is a process of its own
    worker.wait()


def stop(*_):
    for worker in workers.values():
        ended(worker)
    sys.exit(0)


signal.signal(signal.SIGTERM, stop)
while True:
    there = endpoints()
    for gone in workers.keys() - there.keys():
        ended(workers.pop(gone))
    for new in there.keys() - workers.keys():
        workers[new] = started(there[new])
    time.sleep(0.2)
