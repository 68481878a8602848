"""For a pipeline that deploys to the service and is tested by its contract: a nightly job starts the pod of an archive, waits for it and
stops it again. What it does stands in the journal; that the service fails, or takes its time, is up to the test."""

import pytest
import requests

POD = "galleryarchive"  # stopped, in seed.yaml


class Nightly:
    """The program that is tested. It has its own sleep, so that the test's clock can stand for it."""

    def __init__(self, url, sleep):
        self.pod, self.sleep = f"{url}/v2/pods/{POD}", sleep
        self.headers = {"Authorization": "Bearer the-key-of-the-gallery"}

    def act(self, action):
        for _ in range(3):  # a refusal for a while is tried again
            answer = requests.post(self.pod + "/action", json={"action": action}, headers=self.headers, timeout=60)
            if answer.status_code != 503:
                break
            self.sleep(int(answer.headers["Retry-After"]))
        answer.raise_for_status()

    def run(self):
        self.act("start")
        for _ in range(60):
            if requests.get(self.pod, headers=self.headers, timeout=60).json()["status"] == "RUNNING":
                return self.act("stop")
            self.sleep(5)
        raise TimeoutError("the pod does not run")


@pytest.fixture
def nightly(berth):
    berth.clock.freeze()
    return Nightly(berth.url, berth.clock.advance)


def action(name, status, times):
    """Expects an action so many times."""
    return {
        "operation": "podAction", "resource": POD, "status": status, "body": [{"pointer": "/action", "equals": name}], "times": {"exactly": times}
    }


def test_the_pod_is_started_and_stopped_once(berth, nightly):
    before = berth.clock.now()
    nightly.run()
    assert berth.controls.verify(action("start", "2xx", 1), action("stop", "2xx", 1)) == []
    assert (berth.clock.now() - before).total_seconds() < 60


def test_a_service_that_is_away_is_waited_for(berth, nightly):
    berth.controls.fault("podAction", status=503, retryAfter=30, times=2)
    before = berth.clock.now()
    nightly.run()
    assert berth.controls.verify(action("start", "503", 2), action("start", "2xx", 1), action("stop", "2xx", 1)) == []
    assert (berth.clock.now() - before).total_seconds() >= 60


def test_a_service_that_stays_away_leaves_the_pod_stopped(berth, nightly):
    berth.controls.fault("podAction", status=503, retryAfter=30)
    with pytest.raises(requests.HTTPError):
        nightly.run()
    assert berth.controls.verify(action("start", "503", 3), action("stop", "503", 0)) == []
    assert requests.get(nightly.pod, headers=nightly.headers, timeout=60).json()["status"] == "EXITED"
