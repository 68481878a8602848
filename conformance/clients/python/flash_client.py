"""Live functions of flash, unmodified: it makes their endpoints over GraphQL, sends each function with its call, to a queue or by the name
of an endpoint that balances load, and takes the endpoints away again.

usage: flash_client.py URL KEY. The server's pods are processes, with flash and flash-web as images.
"""

import asyncio
import os
import sys
import tempfile

from fastapi import HTTPException

os.environ["RUNPOD_API_BASE_URL"], os.environ["RUNPOD_API_KEY"] = sys.argv[1:]
os.environ["RUNPOD_HAPI_URL"] = sys.argv[1] + "/_berth"
os.environ |= {"FLASH_IS_LIVE_PROVISIONING": "true", "FLASH_CPU_IMAGE": "flash", "FLASH_CPU_LB_IMAGE": "flash-web", "RUNPOD_URL_MIXED_OK": "1"}
os.chdir(tempfile.mkdtemp())  # flash writes down there what it has made

import runpod_flash  # noqa: E402: it reads the environment when it is imported
from runpod_flash import CpuLiveLoadBalancer, Endpoint, ResourceManager  # noqa: E402
from runpod_flash.core.resources.request_logs import QBRequestLogFetcher  # noqa: E402
from runpod_flash.cli.commands._run_server_helpers import lb_execute  # noqa: E402: what flash dev does with a request to a route

web = Endpoint(name="web", cpu="cpu3g-2-8", workers=(0, 1))


@web.post("/greet")
async def greet(name: str):
    import os

    return {"greeting": f"good day, {name}", "worker": os.environ["RUNPOD_POD_ID"]}


@Endpoint(name="double", cpu="cpu3g-2-8", workers=(0, 1))
async def double(n: int):
    return 2 * n


@Endpoint(name="fails", cpu="cpu3g-2-8", workers=(0, 1))
async def fails():
    raise ValueError("no such thing")


async def first_greeting():
    """The call is held until there is a worker, but flash gives one up after a minute, which a worker may take to start on a busy machine."""
    for _ in range(5):
        try:
            return await lb_execute(web, greet, {"name": "Ada"})
        except HTTPException as late:
            if late.status_code != 504:
                raise
    raise AssertionError("no worker answered within five minutes")


async def main():
    greeted = await first_greeting()
    assert greeted["greeting"] == "good day, Ada", greeted
    assert (await lb_execute(web, greet, {"name": "Grace"}))["worker"] == greeted["worker"]
    written = await QBRequestLogFetcher()._fetch_pod_logs(greeted["worker"], os.environ["RUNPOD_API_KEY"])  # as while a job is under way
    assert any("worker is up" in line for line in written["system"]), written
    assert await double(21) == 42
    try:
        await fails()
    except Exception as error:
        assert "no such thing" in str(error), error
    else:
        raise AssertionError("a function that fails did not fail")

    made = ResourceManager()
    resources = made.list_all_resources()
    served = next(r for r in resources.values() if isinstance(r, CpuLiveLoadBalancer))
    assert await Endpoint(id=served.id).get("/ping") == {"status": "healthy"}
    for uid, resource in resources.items():
        done = await made.undeploy_resource(uid, resource.name)
        assert done["success"], done


asyncio.run(main())
print("ok: live functions of flash", runpod_flash.__version__)
