"""Has a server with test controls give the documented answers that random requests seldom meet: the refusals on the way to an
operation, and what takes something to have happened before. Each must have the status that was meant and pass the checks of
documents that the random ones pass, and is noted. Nothing here is random. Arguments: the addresses of the documents.
Variables: see run.sh.

An answer that neither random requests nor those of ALWAYS meet needs a line in SPECIAL."""

import json
import os
import sys
import threading
import time
from http.client import HTTPConnection
from urllib.parse import quote, urlsplit

import requests
import schemathesis
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi import checks
from seeds import Seeds

URL, KEY, CONTROLS, ENDPOINT = (os.environ["FUZZ_" + name] for name in ("URL", "KEY", "CONTROLS", "ENDPOINT"))
NOTHING = "nosuchthing"
CHECKS = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
controls = requests.Session()
controls.headers["Authorization"] = f"Bearer {CONTROLS}"


def control(method, path, **body):
    """Sets something by the test controls."""
    response = controls.request(method, f"{URL}/_berth/{path}", json=body if body else None, timeout=60)
    response.raise_for_status()
    return response.json() if response.content else None


class Request:
    """A request to an operation with which nothing is wrong but that it names what does not exist."""

    def __init__(self, operation, seeds):
        self.operation, self.seeds = operation, seeds
        self.raw = operation.definition.raw
        self.ours = operation.path.startswith("/_berth/")
        self.parameters = {p.name: ENDPOINT if p.name == "endpointId" else NOTHING for p in operation.path_parameters}
        self.query = ""
        self.headers = {"Authorization": f"Bearer {CONTROLS if self.ours else KEY}"}
        self.body = None
        if "requestBody" in self.raw:
            self.headers["Content-Type"] = "application/json"
            self.body = seeds.example(operation.path, operation.method) or {}
        self.connection = HTTPConnection(urlsplit(URL).netloc, timeout=60)

    def send(self):
        """Sends it as it is, which clients that mend requests would not; gives the answer."""
        began = time.monotonic()
        path = self.operation.path.format(**{name: quote(value) for name, value in self.parameters.items()}) + self.query
        body = self.body if self.body is None or isinstance(self.body, bytes) else json.dumps(self.body).encode()
        method = self.operation.method.upper()
        self.connection.request(method, path, body, self.headers)
        answer = self.connection.getresponse()
        headers = {name: answer.headers.get_all(name) for name in answer.headers}
        return schemathesis.Response(
            answer.status, headers, answer.read(), requests.Request(method, URL + path, self.headers, data=body).prepare(),
            time.monotonic() - began, verify=False,
        )


# What is wrong with a request, by the status that it gets. A function gives the answer, None if the operation cannot have it so.


def broken(request):
    if request.body is not None:
        request.body = b'{"input":'
        return request.send()


def keyless(request):
    request.headers["Authorization"] = "Bearer nobody"
    return request.send()


def forbidden(request):
    request.headers["Authorization"] = f"Bearer {POWERLESS}"
    return request.send()


def absent(request):
    if "endpointId" in request.parameters:
        request.parameters["endpointId"] = NOTHING
    return request.send() if request.parameters else None


def too_large(request):
    """The length is announced and nothing sent: the server need not read it to refuse."""
    request.headers["Content-Length"] = str(request.raw.get("x-max-body-bytes", 1 << 20) + 1)
    request.body = None
    return request.send()


def other_type(request):
    request.headers["Content-Type"] = "text/plain"
    return request.send()


def garbled(request):
    """What some operations alone refuse in a query: that it is not percent-encoded."""
    request.query = "?x=%zz"
    return request.send()


def again(request):
    """Counts towards the limit without doing anything, until it is over. The published limits are 2000 at the most."""
    for _ in range(2001):
        answer = garbled(request)
        if answer.status_code == 429:
            break
    return answer


def again_as_admin(request):
    """again for the hosts of the fleet and the users: the key of the test controls has no limits."""
    request.headers["Authorization"] = f"Bearer {ADMIN}"
    return again(request)


def again_as_owner(request):
    """again for what is told of jobs, likewise."""
    request.headers["Authorization"] = f"Bearer {KEY}"
    return again(request)


def of_no_endpoint(request):
    request.query = f"?endpointId={NOTHING}"
    return request.send()


ALWAYS = {"400": broken, "401": keyless, "403": forbidden, "404": absent, "413": too_large, "415": other_type, "422": garbled}


# What takes something to have happened before.


def mounted(volume):
    return {"network": [{"volumeId": volume, "path": "/workspace"}]}


def used_volume(request):
    volume = request.seeds.make("/v2/network-volumes")
    center = request.seeds.example("/v2/network-volumes")["dataCenter"]
    request.seeds.make("/v2/pods", dataCenterIds=[center], mounts=mounted(volume))
    request.parameters["id"] = volume
    return request.send()


