"""A handler that does nothing, for the SDK's own local API server and for a worker of berth."""

import os

import runpod


async def handler(job):
    return {"answer": 42}


runpod.serverless.start({"handler": handler, "concurrency_modifier": lambda _: int(os.environ.get("CONCURRENCY", "64"))})
