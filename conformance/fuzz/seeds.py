"""What there must be before a request can get far: things of REST with their ids, and jobs. All of it is made over HTTP."""

import io
import tarfile
import time

import requests

PATIENCE = 60  # seconds, for what happens by itself
# Collections in which no two things have the same of a member.
UNIQUE = {"/v2/account/secrets": "name", "/_berth/hosts": "id", "/_berth/users": "name"}


class Seeds:
    """Things and jobs of the server at url, for its key. Document is the OpenAPI document whose examples things are made of."""

    def __init__(self, url, key, document):
        self.url = url
        self.paths = document["paths"]
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {key}"
        self.ids = {}
        self.staffed = None  # an endpoint with a worker
        self.built = None  # an endpoint and a build of it
        self.told = None  # a pod of its user
        self.balancer = None  # an endpoint of its user that balances load

    def send(self, method, path, **arguments):
        response = self.session.request(method, self.url + path, timeout=100, **arguments)
        if not response.ok:
            raise RuntimeError(f"{method} {path}: {response.status_code} {response.text}")
        return response

    def example(self, path, method="post"):
        """The first example of the body of an operation, None if it has none."""
        body = self.paths.get(path, {}).get(method, {}).get("requestBody", {})
        for media in body.get("content", {}).values():
            for example in media.get("examples", {}).values():
                return example["value"]
        return None

    def make(self, collection, **members):
        """Makes a thing of the collection from its example and the members, where None leaves one out; gives its id."""
        body = {name: value for name, value in (self.example(collection) | members).items() if value is not None}
        if collection in UNIQUE:
            body[UNIQUE[collection]] += f"_{time.monotonic_ns()}"
        made = self.send("POST", collection, json=body).json()
        return made["name"] if collection == "/_berth/users" else made["id"]

    def build(self):
        """An endpoint and a build of it, made at the first call."""
        if self.built is None:
            endpoint = self.make("/v2/serverless", name="built")
            archive = io.BytesIO()
            with tarfile.open(fileobj=archive, mode="w") as files:
                text = b"FROM scratch\n"
                header = tarfile.TarInfo("Dockerfile")
                header.size = len(text)
                files.addfile(header, io.BytesIO(text))
            answer = self.send("POST", f"/_berth/endpoints/{endpoint}/builds", data=archive.getvalue(), headers={"Content-Type": "application/x-tar"})
            self.built = endpoint, answer.json()["id"]
        return self.built

    def of(self, collection):
        """The id of a thing of the collection, made if there is none; None if the document has no example to make it from."""
        if collection not in self.ids and self.example(collection) is not None:
            self.ids[collection] = self.make(collection)
        return self.ids.get(collection)

    def worker(self):
        """An endpoint and a worker of it, which is the server's to replace: asked for each time."""
        if self.staffed is None:
            self.staffed = self.make("/v2/serverless", workers={"min": 1, "max": 1})
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            workers = self.send("GET", f"/v2/serverless/{self.staffed}/workers").json()["workers"]
            if workers:
                return self.staffed, workers[0]["id"]
            time.sleep(0.1)
        raise RuntimeError(f"no worker of {self.staffed} within {PATIENCE} s")

    def entry(self):
        """The number of the last entry of the journal. No key may be known by it: schemathesis would revoke it."""
        self.send("DELETE", "/_berth/faults")  # one that a random request scripted would be in the way
        requests.get(self.url + "/v2/pods", timeout=100)
        return self.send("GET", "/_berth/journal?limit=1").json()["entries"][0]["number"]

    def owner(self):
        """Seeds of a key of the same user that may do all, for the key of the test controls, which may read and make nothing. It is a new one
        each time: a state that is loaded has no such key."""
        key = self.send("POST", "/_berth/keys", json={"scopes": ["all"], "exempt": True}).json()["key"]
        return Seeds(self.url, key, {"paths": self.paths})

    def delivery(self, endpoint):
        """The number of a delivery that is over."""
        self.send("DELETE", "/_berth/faults")
        self.send("PUT", "/_berth/storage", json={"state": "writable"})
        owner = self.owner()
        job = owner.send("POST", f"/v2/{endpoint}/run", json={"input": {}, "webhook": f"{self.url}/_berth/inbox/fuzz"}).json()["id"]
        owner.cancel(endpoint, job)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for entry in self.send("GET", "/_berth/webhooks").json()["webhooks"]:
                if entry["job"] == job and entry["nextAt"] is None:
                    return entry["number"]
            time.sleep(0.01)
        raise RuntimeError(f"job {job} was not delivered within {PATIENCE} s")

    def scripted(self):
        """An endpoint that has a script."""
        self.send("DELETE", "/_berth/faults")
        self.send("PUT", "/_berth/storage", json={"state": "writable"})
        endpoint = self.owner().send("POST", "/v2/serverless", json={
            "name": "scripted", "type": "QUEUE", "image": "i", "cpu": [{"id": "cpu3c", "vcpuCount": 2}], "scaling": {"type": "QUEUE_DELAY", "queueDelay": 4},
        }).json()["id"]
        self.send("PUT", f"/_berth/endpoints/{endpoint}/script", json={"answers": [{"output": 1}]})
        return endpoint

    def told_job(self, endpoint):
        """A job that waits."""
        return self.owner().submit(endpoint)

    def told_pod(self):
        """A pod, made at the first call."""
        if self.told is None:
            self.told = self.owner().send("POST", "/v2/pods", json={"name": "told", "image": "i", "cpu": {"id": "cpu3c", "vcpuCount": 2}}).json()["id"]
        return self.told

    def balancing(self):
        """An endpoint that balances load, made at the first call."""
        if self.balancer is None:
            self.balancer = self.owner().send("POST", "/v2/serverless", json={
                "name": "balances", "type": "LOAD_BALANCER", "image": "i", "cpu": [{"id": "cpu3c", "vcpuCount": 2}], "scaling": {"type": "REQUEST_COUNT", "requestCount": 4},
            }).json()["id"]
        return self.balancer

    def gone(self, collection, thing):
        """Forgets the thing, if it is the one that of gives."""
        if thing is not None and self.ids.get(collection) == thing:
            del self.ids[collection]

    def submit(self, endpoint):
        """Submits a job; gives its id."""
        return self.send("POST", f"/v2/{endpoint}/run", json={"input": {}}).json()["id"]

    def take(self, endpoint, worker):
        """Takes a job as the worker; gives it, None if there is none."""
        taken = self.send("GET", f"/v2/{endpoint}/job-take/{worker}?x=1")
        return taken.json() if taken.status_code == 200 else None

    def report(self, endpoint, worker, job, report):
        """Reports on a job as the worker that took it."""
        self.send("POST", f"/v2/{endpoint}/job-done/{worker}/{job}", json=report)

    def cancel(self, endpoint, job):
        """Cancels a job."""
        self.send("POST", f"/v2/{endpoint}/cancel/{job}")


def collection_of(path):
    """Where the thing is made that the first parameter of a path names: /v2/pods of /v2/pods/{id}/action."""
    return path.partition("/{")[0]