def used_global_volume(request):
    volume = request.parameters["id"] = request.seeds.make("/v2/global-volumes")
    request.seeds.make("/v2/serverless", name="with a global volume", cpu=None, gpu={"pools": ["ADA_24"]}, mounts={"global": [{"volumeId": volume}]})
    return request.send()


def used_registry(request):
    registry = request.parameters["id"] = request.seeds.make("/v2/registries")
    request.seeds.make("/v2/pods", registry=registry)
    return request.send()


def used_template(request):
    request.parameters["id"] = request.seeds.make("/v2/templates", serverless=True)
    request.seeds.make("/v2/serverless", name="of a template", templateId=request.parameters["id"])
    return request.send()


def unknown_volume(request):
    request.body = request.body | {"mounts": mounted(NOTHING)}
    return request.send()


def unknown_registry(request):
    request.body = request.body | {"registry": NOTHING}
    return request.send()


def pod_of_cluster(request):
    cluster = request.seeds.make("/v2/clusters")
    request.parameters["id"] = request.seeds.send("GET", f"/v2/clusters/{cluster}/pods").json()["pods"][0]["id"]
    return request.send()


def large_cluster(request):
    """Whose pods are too large for one answer."""
    request.parameters["id"] = request.seeds.make("/v2/clusters", env={"A": "x" * 900_000}, compute={
        "gpuTypeId": "NVIDIA L4", "gpuCountPerPod": 1, "podCount": 10,
    })
    return request.send()


def unpaged(number, **members):
    """Has the user so many things that they are too large for a list without pages, until it was asked for."""

    def answer(request):
        path = request.operation.path
        made = [request.seeds.make(path, **members) for _ in range(number)]
        try:
            return request.send()
        finally:
            for thing in made:
                request.seeds.send("DELETE", f"{path}/{thing}")

    return answer


def taken_name(request):
    request.seeds.send("POST", "/v2/account/secrets", json=request.body)
    return request.send()


def declared(request):
    """What only the settings of the server say."""
    request.parameters["id"] = ENDPOINT
    request.body = {"image": "another"}
    return request.send()


