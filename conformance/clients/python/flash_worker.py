"""Plays the images of flash, which no registry of packages has: on PORT of an endpoint that balances load, or behind the queue. It
unpacks the artifact of an app and starts its handler, as they do; without one, flash's own server runs functions that it is sent.

usage: flash_worker.py web|queue
"""

import importlib
import os
import sys
import tarfile
import tempfile

import httpx
import runpod
import uvicorn
from runpod_flash.runtime.lb_handler import create_lb_handler

web = sys.argv[1] == "web"
artifact = os.environ.get("FLASH_BUILD_ARTIFACT_PATH")
server = create_lb_handler({("GET", "/ping"): lambda: {"status": "healthy"}}, include_execute=True)


async def execute(job):
    async with httpx.AsyncClient(transport=httpx.ASGITransport(server), base_url="http://flash") as itself:
        return (await itself.post("/execute", json=job["input"])).json()


def deployed():
    """The handler that flash made when it built the app."""
    app = tempfile.mkdtemp()
    with tarfile.open(artifact) as files:
        files.extractall(app, filter="data")
    os.chdir(app)
    sys.path.insert(0, app)
    return importlib.import_module("handler_" + os.environ["FLASH_RESOURCE_NAME"])


if web:
    uvicorn.run(deployed().app if artifact else server, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning")
else:
    runpod.serverless.start({"handler": deployed().handler if artifact else execute})
