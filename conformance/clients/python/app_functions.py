"""An app of the SDK, which `rp flash dev` runs as it is: an API on an endpoint that balances load, a function on a queue, and what the
developer's machine asks of both.
"""

import os

import runpod
from runpod.apps.markers import get, init, post

app = runpod.App("shop")
OWN = {"cpu": ["cpu3g-2-8"], "image": "env", "workers": (0, 1), "env": {"PYTHONPATH": os.environ.get("APP_RUNTIME", "")}}


@app.api(name="greeter", **OWN)
class Greeter:
    @init
    def prepare(self):
        self.word = "good day"

    @post("/greet")
    def greet(self, body):
        return {"greeting": f"{self.word}, {body['name']}", "worker": os.environ["RUNPOD_POD_ID"]}

    @get("/release")
    def release(self):
        return {"python": os.environ["PORT"]}


@app.queue(name="double", **OWN)
def double(n):
    return 2 * n


@runpod.local_entrypoint
def main():
    greeted = Greeter.post("/greet", {"name": "Ada"})  # held until there is a worker
    assert greeted["greeting"] == "good day, Ada", greeted
    assert Greeter.post("/greet", {"name": "Grace"})["worker"] == greeted["worker"]
    assert Greeter.get("/release") == {"python": "80"}
    assert double.remote(21) == 42
    print("the app was answered")
