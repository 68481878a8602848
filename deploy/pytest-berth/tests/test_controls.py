"""The clock, the faults and the journal in the words of the server."""

from datetime import datetime, timedelta, timezone

import pytest

from pytest_berth import Refused
from pytest_berth.connection import Connection
from pytest_berth.controls import milliseconds, time_of

POD = {"name": "trainer", "image": "ubuntu:24.04", "cpu": {"id": "cpu3g", "vcpuCount": 2}}


def create(berth, **members):
    return Connection(berth.url, berth.key).send("POST", "/v2/pods", {**POD, **members})


def test_the_server_answers_at_its_addresses(berth):
    client = Connection(berth.url, berth.key)
    assert client.ask("GET", "/v2/pods")["pods"] == []
    assert Connection(berth.graphql_url, berth.key).ask("POST", "", {"query": "{myself{id}}"})["data"]["myself"]["id"]
    assert Connection(berth.url, "wrong").send("GET", "/v2/pods")[0] == 401
    assert berth.control("GET", "/clock")["mode"] == "running"


def test_the_clock_is_frozen_and_advanced_by_seconds_and_timedeltas(berth):
    before = berth.clock.freeze()
    assert before.tzinfo is timezone.utc
    assert berth.clock.state()["mode"] == "frozen"
    assert berth.clock.advance(1.5) - before == timedelta(seconds=1.5)
    assert berth.clock.advance(timedelta(days=1)) - before == timedelta(days=1, seconds=1.5)
    assert berth.clock.now() - before == timedelta(days=1, seconds=1.5)
    assert berth.clock.resume() >= before + timedelta(days=1)
    assert berth.clock.state()["mode"] == "running"


def test_a_pod_runs_once_the_time_of_its_start_has_passed(berth):
    berth.clock.freeze()
    pod = create(berth)[1]
    assert pod["status"] == "PROVISIONING"
    berth.clock.advance(timedelta(minutes=1))
    assert Connection(berth.url, berth.key).ask("GET", "/v2/pods/" + pod["id"])["status"] == "RUNNING"


def test_a_clock_that_goes_by_itself_goes_to_what_is_waited_for(berth):
    before = berth.clock.auto(timedelta(days=2), settle=10.0)  # who asks again is waited for no longer
    after = berth.clock.sleep(timedelta(hours=30))  # in real time it would not end with this test
    assert timedelta(hours=30) <= after - before <= timedelta(days=2)


def test_the_time_of_day_steps_back(berth):
    before = berth.clock.freeze()
    assert berth.clock.step(-3600) - before == timedelta(hours=-1)


@pytest.mark.parametrize(("text", "places"), [("", 0), (".1", 100000), (".123456789", 123456)])
def test_times_are_read_with_any_number_of_places(text, places):
    assert time_of(f"2026-10-01T10:11:12{text}Z") == datetime(2026, 10, 1, 10, 11, 12, places, timezone.utc)


def test_durations_are_whole_milliseconds():
    assert [milliseconds(d) for d in (1, 0.0015, timedelta(minutes=1))] == [1000, 2, 60000]


def test_a_fault_is_added_counted_and_taken_back(berth):
    fault = berth.faults.add("createPod", body={"/name": "trainer"}, status=503, retryAfter=0)
    assert create(berth)[0] == 503
    assert create(berth, name="other")[0] == 201
    [shown] = berth.faults.list()
    assert (shown["id"], shown["calls"], shown["shown"]) == (fault["id"], 1, 1)
    berth.faults.delete(fault)
    assert create(berth)[0] == 201


def test_faults_are_set_and_cleared(berth):
    berth.faults.set({"operation": "createPod", "status": 500}, {"operation": "listPods", "status": 500})
    assert [fault["operation"] for fault in berth.faults.list()] == ["createPod", "listPods"]
    berth.faults.clear()
    assert berth.faults.list() == []


def test_a_fault_that_makes_no_sense_is_refused_with_the_reason(berth):
    with pytest.raises(Refused, match="422.*statuss"):
        berth.faults.add("createPod", statuss=503)


def test_the_journal_has_what_was_sent(berth):
    create(berth)
    create(berth, name="")
    [refused] = berth.journal.entries(operation="createPod", status="4xx")
    assert refused["status"] == 422
    archive = berth.journal.har(operation="createPod")
    assert [entry["response"]["status"] for entry in archive["log"]["entries"]] == [201, 422]
    assert berth.journal.entries(operation="createPod", since=berth.clock.now() + timedelta(days=1)) == []
    berth.journal.clear()
    assert berth.journal.entries() == []


def test_what_came_as_it_should_is_verified(berth):
    create(berth)
    Connection(berth.url, berth.key).ask("GET", "/v2/pods")
    berth.journal.verify(operation="createPod", status=201, body={"/name": "trainer"}, headers={"content-type": "application/json"}, times=1)
    berth.journal.verify({"operation": "createPod"}, {"operation": "listPods", "times": {"atMost": 1}}, inOrder=True)


def test_what_did_not_come_fails_with_the_request_that_comes_nearest(berth):
    create(berth)
    with pytest.raises(AssertionError) as failure:
        berth.journal.verify(operation="createPod", body={"/name": "trainr"}, times=1)
    assert str(failure.value).splitlines() == [
        "the requests that came are not what was expected",
        '- requests with operation createPod, body /name "trainr": expected exactly 1, found 0',
        "  the nearest is number 1, POST /v2/pods, answered with 201:",
        '    body /name is "trainer", expected "trainr"',
    ]


def test_the_wrong_order_fails(berth):
    create(berth)
    Connection(berth.url, berth.key).ask("GET", "/v2/pods")
    with pytest.raises(AssertionError, match="createPod"):
        berth.journal.verify({"operation": "listPods"}, {"operation": "createPod"}, inOrder=True)


def test_a_reset_forgets_pods_faults_requests_and_endpoints(berth):
    create(berth)
    berth.faults.add("listPods", status=500)
    endpoint = berth.endpoint(lambda job: None)
    berth.reset()
    assert Connection(berth.url, berth.key).ask("GET", "/v2/pods")["pods"] == []
    assert berth.faults.list() == []
    by_workers = {"takeJob", "stopJobs"}  # the endpoint's may just have begun
    assert [entry["operation"] for entry in berth.journal.entries() if entry["operation"] not in by_workers] == ["listPods"]
    with pytest.raises(Refused, match="404"):
        endpoint.run({})


def test_a_key_has_the_scopes_that_it_is_made_with(berth):
    reader = berth.new_key("rest:read", name="reader")
    assert Connection(berth.url, reader["key"]).send("GET", "/v2/pods")[0] == 200
    assert Connection(berth.url, reader["key"]).send("POST", "/v2/pods", POD)[0] == 403
    berth.journal.verify(operation="createPod", keyId=reader["id"], status=403, times=1)
