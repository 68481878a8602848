"""Seeds, states, scripts, webhooks and their inbox, jobs and why, in the words of the server."""

import json
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from pytest_berth import Refused, Server
from pytest_berth.connection import Connection

POD = {"id": "podofthisseed1", "name": "seeded", "image": "busybox", "cpu": {"id": "cpu3g", "vcpuCount": 2}}

PICTURES = {
    "name": "pictures", "type": "QUEUE", "image": "pictures", "cpu": [{"id": "cpu3g", "vcpuCount": 2}],
    "scaling": {"type": "QUEUE_DELAY", "queueDelay": 1}, "workers": {"min": 1, "max": 1},
}


def names(berth):
    """Gives the names of the pods."""
    return [pod["name"] for pod in Connection(berth.url, berth.key).ask("GET", "/v2/pods")["pods"]]


@pytest.mark.berth_seed({"pods": [POD]})
def test_a_seed_is_there_from_the_start_and_after_a_reset(berth):
    assert names(berth) == ["seeded"]
    Connection(berth.url, berth.key).ask("DELETE", "/v2/pods/podofthisseed1")
    berth.reset()
    assert names(berth) == ["seeded"]


@pytest.mark.berth_seed(seed={"pods": [POD]})
def test_a_seed_can_be_named(berth):
    assert names(berth) == ["seeded"]


def test_a_seed_is_a_file_too(tmp_path):
    (tmp_path / "seed.yaml").write_text(json.dumps({"pods": [POD]}))
    for seed in (tmp_path / "seed.yaml", tmp_path):
        with Server(seed=seed) as berth:
            assert names(berth) == ["seeded"]


def test_a_state_is_saved_listed_loaded_and_deleted(berth):
    client = Connection(berth.url, berth.key)
    client.ask("POST", "/v2/pods", {key: value for key, value in POD.items() if key != "id"})
    berth.states.save("one-pod")
    assert [state["name"] for state in berth.states.list()] == ["one-pod"]
    berth.endpoint(lambda job: 1, name="later")
    client.ask("POST", "/v2/pods", {"name": "another", "image": "busybox", "cpu": {"id": "cpu3g", "vcpuCount": 2}})

    berth.states.load("one-pod")
    assert names(berth) == ["seeded"]
    assert client.ask("GET", "/v2/serverless")["endpoints"] == []
    assert berth.endpoint(lambda job: 2, name="after").runsync({})["output"] == 2
    berth.states.delete("one-pod")
    assert berth.states.list() == []
    with pytest.raises(Refused, match="404"):
        berth.states.load("one-pod")


def test_the_workers_of_an_endpoint_follow_a_script(berth):
    endpoint = Connection(berth.url, berth.key).ask("POST", "/v2/serverless", PICTURES)
    queue = Connection(f"{berth.queue_url}/v2/{endpoint['id']}", berth.key)
    berth.scripts.set(endpoint, answers=[{"match": [{"pointer": "/prompt", "equals": "bad"}], "error": "no picture"}, {"output": {"text": "{{/prompt}}"}}])
    assert queue.ask("POST", "/runsync", {"input": {"prompt": "a cat"}})["output"] == {"text": "a cat"}
    assert queue.ask("POST", "/runsync", {"input": {"prompt": "bad"}})["error"] == "no picture"
    assert berth.scripts.get(endpoint)["used"] == [1, 1]
    berth.scripts.delete(endpoint["id"])
    with pytest.raises(Refused, match="404"):
        berth.scripts.get(endpoint)


def test_a_webhook_comes_to_the_inbox_and_is_delivered_again(berth):
    endpoint = berth.endpoint(lambda job: "done")
    assert berth.inbox.received("orders") == []
    job = endpoint.run({}, webhook=berth.inbox.url("orders"))
    endpoint.status_sync(job)
    berth.clock.advance(60)
    assert [(body["id"], body["output"]) for body in berth.inbox.received("orders")] == [(job["id"], "done")]
    assert berth.inbox.received("others") == []

    [delivery] = berth.webhooks.list()
    assert (delivery["job"], delivery["status"]) == (job["id"], 204)
    berth.webhooks.deliver(delivery)
    berth.clock.advance(60)
    assert len(berth.inbox.received("orders")) == len(berth.webhooks.list()) == 2
    berth.journal.verify(operation="receiveWebhook", resource="orders", body={"/output": "done"}, times=2)


def post(url, body):
    """Posts what no webhook of the server has: what is refused is in the journal all the same."""
    parts = urlsplit(url)
    client = HTTPConnection(parts.hostname, parts.port)
    client.request("POST", parts.path, body, {"Content-Type": "application/json"})
    client.getresponse().read()
    client.close()


def test_a_body_comes_out_of_the_inbox_whole_or_not_at_all(berth):
    latin, long = b'"caf\xe9"', json.dumps({"output": "x" * 70_000}).encode()
    post(berth.inbox.url("latin"), latin)
    assert berth.inbox.received("latin") == [latin]
    post(berth.inbox.url("long"), long)
    with pytest.raises(ValueError, match=f"first 64 KiB of a body, and this one had {len(long)} bytes"):
        berth.inbox.received("long")

    for _ in range(520):
        post(berth.inbox.url("many"), json.dumps({"output": "x" * 65_000}))  # which are more than 32 MiB
    with pytest.raises(ValueError, match=r"forgot \d+ older requests"):
        berth.inbox.received("many")
    berth.journal.clear()
    assert berth.inbox.received("many") == []


def test_workers_of_an_endpoint_without_a_function_follow_its_script(berth):
    berth.clock.freeze()
    endpoint = berth.endpoint("pictures", workers={"min": 1, "max": 1})
    berth.scripts.set(endpoint, answers=[{"output": "{{/prompt}}"}])
    endpoint.run({"prompt": "a cat"}, webhook=berth.inbox.url("orders"))
    berth.clock.advance(60)
    assert [body["output"] for body in berth.inbox.received("orders")] == ["a cat"]
    berth.webhooks.deliver(berth.webhooks.list()[0])
    berth.clock.advance(60)
    assert len(berth.inbox.received("orders")) == 2

    with pytest.raises(TypeError, match="workers of a function are a number"):
        berth.endpoint(lambda job: 1, workers={"min": 1, "max": 1})


def test_jobs_are_listed_and_say_why_they_wait(berth):
    endpoint = berth.endpoint("idle")
    jobs = [endpoint.run({"n": n})["id"] for n in range(3)]
    assert [job["id"] for job in berth.jobs.list(endpointId=endpoint.id, status="IN_QUEUE")] == jobs[::-1]
    assert [job["id"] for job in berth.jobs.list(limit=1)] == jobs[2:]
    assert berth.jobs.list(**{"from": "2099-01-01T00:00:00Z"}) == []
    assert berth.jobs.get(jobs[0])["input"]["text"] == '{"n": 0}'
    assert berth.why.job({"id": jobs[0]})["reason"] == berth.why.endpoint(endpoint)["reason"] == "no_workers"

    pod = Connection(berth.url, berth.key).ask("POST", "/v2/pods", {"name": "p", "image": "busybox", "cpu": {"id": "cpu3g", "vcpuCount": 2}})
    berth.clock.advance(3600)
    assert berth.why.pod(pod)["reason"] == "running"
    with pytest.raises(Refused, match="404"):
        berth.why.job("none")
    assert {entry["operation"] for entry in berth.journal.entries()} == {"createEndpoint", "run", "createPod"}
