"""Plays the program of the public image runpod/mock-worker, with the SDK that is installed: its handler waits for mock_delay seconds
and gives mock_return.

usage: mock_worker.py [--generator | --async_generator] [--return_aggregate_stream]
"""

import argparse
import asyncio
import time

import runpod

parser = argparse.ArgumentParser()
parser.add_argument("--generator", action="store_true")
parser.add_argument("--async_generator", action="store_true")
parser.add_argument("--return_aggregate_stream", action="store_true")
asked = parser.parse_args()


def plain(job):
    time.sleep(job["input"].get("mock_delay", 0))
    return job["input"]["mock_return"]


def generator(job):
    for value in job["input"]["mock_return"]:
        time.sleep(job["input"].get("mock_delay", 0))
        yield value


async def async_generator(job):
    for value in job["input"]["mock_return"]:
        await asyncio.sleep(job["input"].get("mock_delay", 0))
        yield value


handler = generator if asked.generator else async_generator if asked.async_generator else plain
runpod.serverless.start({"handler": handler, "return_aggregate_stream": asked.return_aggregate_stream})
