"""What task_client.py has run in pods. The SDK sends the text of this file there."""

import os

import runpod

app = runpod.App("checks")
OWN = {
    "cpu": ["cpu3g-2-8", "cpu3c-2-4"], "image": "env",
    "env": {"PYTHONPATH": os.environ.get("TASK_RUNTIME", ""), "GREETING": "good day"},
}


@app.task(**OWN)
def greet(name):
    return {"greeting": f"{os.environ['GREETING']}, {name}", "pod": os.environ["RUNPOD_POD_ID"]}


@app.task(**OWN)
def fail():
    raise ValueError("no such thing")
