"""The server in a container, as testcontainers runs it. It needs an engine, and in BERTH_IMAGE the image."""

import os

import pytest
from pytest_berth import Refused
from pytest_berth.connection import Connection
from pytest_berth.container import BerthContainer

POD = {"name": "made", "image": "i", "cpu": {"id": "cpu3g", "vcpuCount": 2}}


def test_a_container_gives_a_server_of_the_tests_own(tmp_path):
    seed = tmp_path / "seed.yaml"
    seed.write_text("pods:\n  - {name: seeded, image: i, cpu: {id: cpu3g, vcpuCount: 2}}\n")
    with BerthContainer(os.environ["BERTH_IMAGE"], "--endpoint", "echo=", seed=seed) as berth:
        client = Connection(berth.url, berth.key)
        assert [pod["name"] for pod in client.ask("GET", "/v2/pods")["pods"]] == ["seeded"]
        assert [e["name"] for e in client.ask("GET", "/v2/serverless")["endpoints"]] == ["echo"]

        berth.faults.add(operation="createPod", when="after", status=503, times=1)
        with pytest.raises(Refused):
            client.ask("POST", "/v2/pods", POD)
        berth.journal.verify(operation="createPod", status=503, times=1)
        assert len(client.ask("GET", "/v2/pods")["pods"]) == 2
        berth.reset()
        assert len(client.ask("GET", "/v2/pods")["pods"]) == 1

        [echo] = client.ask("GET", "/v2/serverless")["endpoints"]
        queue = Connection(f"{berth.url}/v2/{echo['id']}", berth.key)
        job = queue.ask("POST", "/run", {"input": {}, "webhook": berth.inbox.url("orders")})
        queue.ask("POST", "/cancel/" + job["id"])
        berth.clock.advance(60)
        assert [(body["id"], body["status"]) for body in berth.inbox.received("orders")] == [(job["id"], "CANCELLED")]
