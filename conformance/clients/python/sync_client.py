"""The unmodified synchronous client: run, run_sync, status, output, stream, cancel, health, purge_queue.

usage: sync_client.py KEY ENDPOINT STREAM IDLE, with RUNPOD_ENDPOINT_BASE_URL set. ENDPOINT echoes its input, as it is or under
"echo"; STREAM streams input.values, input.sleep seconds apart; IDLE is without workers: jobs wait there.
"""

import sys

import runpod

key, busy, streaming, idle = sys.argv[1:5]
runpod.api_key = key


def same(output, given):
    assert output == given or output.get("echo") == given, output


endpoint = runpod.Endpoint(busy)
same(endpoint.run_sync({"input": {"n": 1}}, timeout=240), {"n": 1})

job = endpoint.run({"input": {"n": 2}})
same(job.output(timeout=240), {"n": 2})
assert job.status() == "COMPLETED", job.status()

values = [1, "two", {"three": [3]}]
job = runpod.Endpoint(streaming).run({"input": {"values": values, "sleep": 0.7}})
assert (got := list(job.stream())) == values, got
assert job.status() == "COMPLETED", job.status()

waiting = runpod.Endpoint(idle)  # some of whose calls give up after three seconds unless they are told otherwise
job = waiting.run({"input": {"n": 3}})
assert job.status() == "IN_QUEUE", job.status()
health = waiting.health(timeout=60)
assert health["jobs"]["inQueue"] >= 1, health
assert set(health["workers"]) == {"idle", "initializing", "ready", "running", "throttled", "unhealthy"}, health
assert job.cancel(timeout=60)["status"] == "CANCELLED"
assert job.status() == "CANCELLED", job.status()
job = waiting.run({"input": {"n": 4}})
assert (purged := waiting.purge_queue(timeout=60)) == {"removed": 1, "status": "completed"}, purged
assert job.status() == "CANCELLED", job.status()

try:
    runpod.Endpoint("nosuchendpoint").run({"input": {"n": 4}})
except Exception as error:  # the SDK raises what its HTTP library does
    assert "404" in str(error), error
else:
    raise AssertionError("an unknown endpoint took a job")
runpod.api_key = "brt_wrong"
try:
    runpod.Endpoint(busy).run({"input": {"n": 5}})
except RuntimeError:
    pass
else:
    raise AssertionError("a wrong key was taken")
print("ok: python sync client", runpod.__version__)
