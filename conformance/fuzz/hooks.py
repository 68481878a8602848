"""What a fuzzed request needs around it: jobs for the holds of the worker protocol, faults that no schema describes, and a
note of every answer. Variables: see run.sh."""

import atexit
import itertools
import os
from collections import Counter, defaultdict

import requests
import schemathesis
from schemathesis.openapi.checks import EnsureResourceAvailability, JsonSchemaError

QUEUE = f"{os.environ['FUZZ_URL']}/v2/{os.environ['FUZZ_ENDPOINT']}"
session = requests.Session()
session.headers["Authorization"] = os.environ["FUZZ_KEY"]
MODE = os.environ["FUZZ_MODE"]  # fed, faults (fed too) or plain
faults = defaultdict(lambda: itertools.cycle([too_large, not_json, wrong_type, unknown_name]))
seen = Counter()
terminated = set()


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = case.operation.definition.raw
    feed = FEED.get(operation["operationId"])
    if feed and MODE != "plain" and case.formatted_path.startswith(f"/v2/{os.environ['FUZZ_ENDPOINT']}/"):
        feed(case)
    if MODE == "faults" and "requestBody" in operation:
        next(faults[operation["operationId"]])(case, operation)
    elif MODE == "faults":
        case.query = {"unknown": "1"}
    elif isinstance(case.body, dict | list):
        case.body = whole(case.body)
        if operation["operationId"] == "createPod" and case.meta.generation.mode.is_positive:
            consistent(case.body)
        if operation["operationId"] == "createEndpoint" and case.meta.generation.mode.is_positive:
            consistent_endpoint(case.body)
        if operation["operationId"] in ("updatePod", "updateTemplate", "updateEndpoint") and isinstance(case.body, dict) and isinstance(case.body.get("registry"), str):
            del case.body["registry"]  # 404 by decision, which a check takes for one that is gone
        if operation["operationId"] == "updateEndpoint" and isinstance(case.body, dict):
            case.body.pop("templateId", None)  # the same
            case.body.pop("networkVolumes", None)


@schemathesis.hook
def after_call(context, case, response):
    if case.method.upper() == case.operation.method.upper():
        seen[f"{case.operation.definition.raw['operationId']} {response.status_code}"] += 1
    if case.operation.definition.raw["operationId"] == "podAction" and response.status_code == 204:
        terminated.add(case.path_parameters["id"])


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """A pod that an action terminated is gone, as after a DELETE; the check of availability knows only the latter. And of a
    stream of events each one is held against the schema, which is that of the text as a whole."""
    if response.headers.get("content-type", [""])[0].startswith("text/event-stream"):
        return not isinstance(failure, JsonSchemaError)
    return not (isinstance(failure, EnsureResourceAvailability) and case.path_parameters.get("id") in terminated)


@atexit.register
def note():
    with open(os.environ["FUZZ_SEEN"], "a") as file:
        file.writelines(f"{answer} {times}\n" for answer, times in seen.items())


def submit(case=None):
    """Without a job to take, job-take is held for 25 seconds."""
    session.post(QUEUE + "/run", json={"input": {}}).raise_for_status()


def cancel(case):
    """Without a job to stop, job-stop is held for 25 seconds: take one as the worker that asks, and cancel it."""
    submit()
    take = os.environ["FUZZ_URL"] + case.formatted_path.replace("/job-stop/", "/job-take/", 1)
    taken = session.get(take, timeout=5)
    if taken.status_code == 200:
        session.post(f"{QUEUE}/cancel/{taken.json()['id']}").raise_for_status()


def fail(case):
    """Random ids are never those of failed jobs: every other call gets one of the endpoint that nobody works for, the
    others one that waits and cannot be retried."""
    queue = f"{os.environ['FUZZ_URL']}/v2/{os.environ['FUZZ_TAKEN']}"
    session.post(f"{queue}/purge-queue").raise_for_status()
    job = session.post(f"{queue}/run", json={"input": {}}).json()["id"]
    if next(turns) % 2:
        session.get(f"{queue}/job-take/w?x=1", timeout=5).raise_for_status()
        session.post(f"{queue}/job-done/w/{job}", json={"error": "as asked"}).raise_for_status()
    case.path_parameters = {"endpointId": os.environ["FUZZ_TAKEN"], "jobId": job}


def known(case):
    """Every other call is of a job that there is."""
    if next(turns) % 2:
        job = session.post(QUEUE + "/run", json={"input": {}}).json()["id"]
        case.path_parameters = {**case.path_parameters, "jobId": job}


turns = itertools.count()
FEED = {"takeJob": submit, "takeJobs": submit, "stopJobs": cancel, "retry": fail}
FEED |= dict.fromkeys(["status", "statusPost", "statusSync", "statusSyncPost", "stream", "streamPost", "cancel"], known)


def too_large(case, operation):
    case.body = {"input": "x" * operation.get("x-max-body-bytes", 1 << 20)}


def not_json(case, operation):
    case.body = b'{"input":'


def wrong_type(case, operation):
    case.headers["Content-Type"] = "text/plain"


def unknown_name(case, operation):
    if operation["operationId"] == "createPod":
        case.body = {"name": "p", "image": "i", "cpu": {"id": "cpu3c", "vcpuCount": 2}, "registry": "unknown"}
    if operation["operationId"] == "createEndpoint":
        scaling = {"type": "REQUEST_COUNT", "requestCount": 1}
        case.body = {
            "name": "e", "type": "QUEUE", "image": "i", "cpu": [{"id": "cpu3c", "vcpuCount": 2}], "scaling": scaling, "registry": "unknown",
        }


def whole(value):
    """JSON Schema takes 5.0 for an integer; berth's documents say in their description that they do not."""
    if isinstance(value, dict):
        return {name: whole(v) for name, v in value.items()}
    if isinstance(value, list):
        return [whole(v) for v in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def consistent(body):
    """Rules between members refuse most of what the schema lets through. Half of the bodies keep them, so that stateful
    tests have pods."""
    if len(body) % 2:
        for name in ("gpu", "mounts", "registry", "ports", "globalNetworking", "dataCenterIds"):
            body.pop(name, None)
        body["cpu"] = {"id": "cpu3c", "vcpuCount": 2}


def consistent_endpoint(body):
    """The same for endpoints, whose workers are not to be started for nobody."""
    if len(body) % 2:
        for name in ("gpu", "registry", "ports", "templateId", "networkVolumes", "dataCenterIds"):
            body.pop(name, None)
        body |= {"image": "i", "cpu": [{"id": "cpu3c", "vcpuCount": 2}], "workers": {"max": 1}, "type": "QUEUE"}
