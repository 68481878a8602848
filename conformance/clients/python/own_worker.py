"""A worker that the server did not start, with a key that may do nothing but work for its endpoint.

usage: own_worker.py URL KEY ENDPOINT WORKER_KEY; URL ends in /v2. The worker runs handlers.py, with sync.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

url, key, endpoint, worker_key = sys.argv[1:]


def call(method, path, by, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": "Bearer " + by, "Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, data, headers, method=method), timeout=320) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


at = f"{url}/{endpoint}"
environment = os.environ | {
    "RUNPOD_WEBHOOK_GET_JOB": at + "/job-take/$ID?gpu=none",
    "RUNPOD_WEBHOOK_POST_OUTPUT": at + "/job-done/$RUNPOD_POD_ID/$ID?gpu=none",
    "RUNPOD_WEBHOOK_POST_STREAM": at + "/job-stream/$RUNPOD_POD_ID/$ID?gpu=none",
    "RUNPOD_WEBHOOK_PING": at + "/ping/$RUNPOD_POD_ID?gpu=none",
    "RUNPOD_PING_INTERVAL": "10000",
    "RUNPOD_POD_ID": "own",
    "RUNPOD_ENDPOINT_ID": endpoint,
    "RUNPOD_AI_API_KEY": worker_key,
    "RUNPOD_SKIP_AUTO_SYSTEM_CHECKS": "true",
    "RUNPOD_SKIP_GPU_CHECK": "true",
}
with tempfile.TemporaryDirectory() as directory:
    handlers = Path(__file__).with_name("handlers.py")
    worker = subprocess.Popen([sys.executable, "-u", handlers, "sync"], cwd=directory, env=environment, start_new_session=True)
    try:
        status, done = call("POST", f"/{endpoint}/runsync?wait=300000", key, {"input": {"n": 1}})
        assert status == 200 and done["status"] == "COMPLETED", done
        assert done["output"]["echo"] == {"n": 1} and done["workerId"] == "own", done
    finally:
        os.killpg(worker.pid, signal.SIGKILL)  # its pinger is a process of its own
        worker.wait()
for method, path, body in ("POST", f"/{endpoint}/run", {"input": {}}), ("GET", f"/{endpoint}/health", None), ("GET", "/pods", None):
    status, refused = call(method, path, worker_key, body)
    assert status == 403, (path, refused)
print("ok: a worker of one's own, with a key for nothing else")
