"""The unmodified asyncio client: run, status, output, stream, cancel, health, purge_queue.

usage: asyncio_client.py KEY ENDPOINT STREAM IDLE, as sync_client.py.
"""

import asyncio
import sys

import aiohttp
import runpod
from runpod.endpoint.asyncio.asyncio_runner import Endpoint

key, busy, streaming, idle = sys.argv[1:5]
runpod.api_key = key


async def main():
    async with aiohttp.ClientSession() as session:
        endpoint = Endpoint(busy, session)
        jobs = [await endpoint.run({"n": n}) for n in range(5)]
        for n, job in enumerate(jobs):
            output = await job.output(timeout=240)
            assert output == {"n": n} or output.get("echo") == {"n": n}, output
            assert await job.status() == "COMPLETED"
        values = [1, "two", {"three": [3]}]
        job = await Endpoint(streaming, session).run({"values": values, "sleep": 0.7})
        assert (got := [value async for value in job.stream()]) == values, got
        assert await job.status() == "COMPLETED"
        waiting = Endpoint(idle, session)
        job = await waiting.run({"n": 9})
        assert await job.status() == "IN_QUEUE"
        assert (await job.cancel())["status"] == "CANCELLED"
        assert await job.status() == "CANCELLED"
        if runpod.__version__ == "1.7.12":  # asks for the health and the purge at addresses without a host
            return
        await waiting.run({"n": 10})
        health = await waiting.health()
        assert health["jobs"]["inQueue"] >= 1, health
        assert (purged := await waiting.purge_queue()) == {"removed": 1, "status": "completed"}, purged


asyncio.run(main())
print("ok: python asyncio client", runpod.__version__)
