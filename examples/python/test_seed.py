"""A test on what is there from the start: seed.yaml fixes the ids and the key."""

import requests

HEADERS = {"Authorization": "Bearer the-key-of-the-gallery"}


def statuses(berth):
    pods = requests.get(berth.url + "/v2/pods", headers=HEADERS).json()["pods"]
    return {pod["id"]: pod["status"] for pod in pods}


def test_a_reset_goes_back_to_the_seed(berth):
    berth.clock.advance(60)
    assert statuses(berth) == {"gallerytrainer": "RUNNING", "galleryarchive": "EXITED"}

    assert requests.delete(berth.url + "/v2/pods/gallerytrainer", headers=HEADERS).status_code == 204
    berth.controls.reset()
    berth.clock.advance(60)
    assert statuses(berth) == {"gallerytrainer": "RUNNING", "galleryarchive": "EXITED"}
