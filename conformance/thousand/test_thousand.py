"""Very many tests, each with a server of its own: a seed, a fault and the journal, as tests of users have them."""

import os

import pytest

from pytest_berth.connection import Connection

POD, ENDPOINT = "podofeachtest1", "endpofeachtest"  # of the seed


@pytest.mark.parametrize("n", range(int(os.environ.get("BERTH_TESTS", "20"))))
def test_with_a_server_of_its_own(server, n):
    client = Connection(server.url, server.key)
    server.faults.add("getPod", status=503, times=1)
    assert client.send("GET", f"/v2/pods/{POD}")[0] == 503
    assert client.ask("GET", f"/v2/pods/{POD}")["name"] == "trainer"

    client.ask("POST", "/v2/pods", {"name": f"of-test-{n}", "image": "busybox", "cpu": {"id": "cpu3g", "vcpuCount": 2}})
    assert len(client.ask("GET", "/v2/pods")["pods"]) == 2
    assert client.ask("POST", f"/v2/{ENDPOINT}/run", {"input": {"n": n}})["status"] == "IN_QUEUE"

    server.journal.verify(
        {"operation": "getPod", "times": 2},
        {"operation": "createPod", "body": {"/name": f"of-test-{n}"}, "times": 1},
        {"operation": "run", "body": {"/input/n": n}, "times": 1},
    )
