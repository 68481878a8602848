"""A handler that raises ends its job FAILED, with the SDK's error document as a string.

usage: failing_job.py KEY ENDPOINT, with RUNPOD_ENDPOINT_BASE_URL set; the workers of ENDPOINT run handler.py.
"""

import json
import os
import sys
import urllib.request

key, endpoint = sys.argv[1:3]
request = urllib.request.Request(
    f"{os.environ['RUNPOD_ENDPOINT_BASE_URL']}/{endpoint}/runsync",
    data=json.dumps({"input": {"fail": True}}).encode(),
    headers={"Authorization": key, "Content-Type": "application/json"},
)
with urllib.request.urlopen(request, timeout=60) as response:
    job = json.load(response)
assert job["status"] == "FAILED", job
assert json.loads(job["error"])["error_message"] == "asked to fail", job
assert isinstance(job["delayTime"], int) and isinstance(job["executionTime"], int), job
assert job["workerId"], job
print("ok: a failing handler")
