"""What a random request needs around it, and a note of every answer. Variables: see run.sh.

A new operation needs nothing here if its document has an example for the POST that makes what its path names: it gets such
an id in every other call. Answers that are event streams are read for a moment (event_stream)."""

import atexit
import os
from collections import Counter
from urllib.parse import urlsplit

import hypothesis
import schemathesis
from hypothesis import Phase
from schemathesis.core.parameters import ParameterLocation
from schemathesis.openapi.checks import EnsureResourceAvailability, JsonSchemaError
from seeds import Seeds, collection_of

# Without Phase.target, which climbs towards requests that are accepted: beside seeds it repeats itself, and fewer are.
hypothesis.settings.register_profile("fuzz", phases=[Phase.explicit, Phase.generate, Phase.shrink])
hypothesis.settings.load_profile("fuzz")

ENDPOINT, FAILED = os.environ["FUZZ_ENDPOINT"], os.environ["FUZZ_FAILED"]
# Members of bodies that name a thing, with where it is made.
REFERENCES = {
    "registry": "/v2/registries", "volumeId": "/v2/network-volumes", "networkVolumes": "/v2/network-volumes", "templateId": "/v2/templates",
}

seeds = None  # once the document is known
seen = Counter()
terminated = set()
turns = Counter()


@schemathesis.hook
def after_load_schema(context, schema):
    global seeds
    seeds = Seeds(os.environ["FUZZ_URL"], os.environ["FUZZ_KEY"], schema.raw_schema)


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = case.operation.definition.raw
    name = operation["operationId"]
    if name in FEED:
        FEED[name](case)
    else:
        address(case)
    if case.query and "cursor" in case.query and not case.meta.is_negative_at(ParameterLocation.QUERY):
        case.query = {name: value for name, value in case.query.items() if name != "cursor"}  # no list gave it
    if isinstance(case.body, dict | list):
        if case.meta.generation.mode.is_positive:
            worded(name, case.body)
        if not case.meta.is_negative_at(ParameterLocation.BODY):
            refer(case)
        if name == "createPod" and case.meta.generation.mode.is_positive:
            consistent(case.body)
        if name == "sleepClock" and case.meta.generation.mode.is_positive:
            case.body = {"milliseconds": 0}  # it is answered when the clock has moved on, which it may not for years
        if name == "setStorage" and case.meta.generation.mode.is_positive:
            case.body = {"state": "writable"}  # in any other state what writes is refused
        if name == "createEndpoint" and case.meta.generation.mode.is_positive:
            consistent_endpoint(case.body)
    if event_stream(case.operation):
        kwargs["timeout"] = 0.3  # in all: a feed may never end


@schemathesis.hook
def after_call(context, case, response):
    name, status = case.operation.definition.raw["operationId"], response.status_code
    if case.method.upper() == case.operation.method.upper():
        seen[f"{name} {status}"] += 1
    thing = next(iter(case.path_parameters.values()), None)
    if name == "podAction" and status == 204:
        terminated.add(thing)
    if case.method == "DELETE" or status in (204, 404):
        seeds.gone(collection_of(case.path), thing)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """A pod that an action terminated is gone, as after a DELETE; the check of availability knows only the latter. And of a
    stream of events each one is held against the schema, which is that of the text as a whole."""
    if response.headers.get("content-type", [""])[0].startswith("text/event-stream"):
        return not isinstance(failure, JsonSchemaError)
    if response.status_code == 422 and b" is for serverless endpoints" in response.content:
        return False  # of which kind a template is no schema says
    return not (isinstance(failure, EnsureResourceAvailability) and case.path_parameters.get("id") in terminated)


@atexit.register
def note():
    with open(os.environ["FUZZ_SEEN"], "a") as file:
        file.writelines(f"{answer} {times}\n" for answer, times in seen.items())


def mine(what):
    """Whether it is the turn of this one; every other time it is."""
    turns[what] += 1
    return turns[what] % 2


def address(case):
    """Every other call is of a thing that there is. Stateful tests have things of their own."""
    collection = collection_of(case.path)
    if collection == case.path or stateful(case) or case.meta.is_negative_at(ParameterLocation.PATH):
        return
    thing = mine(case.operation.label) and seeds.of(collection)
    if thing:
        parameter = next(iter(case.path_parameters))
        case.path_parameters = {**case.path_parameters, parameter: thing}


def refer(case):
    """Every other body that names a thing names one that there is. Stateful tests have no other: a check would take the 404
    of a name in a body for that of the thing in the path."""
    for body in objects(case.body):
        for member, collection in REFERENCES.items():
            named = body.get(member) or (body.get(member) == "" and stateful(case))  # empty text names nothing that there is
            if named and (stateful(case) or mine(member)):
                body[member] = [seeds.of(collection)] if isinstance(body[member], list) else seeds.of(collection)


