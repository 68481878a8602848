"""Tests of code that uses the runpod SDK, which is as it comes from its registry."""

import pytest
import runpod


@pytest.fixture(autouse=True)
def sdk(berth, monkeypatch):
    """Points the SDK at the server of the test."""
    monkeypatch.setattr(runpod, "endpoint_url_base", berth.queue_url + "/v2")
    monkeypatch.setattr(runpod, "api_key", berth.key)
    monkeypatch.setenv("RUNPOD_API_BASE_URL", berth.url)


def test_a_job_gives_its_output(berth):
    endpoint = runpod.Endpoint(berth.endpoints["echo"])
    assert endpoint.run_sync({"input": {"hello": "berth"}}, timeout=120) == {"hello": "berth"}


def test_a_job_that_nobody_takes_times_out_after_a_day(berth):
    berth.clock.freeze()
    job = runpod.Endpoint(berth.endpoints["idle"]).run({"input": {"n": 1}})
    assert job.status() == "IN_QUEUE"
    berth.clock.advance(24 * 60 * 60)
    assert job.status() == "TIMED_OUT"


def test_a_pod_runs_a_minute_later(berth):
    before = berth.clock.freeze()
    pod = runpod.create_pod("trainer", "ubuntu:24.04", "NVIDIA L4")
    assert runpod.get_pod(pod["id"])["runtime"] is None
    berth.clock.advance(60)
    assert runpod.get_pod(pod["id"])["runtime"] is not None
    assert (berth.clock.now() - before).total_seconds() == 60


def test_every_test_has_a_server_of_its_own():
    assert runpod.get_pods() == []