def beside(call, meanwhile):
    """Sends call in the background, does what happens meanwhile, and gives the answer of call."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(call()))
    thread.start()
    meanwhile()
    thread.join()
    return answers[0]


def held(request):
    """Nothing comes until the hold is over."""

    def advance():
        while control("GET", "clock")["held"] == 0:
            time.sleep(0.01)
        control("POST", "clock/advance", milliseconds=25000)

    return beside(request.send, advance)


def played(play):
    """A call that becomes a job, and what happens to the job once a worker has it."""

    def answer(request):
        return beside(request.send, lambda: play(request.seeds, request.seeds.take(ENDPOINT, "w")["id"]))

    return answer


def timed_out(seeds, job):
    seeds.send("GET", f"/v2/{ENDPOINT}/status/{job}?ttl=1000")
    control("POST", "clock/advance", milliseconds=2000)


def frugal(request):
    """With a key whose spend limit nothing is cheap enough for; an action starts a pod that was stopped."""
    if "id" in request.parameters:
        pod = request.parameters["id"] = request.seeds.make("/v2/pods", name="stopped")
        request.seeds.send("POST", f"/v2/pods/{pod}/action", json={"action": "stop"})
        request.body = {"action": "start"}
    request.headers["Authorization"] = f"Bearer {control('POST', 'keys', scopes=['all'], spendLimit=0.001)['key']}"
    return request.send()


def on_demand(request):
    made = requests.post(f"{URL}/v2/pods", headers={"Authorization": f"Bearer {KEY}"}, timeout=60, json={
        "name": "on demand", "image": "i", "cpu": {"id": "cpu3c", "vcpuCount": 2},
    })
    request.body = {"pod": made.json()["id"]}
    return request.send()


def no_entry(request):
    """Its numbers begin with 1, and so many never come."""
    request.parameters["number"] = "987654321"
    return request.send()


def taken_host(request):
    control("POST", "hosts", **request.body)
    return request.send()


def taken_user(request):
    control("POST", "users", **request.body)
    return request.send()


def last_admin(request):
    """The owner of the server: who else is an admin is none any more."""
    for user in control("GET", "users")["users"]:
        if user["name"] != "owner" and user["role"] == "admin":
            control("PATCH", f"users/{user['name']}", role="member")
    request.parameters["userName"] = "owner"
    request.body = request.body and {"role": "member"}
    return request.send()


def taken_fault(request):
    request.body["id"] = "taken"
    control("POST", "faults", **request.body)
    return request.send()


def saved_state(request):
    if os.environ.get("BERTH_REPLICAS") and request.raw["operationId"] == "loadState":
        return None  # servers that share a database load no state
    control("PUT", f"states/{request.parameters['name']}")
    return request.send()


def no_state(request):
    request.parameters["name"] = "nobody-saved-it"
    return request.send()


def undeclared(request):
    """An endpoint that can have a script: the settings of the server declare it not."""
    made = requests.post(f"{URL}/v2/serverless", headers={"Authorization": f"Bearer {KEY}"}, timeout=60, json={
        "name": "scripted", "type": "QUEUE", "image": "i", "cpu": [{"id": "cpu3c", "vcpuCount": 2}], "scaling": {"type": "QUEUE_DELAY", "queueDelay": 4},
    })
    request.parameters["endpointId"] = made.json()["id"]
    return request.send()


def scripted(request):
    """An endpoint that has one."""
    undeclared(request)
    control("PUT", f"endpoints/{request.parameters['endpointId']}/script", answers=[{"output": 1}])
    return request.send()


def delivery(request, webhook):
    """Has a job deliver to the webhook; gives the delivery after its first try."""
    body = {"input": {}, "webhook": webhook}
    job = request.seeds.send("POST", f"/v2/{ENDPOINT}/run", json=body).json()["id"]
    request.seeds.cancel(ENDPOINT, job)
    while True:
        for entry in control("GET", "webhooks")["webhooks"]:
            if entry["job"] == job and entry["tries"]:
                request.parameters["number"] = str(entry["number"])
                return entry
        time.sleep(0.01)


def delivered(request):
    delivery(request, f"{URL}/_berth/inbox/reached")
    return request.send()


def undelivered(request):
    delivery(request, "http://127.0.0.1:9/hook")
    return request.send()


UPGRADE = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "Sec-WebSocket-Protocol": "berth.exec.v1",
}


def pod(name):
    """A pod of the account; gives its id."""
    return requests.post(f"{URL}/v2/pods", headers={"Authorization": f"Bearer {KEY}"}, timeout=60, json={
        "name": name, "image": "i", "cpu": {"id": "cpu3c", "vcpuCount": 2},
    }).json()["id"]


def of_running_pod(request):
    """What asks for no websocket."""
    request.parameters["podId"] = pod("running")
    control("POST", "clock/advance", milliseconds=600000)
    return request.send()


def upgraded(request):
    request.headers |= UPGRADE
    return of_running_pod(request)


def of_ended_pod(request):
    request.parameters["podId"] = pod("ended")
    requests.post(f"{URL}/v2/pods/{request.parameters['podId']}/action", headers={"Authorization": f"Bearer {KEY}"}, timeout=60, json={"action": "stop"})
    return request.send()


def of_worker(request):
    """A worker that an endpoint is to have at the least; the clock is the test's."""
    made = requests.post(f"{URL}/v2/serverless", headers={"Authorization": f"Bearer {KEY}"}, timeout=60, json={
        "name": "of a worker", "type": "QUEUE", "image": "i", "cpu": [{"id": "cpu3c", "vcpuCount": 2}], "scaling": {"type": "QUEUE_DELAY", "queueDelay": 4},
        "workers": {"min": 1, "max": 1},
    })
    endpoint = request.parameters["endpointId"] = made.json()["id"]
    while True:
        control("POST", "clock/advance", milliseconds=10000)
        workers = requests.get(f"{URL}/v2/serverless/{endpoint}/workers", headers={"Authorization": f"Bearer {KEY}"}, timeout=60).json()["workers"]
        if workers:
            request.parameters["workerId"] = workers[0]["id"]
            return request.send()


def of_balancer(request):
    made = requests.post(f"{URL}/v2/serverless", headers={"Authorization": f"Bearer {KEY}"}, timeout=60, json={
        "name": "balances", "type": "LOAD_BALANCER", "image": "i", "cpu": [{"id": "cpu3c", "vcpuCount": 2}], "scaling": {"type": "REQUEST_COUNT", "requestCount": 4},
    })
    request.parameters["endpointId"] = made.json()["id"]
    return request.send()


def upgraded_worker(request):
    request.headers |= UPGRADE
    return of_worker(request)


