"""Plays the images of flash, which no registry of packages has, with flash's own server for functions that it is sent: on PORT of an
endpoint that balances load, or behind the queue.

usage: flash_worker.py web|queue
"""

import os
import sys

import httpx
import runpod
import uvicorn
from runpod_flash.runtime.lb_handler import create_lb_handler

server = create_lb_handler({("GET", "/ping"): lambda: {"status": "healthy"}}, include_execute=True)


async def execute(job):
    async with httpx.AsyncClient(transport=httpx.ASGITransport(server), base_url="http://flash") as itself:
        return (await itself.post("/execute", json=job["input"])).json()


if sys.argv[1] == "web":
    uvicorn.run(server, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning")
else:
    runpod.serverless.start({"handler": execute})
