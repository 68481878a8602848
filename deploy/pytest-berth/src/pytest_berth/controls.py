"""The clock, the faults, the journal and the rest of the test controls of a server, with the words of spec/controls.yaml."""

import base64
import re
from datetime import datetime, timedelta
from typing import Any, Callable, Dict, List, Mapping, Optional, Union
from urllib.parse import quote, urlencode

from .connection import Connection, decoded

Duration = Union[int, float, timedelta]
"""Seconds, or a timedelta."""


def milliseconds(duration: Duration) -> int:
    """Gives a duration as the server takes it."""
    seconds = duration.total_seconds() if isinstance(duration, timedelta) else duration
    return round(seconds * 1000)


def time_of(text: str) -> datetime:
    """Reads a time of RFC 3339, in UTC, with as many places as there are. A datetime has six of them."""
    at, _, rest = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(f"{at}.{re.sub('[^0-9]', '', rest)[:6]:0<6}+00:00")


class Clock:
    """The clock of the server. What falls due on the way has been done when a method returns; each gives the time that it is then."""

    def __init__(self, controls: Connection):
        self._controls = controls

    def now(self) -> datetime:
        """Reads the clock."""
        return time_of(self.state()["now"])

    def state(self) -> Dict[str, Any]:
        """Gives all that there is of the clock: now, lag, mode, until, frozen, held."""
        return dict(self._controls.ask("GET", "/clock"))

    def freeze(self) -> datetime:
        """Makes it stand still."""
        return self._set("freeze")

    def resume(self) -> datetime:
        """Makes it run again from where it stands."""
        return self._set("resume")

    def advance(self, duration: Duration) -> datetime:
        """Sets it forward, by seconds or a timedelta, from one thing that is due to the next."""
        return self._set("advance", {"milliseconds": milliseconds(duration)})

    def auto(self, duration: Optional[Duration] = None, settle: Optional[Duration] = None) -> datetime:
        """
        Has it go by itself to what is due whenever everything waits, for so long at the most. Settle is how long, in the machine's time,
        no request comes before it goes on.
        """
        body = {}
        if duration is not None:
            body["milliseconds"] = milliseconds(duration)
        if settle is not None:
            body["settle"] = milliseconds(settle)
        return self._set("auto", body)

    def sleep(self, duration: Duration) -> datetime:
        """Waits on the clock, however it goes on."""
        return self._set("sleep", {"milliseconds": milliseconds(duration)})

    def step(self, duration: Duration) -> datetime:
        """Has the time of day of the machine step, back if it is less than 0; nothing falls due by it."""
        return self._set("step", {"milliseconds": milliseconds(duration)})

    def _set(self, verb: str, body: Any = None) -> datetime:
        return time_of(self._controls.ask("POST", "/clock/" + verb, body, timeout=None)["now"])


def with_places(members: Mapping[str, Any]) -> Dict[str, Any]:
    """Writes body={"/input/n": 7} as the list of pointers and values that it stands for."""
    whole = dict(members)
    if isinstance(whole.get("body"), Mapping):
        whole["body"] = [{"pointer": pointer, "equals": value} for pointer, value in whole["body"].items()]
    return whole


class Faults:
    """
    What operations of the server do wrong. The members of a fault are keyword arguments; body may be a dict of JSON Pointers and values:

        berth.faults.add("createPod", when="after", status=503, times=1)
        berth.faults.add("run", body={"/input/n": 7}, drop=True)
    """

    def __init__(self, controls: Connection):
        self._controls = controls

    def add(self, operation: str, **members: Any) -> Dict[str, Any]:
        """Scripts one more fault, and gives it with its id."""
        return dict(self._controls.ask("POST", "/faults", with_places({"operation": operation, **members})))

    def set(self, *faults: Mapping[str, Any]) -> None:
        """Replaces all faults."""
        self._controls.ask("PUT", "/faults", {"faults": [with_places(fault) for fault in faults]})

    def list(self) -> "List[Dict[str, Any]]":
        """Gives the faults in their order, with how many calls each matched and how many of them met it."""
        return list(self._controls.ask("GET", "/faults")["faults"])

    def delete(self, fault: Union[str, Mapping[str, Any]]) -> None:
        """Takes one fault back: its id, or what add gave."""
        self._controls.ask("DELETE", "/faults/" + quote(fault if isinstance(fault, str) else fault["id"], safe=""))

    def clear(self) -> None:
        """Takes all faults back."""
        self._controls.ask("DELETE", "/faults")


