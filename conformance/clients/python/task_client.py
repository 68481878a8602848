"""The tasks of the SDK, unmodified: a function runs in a pod of its own, which the SDK makes over GraphQL, reaches at the pod's
public name, and terminates.

usage: task_client.py URL KEY RUNTIME. The server's pods are processes, with env as an image. RUNTIME is the folder of what plays the
program of the task images.
"""

import asyncio
import os
import sys

os.environ["RUNPOD_API_BASE_URL"], os.environ["RUNPOD_API_KEY"], os.environ["TASK_RUNTIME"] = sys.argv[1:]
os.environ["RUNPOD_HAPI_URL"] = sys.argv[1] + "/_berth"

import runpod  # noqa: E402: it reads the environment when it is imported
from runpod.apps.errors import RemoteExecutionError  # noqa: E402
from runpod.apps.logs import pod_logs, stream_pod_logs  # noqa: E402
from task_functions import fail, greet  # noqa: E402

greeted = greet.remote("Ada")
assert greeted["greeting"] == "good day, Ada", greeted
assert runpod.get_pod(greeted["pod"]) is None, "the task's pod is still there"

job = greet.spawn("Grace")
made = job.pod_id
assert runpod.get_pod(made)["status"] in {"STARTING", "RUNNING"}


async def logs():
    """What rp logs asks for, and rp logs --follow."""
    shown = await pod_logs(made)
    async for line in stream_pod_logs(made):
        return shown, line


shown, line = asyncio.run(logs())
assert any("pod is" in one for one in shown["system"]) and "container" in shown, shown
assert line["source"] == "system" and line["line"] in shown["system"][0], line
result = job.wait()
result = asyncio.run(result) if asyncio.iscoroutine(result) else result
assert result["pod"] == made and runpod.get_pod(made) is None, result

try:
    fail.remote()
except RemoteExecutionError as error:
    assert "no such thing" in str(error), error
else:
    raise AssertionError("a task that fails did not fail")
assert runpod.get_pods() == [], "a task left a pod behind"
print("ok: tasks of the SDK", runpod.__version__)
