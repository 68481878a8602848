"""For authors of a client or an SDK: what it sends, what it makes of failures, and what it does when hours go by. Here the runpod SDK
is the one that is tested, on an endpoint of seed.yaml."""

import pytest
import requests
import runpod

ENDPOINT = "gallerycaption"
CAPTION = {"answers": [{"delay": {"fixed": 60_000}, "output": "a picture of {{/of}}"}]}


@pytest.fixture
def endpoint(berth, monkeypatch):
    monkeypatch.setattr(runpod, "endpoint_url_base", berth.queue_url + "/v2")
    monkeypatch.setattr(runpod, "api_key", "the-key-of-the-gallery")
    berth.controls.send("PUT", f"/endpoints/{ENDPOINT}/script", CAPTION)
    berth.clock.freeze()
    return runpod.Endpoint(ENDPOINT)


def submitted(times):
    """Expects so many jobs about a cat."""
    return {"operation": "run", "resource": ENDPOINT, "body": [{"pointer": "/input/of", "equals": "a cat"}], "times": {"exactly": times}}


def test_a_job_is_submitted_once_and_its_output_is_read(berth, endpoint):
    job = endpoint.run({"input": {"of": "a cat"}})
    assert job.status() == "IN_QUEUE"
    berth.clock.advance(120)
    assert job.output() == "a picture of a cat"
    assert berth.controls.verify(submitted(1), {"operation": "status", "status": "200", "times": {"atLeast": 2}}) == []


def test_an_answer_that_is_lost_is_an_error_and_not_a_second_job(berth, endpoint):
    berth.controls.fault("run", when="after", status=500, times=1)
    with pytest.raises(requests.HTTPError):
        endpoint.run({"input": {"of": "a cat"}})
    assert berth.controls.verify(submitted(1)) == []
    assert endpoint.health()["jobs"]["inQueue"] == 1  # the job is there, and is paid for


def test_a_result_is_gone_half_an_hour_later(berth, endpoint):
    job = endpoint.run({"input": {"of": "a cat"}})
    berth.clock.advance(120 + 30 * 60)
    with pytest.raises(requests.HTTPError):
        job.status()
    assert berth.controls.verify(submitted(1), {"operation": "status", "status": "404", "times": {"exactly": 1}}) == []
