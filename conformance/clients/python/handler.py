"""A plain handler for an unmodified SDK worker."""

import time

import runpod


def handler(job):
    given = job["input"]
    if given.get("fail"):
        raise ValueError("asked to fail")
    if "sleep" in given:
        time.sleep(given["sleep"])
    return {"echo": given}


runpod.serverless.start({"handler": handler})
