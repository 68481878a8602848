"""Tests of code that needs a serverless endpoint, against one without a handler: a script says what its workers do."""

import pytest
import requests
import runpod

ENDPOINT = {
    "name": "pictures", "type": "QUEUE", "image": "pictures:1", "cpu": [{"id": "cpu3c", "vcpuCount": 2}],
    "scaling": {"type": "QUEUE_DELAY", "queueDelay": 4},
}
SCRIPT = {
    "seed": 1,
    "coldStart": {"pull": 20_000, "init": 1_000, "load": 9_000},
    "answers": [
        {"match": [{"pointer": "/prompt", "equals": "forbidden"}], "error": "{{/prompt}} cannot be drawn"},
        {"match": [{"pointer": "/prompt", "equals": "huge"}], "delay": {"fixed": 500}, "crash": {"exitCode": 137}, "times": 1},
        {"match": [{"pointer": "/story", "equals": True}], "chunks": [{"value": "Once "}, {"after": 100, "value": "{{/prompt}}"}]},
        {
            "delay": {"normal": {"mean": 2_000, "deviation": 200}},
            "progress": [{"after": 1_000, "value": "half"}],
            "output": {"picture": "{{/prompt}}.png", "attempt": "{{attempt}}"},
        },
    ],
}


@pytest.fixture
def endpoint(berth, monkeypatch):
    """The SDK's endpoint, whose workers have the script; nothing happens unless the clock is set forward."""
    monkeypatch.setattr(runpod, "endpoint_url_base", berth.queue_url + "/v2")
    monkeypatch.setattr(runpod, "api_key", berth.key)
    made = requests.post(berth.url + "/v2/serverless", json=ENDPOINT, headers={"Authorization": f"Bearer {berth.key}"}, timeout=60)
    assert made.status_code == 201, made.text
    id = made.json()["id"]
    berth.controls.send("PUT", f"/endpoints/{id}/script", SCRIPT)
    berth.clock.freeze()
    return runpod.Endpoint(id)


def test_a_cold_start_is_waited_for_and_progress_is_seen(berth, endpoint):
    job = endpoint.run({"input": {"prompt": "a cat"}})
    berth.clock.advance(29.9)  # the image is pulled, the program begins, the model is loaded
    assert job.status() == "IN_QUEUE"
    berth.clock.advance(1.1)
    assert job.status() == "IN_PROGRESS"
    assert job._fetch_job()["output"] == "half"
    berth.clock.advance(5)
    assert job.output() == {"picture": "a cat.png", "attempt": 1}


def test_a_stream_comes_in_its_parts(berth, endpoint):
    job = endpoint.run({"input": {"prompt": "upon a time", "story": True}})
    berth.clock.advance(60)
    assert list(job.stream()) == ["Once ", "upon a time"]


def test_an_error_is_that_of_the_handler(berth, endpoint):
    job = endpoint.run({"input": {"prompt": "forbidden"}})
    berth.clock.advance(60)
    assert job.status() == "FAILED"
    assert job._fetch_job()["error"] == "forbidden cannot be drawn"


def test_a_job_whose_worker_crashes_is_tried_again(berth, endpoint):
    job = endpoint.run({"input": {"prompt": "huge"}})
    berth.clock.advance(30.5)
    assert job.status() != "COMPLETED"
    berth.clock.advance(60)  # another worker, with a cold start of its own
    assert job.output() == {"picture": "huge.png", "attempt": 2}
