"""The unmodified asyncio client: run, status, output, cancel, health.

usage: asyncio_client.py KEY ENDPOINT IDLE, as sync_client.py.
"""

import asyncio
import sys

import aiohttp
import runpod
from runpod.endpoint.asyncio.asyncio_runner import Endpoint

key, busy, idle = sys.argv[1:4]
runpod.api_key = key


async def main():
    async with aiohttp.ClientSession() as session:
        endpoint = Endpoint(busy, session)
        jobs = [await endpoint.run({"n": n}) for n in range(5)]
        for n, job in enumerate(jobs):
            output = await job.output(timeout=60)
            assert output in ({"n": n}, {"echo": {"n": n}}), output
            assert await job.status() == "COMPLETED"
        waiting = Endpoint(idle, session)
        job = await waiting.run({"n": 9})
        assert await job.status() == "IN_QUEUE"
        health = await waiting.health()
        assert health["jobs"]["inQueue"] >= 1, health
        assert (await job.cancel())["status"] == "CANCELLED"
        assert await job.status() == "CANCELLED"


asyncio.run(main())
print("ok: python asyncio client", runpod.__version__)