SPECIAL = {
    "execPod 101": upgraded,
    "execPod 400": of_running_pod,
    "execPod 409": of_ended_pod,
    "getBalancedWorkers 200": of_balancer,
    "execWorker 101": upgraded_worker,
    "execWorker 400": of_worker,
    "loadState 204": saved_state,
    "loadState 404": no_state,
    "deleteState 204": saved_state,
    "deleteState 404": no_state,
    "listJobs 404": of_no_endpoint,
    "setScript 204": undeclared,
    "getScript 200": scripted,
    "deleteScript 204": scripted,
    "deliverWebhook 204": delivered,
    "deliverWebhook 404": no_entry,
    "deliverWebhook 409": undelivered,
    "addHost 409": taken_host,
    "createUser 409": taken_user,
    "changeUser 409": last_admin,
    "deleteUser 409": last_admin,
    "addFault 409": taken_fault,
    "getJournalEntry 404": no_entry,
    "createPod 402": frugal,
    "createCluster 402": frugal,
    "podAction 402": frugal,
    "interruptWork 409": on_demand,
    "createPod 404": unknown_registry,
    "createTemplate 404": unknown_registry,
    "createEndpoint 404": unknown_registry,
    "createCluster 404": unknown_volume,
    "createSecret 409": taken_name,
    "listClusterPods 400": large_cluster,
    "listClusters 400": unpaged(10, name="x" * 900_000),
    "listDelegations 400": unpaged(10, name="x" * 900_000),
    "listRegistries 400": unpaged(140, password="\U0001f600" * 16_384),
    "listSecrets 400": unpaged(140, description="x" * 65_535),
    "deletePod 409": pod_of_cluster,
    "updateEndpoint 409": declared,
    "deleteNetworkVolume 400": used_volume,
    "deleteGlobalVolume 400": used_global_volume,
    "deleteRegistry 400": used_registry,
    "deleteTemplate 400": used_template,
    "takeJob 204": held,
    "takeJobs 204": held,
    "stopJobs 204": held,
}
for route in ("ChatCompletions", "Completions", "Responses", "Messages", "Embeddings", "Models", "Route", "RouteGet"):
    SPECIAL |= {
        f"openAI{route} 409": played(lambda seeds, job: seeds.cancel(ENDPOINT, job)),
        f"openAI{route} 500": played(lambda seeds, job: seeds.report(ENDPOINT, "w", job, {"error": "as asked"})),
        f"openAI{route} 502": played(lambda seeds, job: seeds.report(ENDPOINT, "w", job, {"output": 7})),
        f"openAI{route} 504": played(timed_out),
    }


def held_against_document(request, status, answer):
    """What is wrong with the answer; empty if nothing is."""
    if answer.status_code != status:
        return f"{request.raw['operationId']}: {answer.status_code} where {status} was meant: {answer.text[:200]}"
    try:
        request.operation.Case(path_parameters=request.parameters).validate_response(answer, checks=CHECKS)
    except FailureGroup as failure:
        return str(failure)
    return ""


faults, answers = [], []


def reach(operations, recipe):
    """Has every operation give what recipe(name, responses) has functions for: {status: function}."""
    for operation, seeds in operations:
        responses = operation.definition.raw["responses"]
        name = operation.definition.raw["operationId"]
        for status, function in recipe(name, responses).items():
            request = Request(operation, seeds)
            answer = function(request)
            if answer is None:
                continue
            fault = held_against_document(request, int(status), answer)
            if fault:
                faults.append(fault)
            elif status in responses:
                answers.append(f"{name} {status}")


def refusals(name, responses):
    return {s: f for s in responses if (f := SPECIAL.get(f"{name} {s}") or ALWAYS.get(s))}


operations = []
for address in sys.argv[1:]:
    document = schemathesis.openapi.from_url(address)
    seeds = Seeds(URL, KEY, document.raw_schema)
    operations += [(found.ok(), seeds) for found in document.get_all_operations()]
served = [(o, s) for o, s in operations if not o.path.startswith("/_berth/")]
hosts = [(o, s) for o, s in operations if o.path.startswith(("/_berth/hosts", "/_berth/users", "/_berth/audit/refusals"))]
told = [(o, s) for o, s in operations if o.path.startswith("/_berth/jobs") or o.path.endswith(("/why", "/history", "/exec", "/workers")) or o.path in ("/_berth/audit", "/_berth/events", "/_berth/session", "/_berth/v1/pod/{podId}/logs") or (o.path, o.method) == ("/_berth/keys", "get")]
ADMIN = control("POST", "keys", scopes=["admin"])["key"]
POWERLESS = control("POST", "keys", scopes=["graphql:read"])["key"]
control("POST", "clock/freeze")
reach(operations, refusals)
# A failure of the server itself, which no status of its own is documented for.
control("PUT", "faults", faults=[{"operation": "*", "status": 503}])
reach(served, lambda name, responses: {"503": Request.send})
control("PUT", "faults", faults=[])
control("PUT", "quotas", minute=1, hour=1000000, day=1000000, queue="published")
reach(served, lambda name, responses: {"429": again} if "429" in responses else {})
reach(hosts, lambda name, responses: {"429": again_as_admin})
reach(told, lambda name, responses: {"429": again_as_owner})
with open(os.environ["FUZZ_SEEN"], "a") as file:
    file.writelines(f"{answer} 1\n" for answer in answers)
print("\n".join(faults) or f"ok: {len(answers)} refusals and failures are as documented")
sys.exit(bool(faults))