class Journal:
    """
    The last requests that came to the server, 2000 and 32 MiB of them at most, the oldest first. Filters are keyword arguments: operation,
    method, pathPrefix, keyId, resource, status, since, until, afterNumber, limit.
    """

    def __init__(self, controls: Connection):
        self._controls = controls

    def entries(self, **filters: Any) -> List[Dict[str, Any]]:
        """Gives the requests that every filter matches."""
        return list(self._controls.ask("GET", "/journal" + query(filters))["entries"])

    def har(self, **filters: Any) -> Dict[str, Any]:
        """Gives the requests that every filter matches as HAR 1.2."""
        return dict(self._controls.ask("GET", "/journal.har" + query(filters)))

    def clear(self) -> None:
        """Forgets the requests that came."""
        self._controls.ask("DELETE", "/journal")

    def verify(self, *expectations: Mapping[str, Any], inOrder: bool = False, **members: Any) -> None:  # noqa: N803: the word of the server
        """
        Holds the requests against what is expected of them. Raises AssertionError, which says what does not hold and which request comes
        nearest. One expectation may be given by its members; times may be a number, for exactly so many, body and headers a dict:

            berth.journal.verify(operation="createPod", body={"/name": "trainer"}, times=1)
            berth.journal.verify({"operation": "run"}, {"operation": "status"}, inOrder=True)
        """
        __tracebackhide__ = True  # the line of the test is what pytest shows
        all_of_them = [expectation(one) for one in ([*expectations, members] if members else expectations)]
        result = self._controls.ask("POST", "/journal/verify", {"expectations": all_of_them, "inOrder": inOrder})
        if not result["ok"]:
            raise AssertionError(self._explained(result))

    def _explained(self, result: Mapping[str, Any]) -> str:
        """Says what does not hold, with the nearest request of each expectation."""
        lines = ["the requests that came are not what was expected"]
        for failure in result["failures"]:
            lines.append(f"- {failure['says']}")
            nearest = failure.get("nearest")
            if nearest:
                lines.append(f"  the nearest is number {nearest['number']}{self._request(nearest['number'])}:")
                lines += [f"    {d['member']} is {d['found']}, expected {d['expected']}" for d in nearest["differences"]]
        if result["dropped"]:
            lines.append(f"{result['dropped']} older requests were forgotten, and are not counted")
        return "\n".join(lines)

    def _request(self, number: int) -> str:
        """Says what a request was, if the journal still has it."""
        status, entry = self._controls.send("GET", f"/journal/{number}")
        return f", {entry['method']} {entry['path']}, answered with {entry['status']}" if status == 200 else ""


class Scripts:
    """
    What the workers of endpoints do that have no handler. An endpoint is its id, or what berth.endpoint gave; the members of a script are keyword
    arguments:

        berth.scripts.set(endpoint, answers=[{"delay": {"fixed": 200}, "output": {"text": "{{/prompt}}"}}])
    """

    def __init__(self, controls: Connection):
        self._controls = controls

    def set(self, endpoint: Any, **members: Any) -> None:
        """Sets the script of an endpoint, in place of the one that there was."""
        self._controls.ask("PUT", script_of(endpoint), members)

    def get(self, endpoint: Any) -> Dict[str, Any]:
        """Gives the script of an endpoint, with how often its answers were used."""
        return dict(self._controls.ask("GET", script_of(endpoint)))

    def delete(self, endpoint: Any) -> None:
        """Takes the script of an endpoint back."""
        self._controls.ask("DELETE", script_of(endpoint))


def script_of(endpoint: Any) -> str:
    """Gives the path of the script of an endpoint."""
    return f"/endpoints/{quote(id_of(endpoint), safe='')}/script"


def id_of(one: Any) -> str:
    """Gives an id: of what has one, of a body with one, or the id itself."""
    return str(one["id"] if isinstance(one, Mapping) else getattr(one, "id", one))


class States:
    """Everything that the server has, saved under names of lower-case letters, digits, hyphens and underscores, for as long as the server is there."""

    def __init__(self, controls: Connection, loaded: Callable[[], None]):
        self._controls = controls
        self._loaded = loaded

    def save(self, name: str) -> None:
        """Saves everything, in place of what was saved under the name."""
        self._controls.ask("PUT", "/states/" + quote(name, safe=""), timeout=None)

    def load(self, name: str) -> None:
        """Goes back to a saved state, as if the server were started again on it. Its keys are those of the state; endpoints of functions end."""
        self._controls.ask("POST", f"/states/{quote(name, safe='')}/load", timeout=None)
        self._loaded()

    def list(self) -> "List[Dict[str, Any]]":
        """Gives the saved states, by name."""
        return list(self._controls.ask("GET", "/states")["states"])

    def delete(self, name: str) -> None:
        """Deletes a saved state."""
        self._controls.ask("DELETE", "/states/" + quote(name, safe=""))