def objects(value):
    """Every object of a JSON value."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(part)


def stateful(case):
    return case.meta.phase.name == "stateful"


def event_stream(operation):
    """Whether the operation is a feed of events, read without a body. One with a body ends with what it was asked."""
    raw = operation.definition.raw
    kinds = raw["responses"].get("200", {}).get("content", {})
    return "text/event-stream" in kinds and "requestBody" not in raw


def submit(case):
    """Without a job to take, job-take is held for 25 seconds."""
    if ours(case):
        seeds.submit(ENDPOINT)


def cancel(case):
    """Without a job to stop, job-stop is held for 25 seconds: take one as the worker that asks, and cancel it. One that is refused is not held."""
    if not ours(case) or case.meta.is_negative_at(ParameterLocation.PATH):
        return
    submit(case)
    worker = urlsplit(case.formatted_path).path.rpartition("/")[2]
    job = seeds.take(ENDPOINT, worker)
    if job:
        seeds.cancel(ENDPOINT, job["id"])


def ours(case):
    return case.formatted_path.startswith(f"/v2/{ENDPOINT}/")


def fail(case):
    """Random ids are never those of failed jobs: every other call gets one of an endpoint of its own, the
    others one that waits and cannot be retried."""
    seeds.send("POST", f"/v2/{FAILED}/purge-queue")
    job = seeds.submit(FAILED)
    if mine("retry"):
        seeds.take(FAILED, "w")
        seeds.report(FAILED, "w", job, {"error": "as asked"})
    case.path_parameters = {"endpointId": FAILED, "jobId": job}


def known(case):
    """Every other call is of a job that there is."""
    if mine(case.operation.label):
        case.path_parameters = {**case.path_parameters, "jobId": seeds.submit(ENDPOINT)}


def logged(case):
    """Every other call is of a worker that there is. Stateful tests have endpoints of their own, without workers."""
    if not stateful(case) and mine(case.operation.label):
        endpoint, worker = seeds.worker()
        case.path_parameters = {"id": endpoint, "workerId": worker}


def built(case):
    """Every other call is of a build that there is."""
    if not stateful(case) and mine(case.operation.label):
        endpoint, build = seeds.build()
        case.path_parameters = {"id": endpoint, "buildId": build}


def journaled(case):
    """Every other call is of an entry that there is."""
    if mine(case.operation.label) and not case.meta.is_negative_at(ParameterLocation.PATH):
        case.path_parameters = {"number": seeds.entry()}


def told(case):
    """Every other call is of a job that there is."""
    if mine(case.operation.label) and not case.meta.is_negative_at(ParameterLocation.PATH):
        case.path_parameters = {"jobId": seeds.told_job(ENDPOINT)}


def asked_why(case):
    """Every other call is of a thing that there is; stateful tests, too, have none of their own."""
    if mine(case.operation.label) and not case.meta.is_negative_at(ParameterLocation.PATH):
        case.path_parameters = {"podId": seeds.told_pod()} if "podId" in case.path_parameters else {"endpointId": ENDPOINT}


def balanced(case):
    """Every other call is of an endpoint that balances load."""
    if mine(case.operation.label) and not case.meta.is_negative_at(ParameterLocation.PATH):
        case.path_parameters = {"endpointId": seeds.balancing()}


def delivered(case):
    """Every other call is of a delivery that is over."""
    if mine(case.operation.label) and not case.meta.is_negative_at(ParameterLocation.PATH):
        case.path_parameters = {"number": seeds.delivery(ENDPOINT)}


def scripted(case):
    """Every other call is of an endpoint that has a script."""
    if mine(case.operation.label) and not case.meta.is_negative_at(ParameterLocation.PATH):
        case.path_parameters = {"endpointId": seeds.scripted()}


FEED = {"deliverWebhook": delivered, "getScript": scripted, "getJob": told, "whyJob": told, "whyPod": asked_why, "whyEndpoint": asked_why, "getBalancedWorkers": balanced, "getPodHistory": asked_why, "getEndpointHistory": asked_why, "getJournalEntry": journaled, "getWorkerLogs": logged, "getLogs": asked_why, "getEndpointBuild": built, "getBuildLogs": built, "takeJob": submit, "takeJobs": submit, "stopJobs": cancel, "retry": fail}
FEED |= dict.fromkeys(["status", "statusPost", "statusSync", "statusSyncPost", "stream", "streamPost", "cancel"], known)


def worded(name, body):
    """What the documents say in words alone: an image is needed without a template, webhookV2 is to be empty, and a key has an edition
    that there is, and a user who can be made."""
    if name in ("createPod", "createCluster") and "image" not in body and "templateId" not in body:
        body["image"] = "i"
    if isinstance(body, dict) and body.get("webhookV2"):
        body["webhookV2"] = ""
    if isinstance(body, dict) and body.get("contract") and "scopes" in body:
        body["contract"] = "public"
    if isinstance(body, dict) and body.get("user") and "scopes" in body:
        body["user"] = "somebody"


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
        for name in ("gpu", "registry", "ports", "templateId", "networkVolumes", "mounts", "dataCenterIds"):
            body.pop(name, None)
        body |= {"image": "i", "cpu": [{"id": "cpu3c", "vcpuCount": 2}], "workers": {"max": 1}, "type": "QUEUE"}
