"""A test that finds a retry which does things twice: the answer was lost, and what was asked for was done."""

import pytest
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

POD = {"name": "trainer", "image": "ubuntu:24.04", "cpu": {"id": "cpu3g", "vcpuCount": 2}}


@pytest.fixture
def client(berth):
    """A client as many are: what gets a 503 is sent again, POST too."""
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {berth.key}"
        session.mount(berth.url, HTTPAdapter(max_retries=Retry(total=2, status_forcelist=[503], allowed_methods=None)))
        yield session


def pods(berth, client):
    return client.get(berth.url + "/v2/pods").json()["pods"]


def test_a_retry_after_a_refusal_makes_one_pod(berth, client):
    berth.controls.fault("createPod", status=503, retryAfter=0, times=1)
    assert client.post(berth.url + "/v2/pods", json=POD).status_code == 201
    assert len(pods(berth, client)) == 1


def test_a_retry_after_a_lost_answer_makes_two_pods_and_is_caught(berth, client):
    berth.controls.fault("createPod", when="after", status=503, retryAfter=0, times=1)
    assert client.post(berth.url + "/v2/pods", json=POD).status_code == 201  # the client sees nothing of it
    assert len(pods(berth, client)) == 2  # one of them is paid for, and nobody knows its id

    # A test of a client that is right asserts that there is no failure. This one is not.
    once = {"operation": "createPod", "body": [{"pointer": "/name", "equals": "trainer"}], "times": {"exactly": 1}}
    [failure] = berth.controls.verify(once)
    assert "operation createPod" in failure
    assert "expected exactly 1, found 2" in failure
