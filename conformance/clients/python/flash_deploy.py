"""`flash deploy`, unmodified: it builds an app of a function and an API, sends its artifact, makes the endpoints of an environment, and their
workers run what was sent. Then what it says of apps and environments, and the deletion of the app.

usage: flash_deploy.py URL KEY. The server's pods are processes, with flash and flash-web as images.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import runpod_flash
from runpod_flash.flash_sentinel import sentinel_lb_request

url, key = sys.argv[1:]
os.environ |= {
    "RUNPOD_API_BASE_URL": url, "RUNPOD_API_KEY": key, "RUNPOD_URL_MIXED_OK": "1", "FLASH_CPU_IMAGE": "flash", "FLASH_CPU_LB_IMAGE": "flash-web",
}  # fmt: skip
APP = """
from runpod_flash import Endpoint

web = Endpoint(name="greeter", cpu="cpu3g-2-8", workers=(0, 1), idle_timeout=1)


@web.post("/greet")
async def greet(name: str):
    return {"greeting": f"WORD, {name}"}


@Endpoint(name="double", cpu="cpu3g-2-8", workers=(0, 1), idle_timeout=1, env={"SAID": "WORD"})
async def double(n: int):
    import os

    return {"word": "WORD", "said": os.environ["SAID"], "twice": 2 * n}
"""
project = Path(tempfile.mkdtemp())
http = httpx.Client(headers={"Authorization": f"Bearer {key}"}, timeout=320)


def flash(*args):
    done = subprocess.run([Path(sys.executable).parent / "flash", *args], cwd=project, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, (args, done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout


def deploy(word):
    (project / "main.py").write_text(APP.replace("WORD", word))
    told = flash("deploy", "--app", "shop", "--env", "production")
    assert "deployed to production" in told, told
    query = '{ flashAppByName(flashAppName: "shop") { flashEnvironments { endpoints { id name } } flashBuilds { id } } }'
    app = http.post(f"{url}/graphql", json={"query": query}).json()["data"]["flashAppByName"]
    [environment] = app["flashEnvironments"]
    return {e["name"]: e["id"] for e in environment["endpoints"]}, len(app["flashBuilds"])


def answers(ids, word):
    for _ in range(20):  # a worker of the release before takes jobs until it has idled
        job = http.post(f"{url}/v2/{ids['double']}/runsync?wait=300000", json={"input": {"n": 21}}).json()
        if job.get("output", {}).get("said") == word:
            break
        time.sleep(5)
    assert job.get("output") == {"word": word, "said": word, "twice": 42}, job
    named = {"X-Flash-App": "shop", "X-Flash-Environment": "production", "X-Flash-Endpoint": "double"}  # as functions call each other
    assert http.post(f"{url}/v2/flash/runsync", json={"input": {"n": 4}}, headers=named).json()["output"]["twice"] == 8
    greeted = http.post(f"{url}/proxy/endpoints/{ids['greeter']}/greet", json={"name": "Ada"})  # held until there is a worker
    assert greeted.json() == {"greeting": f"{word}, Ada"}, greeted.text
    for named in ("greeter", ids["greeter"]):  # as functions call the routes of another endpoint: by its name, or by its id
        called = asyncio.run(sentinel_lb_request("shop", "production", named, "POST", "/greet", {"name": "Grace"}))
        assert called == {"greeting": f"{word}, Grace"}, called


made, builds = deploy("good day")
assert set(made) == {"double", "greeter"} and builds == 1, (made, builds)
answers(made, "good day")

assert "1 env" in flash("app", "list") and "production" in flash("app", "get", "shop")
assert "production" in flash("env", "list", "--app", "shop") and made["double"] in flash("env", "get", "production", "--app", "shop")

changed, builds = deploy("good noon")  # the same endpoints, with another environment
assert changed == made and builds == 2, (changed, builds)
answers(changed, "good noon")

flash("app", "delete", "shop")
assert "no apps found" in flash("app", "list")
assert all(http.get(f"{url}/v2/serverless/{one}").status_code == 404 for one in made.values())

again, _ = deploy("good night")  # under the same names
assert not set(again.values()) & set(made.values())
answers(again, "good night")
flash("app", "delete", "shop")
print("ok: flash deploy", runpod_flash.__version__)