class Webhooks:
    """The webhooks that the server delivers."""

    def __init__(self, controls: Connection):
        self._controls = controls

    def list(self) -> "List[Dict[str, Any]]":
        """Gives the last deliveries, the newest first."""
        return list(self._controls.ask("GET", "/webhooks")["webhooks"])

    def deliver(self, delivery: Union[int, Mapping[str, Any]]) -> None:
        """Delivers the job's document once more to where a delivery went: its number, or what list gave."""
        self._controls.ask("POST", f"/webhooks/{delivery if isinstance(delivery, int) else delivery['number']}/deliver")


class Inbox:
    """A receiver of webhooks, of any name: what comes is in the journal, as requests of receiveWebhook with the name as their resource."""

    def __init__(self, url: str, controls: Connection):
        self._url = url
        self._controls = controls

    def url(self, name: str) -> str:
        """Gives the address for webhooks of that name."""
        return self._url + quote(name, safe="")

    def received(self, name: str) -> List[Any]:
        """
        Gives the bodies that came to that name, the oldest first; one that is no UTF-8 as bytes. Raises ValueError for one of more than 64 KiB, and
        once the journal has forgotten requests, which may have been some of them.
        """
        journal = self._controls.ask("GET", "/journal" + query({"operation": "receiveWebhook", "resource": name}))
        if journal["dropped"] > 0:
            raise ValueError(f"the journal forgot {journal['dropped']} older requests, and some may have come here: journal.clear begins anew")
        return [whole_body(entry["request"]["body"]) for entry in journal["entries"]]


def whole_body(body: Mapping[str, Any]) -> Any:
    """Reads a body of the journal. Raises ValueError for one of which the journal has the beginning alone."""
    if body["truncated"]:
        raise ValueError(f"the journal keeps the first 64 KiB of a body, and this one had {body['length']} bytes: journal.entries gives its beginning")
    if body["base64"]:
        return base64.b64decode(body["text"])
    return decoded(body["text"].encode())


class Jobs:
    """The jobs of all endpoints. Filters are keyword arguments: endpointId, status, error, to, limit, and **{"from": …}."""

    def __init__(self, connection: Callable[[], Connection]):
        self._connection = connection

    def list(self, **filters: Any) -> "List[Dict[str, Any]]":
        """Gives the jobs that every filter matches, the one that was submitted last first: of all pages, or so many as limit says."""
        jobs: "List[Dict[str, Any]]" = []
        while True:
            page = self._connection().ask("GET", "/jobs" + query(filters))
            jobs += page["jobs"]
            if "limit" in filters or not page["pagination"]["hasNextPage"]:
                return jobs
            filters["cursor"] = page["pagination"]["nextCursor"]

    def get(self, job: Union[str, Mapping[str, Any]]) -> Dict[str, Any]:
        """Gives all that is known of a job: its id, or what run gave."""
        return dict(self._connection().ask("GET", "/jobs/" + quote(id_of(job), safe="")))


class Why:
    """The one reason why something does not go on, with what would help: reason, because, helps, waits, since, details."""

    def __init__(self, connection: Callable[[], Connection]):
        self._connection = connection

    def job(self, job: Union[str, Mapping[str, Any]]) -> Dict[str, Any]:
        """Says why a job does not go on."""
        return self._ask("jobs", job)

    def endpoint(self, endpoint: Any) -> Dict[str, Any]:
        """Says why the workers of an endpoint do not take up its jobs."""
        return self._ask("endpoints", endpoint)

    def pod(self, pod: Union[str, Mapping[str, Any]]) -> Dict[str, Any]:
        """Says why a pod does not run."""
        return self._ask("pods", pod)

    def _ask(self, kind: str, one: Any) -> Dict[str, Any]:
        return dict(self._connection().ask("GET", f"/{kind}/{quote(id_of(one), safe='')}/why"))


def expectation(members: Mapping[str, Any]) -> Dict[str, Any]:
    """Writes an expectation as the server takes it."""
    whole = with_places(members)
    if isinstance(whole.get("headers"), Mapping):
        whole["headers"] = [{"name": name, "value": value} for name, value in whole["headers"].items()]
    if isinstance(whole.get("times"), int):
        whole["times"] = {"exactly": whole["times"]}
    for member in ("since", "until"):
        if isinstance(whole.get(member), datetime):
            whole[member] = whole[member].isoformat()
    if "status" in whole:
        whole["status"] = str(whole["status"])
    return whole


def query(filters: Mapping[str, Any]) -> str:
    """Writes filters as the query of an address."""
    texts = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in filters.items()}
    return "?" + urlencode(texts) if texts else ""
