"""A server of a test: the program berth in a process of its own, on a new database, with its clock in the test's hand."""

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from decimal import Decimal
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union
from urllib.parse import quote

from .connection import Connection
from .controls import Clock, Faults, Inbox, Jobs, Journal, Scripts, States, Webhooks, Why, query
from .worker import Handler, Worker

START = 60.0  # seconds that a server may take to be ready
STOP = 30.0  # seconds that it may take to end

COMMAND = ["serve", "--json", "--test-controls", "--listen", "127.0.0.1:0", "--private-webhooks", "--log-level", "debug"]

# The server ends with the line that it is sent, and with the death of the process that would send it, however that died.
GUARD = '"$@" & server=$!; exec >&-; read -r line; kill -TERM "$server" 2>/dev/null; wait "$server"'

FUNCTION = {  # an endpoint of a function: nothing is started for it
    "type": "QUEUE",
    "image": "function",
    "cpu": [{"id": "cpu3g", "vcpuCount": 2}],
    "scaling": {"type": "QUEUE_DELAY", "queueDelay": 4},
    "workers": {"min": 0, "max": 0},
}


class ProgramNotFound(Exception):
    """The program berth is not where it is looked for."""


class ServerFailed(Exception):
    """The server did not start, or did not end as it should."""


def find_program(chosen: "Optional[str]" = None) -> str:
    """Gives the program: the chosen one, that of the environment's BERTH, the one inside this package, or that on the PATH."""
    for where, named in (("--berth-binary", chosen), ("the environment's BERTH", os.environ.get("BERTH"))):
        if named:
            found = shutil.which(named)
            if not found:
                raise ProgramNotFound(f"{where} is {named}, which is no program that can be run")
            return os.path.abspath(found)
    inside = Path(__file__).parent / "bin" / "berth"
    found = str(inside) if os.access(inside, os.X_OK) else shutil.which("berth")
    if not found:
        raise ProgramNotFound(
            "there is no program berth: install a wheel of pytest-berth that has it inside, put it on the PATH, or name it by --berth-binary or "
            "the environment's BERTH"
        )
    return found


class Endpoint:
    """An endpoint of the server, with requests of a client to it. What is answered is given as it comes."""

    def __init__(self, server: "Server", endpoint_id: str, name: str):
        self.id = endpoint_id
        self.name = name
        self.url = f"{server.queue_url}/v2/{endpoint_id}"
        """The base of its operations: url + "/run"."""
        self._client = Connection(self.url, server.key)
        self._worker: Optional[Worker] = None

    def run(self, input: Any, **members: Any) -> Dict[str, Any]:
        """Submits a job; members are webhook, policy and s3Config."""
        return dict(self._client.ask("POST", "/run", {"input": input, **members}))

    def runsync(self, input: Any, **members: Any) -> Dict[str, Any]:
        """Submits a job and waits for its end."""
        return dict(self._client.ask("POST", "/runsync", {"input": input, **members}, timeout=None))

    def status(self, job: Union[str, Dict[str, Any]]) -> Dict[str, Any]:
        """Reads a job: its id, or what run gave."""
        return dict(self._client.ask("GET", "/status/" + job_id(job)))

    def status_sync(self, job: Union[str, Dict[str, Any]]) -> Dict[str, Any]:
        """Waits for the end of a job."""
        return dict(self._client.ask("GET", "/status-sync/" + job_id(job), timeout=None))

    def stream(self, job: Union[str, Dict[str, Any]]) -> List[Any]:
        """Reads what a job streams, to its end."""
        values: List[Any] = []
        while True:
            read = self._client.ask("GET", "/stream/" + job_id(job), timeout=None)
            status, chunks = (read["status"], read["stream"]) if isinstance(read, dict) else (self.status(job)["status"], read)
            values += [chunk["output"] for chunk in chunks]
            if status not in ("IN_QUEUE", "IN_PROGRESS") and not chunks:
                return values

    def cancel(self, job: Union[str, Dict[str, Any]]) -> Dict[str, Any]:
        """Cancels a job."""
        return dict(self._client.ask("POST", "/cancel/" + job_id(job)))

    def health(self) -> Dict[str, Any]:
        """Counts its jobs and workers."""
        return dict(self._client.ask("GET", "/health"))

    def close(self) -> None:
        """Ends its worker, if a function is one; its jobs stay where they are. The server does it too."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()


def job_id(job: Union[str, Dict[str, Any]]) -> str:
    """Gives the id of a job."""
    return job if isinstance(job, str) else str(job["id"])


class Server:
    """
    A running server. It is a context manager; pytest's fixtures berth and berth_session end theirs by themselves.

        with Server(["--endpoint", "idle="]) as berth: ...
    """

    def __init__(
        self, args: Sequence[str] = (), program: Optional[str] = None, directory: Union[str, Path, None] = None,
        seed: Union[str, Path, Mapping[str, Any], None] = None,
    ):
        """
        Starts it with further arguments of berth serve. It keeps nothing, unless they have --data or --store: its database and its log are in a
        directory that is made in the given one, or where temporary files are, and is removed at the end. A seed is what it
        has from the start and after a reset: a file or directory of files, or what such a file has. Raises ProgramNotFound or ServerFailed.
        """
        self._directory = Path(tempfile.mkdtemp(prefix="berth-", dir=directory))
        self._log, self._stopped = self._directory / "log", False
        self._read = ""  # of the log, once it is removed
        try:
            self._process = self._start([find_program(program), *COMMAND, *self._kept(args), *self._seeded(seed), *args])
        except BaseException:
            shutil.rmtree(self._directory, ignore_errors=True)
            raise

    def _kept(self, args: Sequence[str]) -> List[str]:
        """Gives the arguments that say where it keeps its database: nowhere, unless the caller says where."""
        named = any(arg.split("=")[0] in ("--data", "--store") for arg in args)
        return ["--data", str(self._directory / "data")] if named else ["--ephemeral"]

    def _seeded(self, seed: Union[str, Path, Mapping[str, Any], None]) -> List[str]:
        """Gives the arguments of a seed, and writes the file of one that is none."""
        if isinstance(seed, Mapping):
            path = self._directory / "seed.json"
            path.write_text(json.dumps(seed))
            return ["--seed", str(path)]
        return [] if seed is None else ["--seed", os.path.abspath(seed)]

    def _start(self, command: List[str]) -> "subprocess.Popen[bytes]":
        """Starts the program, and reads the one line that it prints when it is ready."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BERTH_")}
        environment["BERTH_CONFIG"] = os.devnull  # what the machine has set is not of the test
        environment["TMPDIR"] = str(self._directory)  # where its database is: it goes with the directory, however the server ends
        with self._log.open("wb") as log:
            process = subprocess.Popen(
                ["/bin/sh", "-c", GUARD, "berth", *command], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                start_new_session=True,
            )
        try:
            ready = json.loads(first_line(process))
            self.url: str = ready["url"]
            """The base of REST and GraphQL, without a slash at the end."""
            self.queue_url: str = ready["queueUrl"]
            """The base of the queue: jobs go to queue_url + "/v2/<endpoint id>/run"."""
            self.key: str = ready["key"]
            """A key with every scope."""
            self.controls_key: str = ready["controlsKey"]
            """The key of the test controls."""
        except (ValueError, KeyError) as err:
            end(process)
            raise ServerFailed(f"{command[0]} did not start; its log ends with:\n{self.log(20)}") from err
        except BaseException:
            end(process)
            raise

        self.graphql_url = self.url + "/graphql"
        self._controls = Connection(self.url + "/_berth", self.controls_key)
        self.clock, self.faults, self.journal = Clock(self._controls), Faults(self._controls), Journal(self._controls)
        self.scripts, self.states = Scripts(self._controls), States(self._controls, self._end_of_keys)
        self.webhooks, self.inbox = Webhooks(self._controls), Inbox(self.url + "/_berth/inbox/", self._controls)
        self.jobs, self.why = Jobs(self._of_client), Why(self._of_client)
        self._declared: Dict[str, str] = dict(ready["endpoints"])
        self._open: List[Endpoint] = []
        self._lasting: Dict[str, Any] = {}  # users, keys and states that outlive each test, by their paths
        self._own: Optional[Dict[str, str]] = None
        self._counts_costs, self._spent = False, Decimal(0)  # before the last reset
        return process

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """Sends any test control: control("PUT", "/quotas", {"minute": 10, "hour": 100, "day": 1000}). Raises Refused."""
        return self._controls.ask(method, path, body, timeout=None)

    def costs(self, **filters: Any) -> Dict[str, Any]:
        """
        Gives what would have been paid for what ran since the server's start or the last reset, on its clock, in USD: total, and costs, the
        highest first. Filters are by, user, since, until and limit: costs(by="kind").
        """
        return dict(self.control("GET", "/costs" + query(filters)))

    def _cost(self) -> Decimal:
        """Gives what this test has cost up to now, its resets included."""
        return self._spent + Decimal(str(self.costs(limit=1)["total"]))  # as it was written: floats are not added up

    def new_key(self, *scopes: str, **members: Any) -> Dict[str, str]:
        """Makes a further key, and gives its id and key. Members are name, user, exempt, spendLimit, expiresIn and contract."""
        return dict(self.control("POST", "/keys", {"scopes": list(scopes), **members}))

    def endpoint(
        self, handler: Union[str, Handler], name: Optional[str] = None, workers: Union[int, Mapping[str, int], None] = None, **members: Any
    ) -> Endpoint:
        """
        Gives an endpoint of a function, which gets each job as a dict with id and input, in a thread of the test: a plain function, a
        generator, which streams, or an async one. So many jobs are worked on at once. What it raises fails the job, as with the official SDK.
        A name instead of a function is the endpoint that an argument --endpoint declared, or a new one, without workers unless they are given
        as {"min": 1, "max": 1}: those follow its script. Members are more of the operation createEndpoint, such as timeout.
        """
        if isinstance(handler, str):
            declared = self._declared.get(handler)
            if isinstance(workers, Mapping) and not declared:
                members["workers"] = dict(workers)
            elif workers is not None:
                raise TypeError('workers of an endpoint without a function are {"min": 1, "max": 1}, and one that is declared has its own')
            return Endpoint(self, declared or self._create(handler, members), handler)

        if isinstance(workers, Mapping):
            raise TypeError("workers of a function are a number, of jobs that are worked on at once")
        named = name or getattr(handler, "__name__", None) or type(handler).__name__
        made = Endpoint(self, self._create(named, members), named)
        made._worker = Worker(self.queue_url, made.id, named, self._own_key(), handler, 1 if workers is None else workers)
        self._open.append(made)
        return made

    def _create(self, name: str, members: Dict[str, Any]) -> str:
        return str(Connection(self.url, self._own_key()).ask("POST", "/v2/serverless", {"name": name, **FUNCTION, **members})["id"])

    def _own_key(self) -> str:
        """Gives a key of ours: what we send counts against no quota of the test's, and the journal tells it from what the test sends."""
        if self._own is None:
            self._own = self.new_key("all", name="pytest-berth", exempt=True)
        return self._own["key"]

    def _of_client(self) -> Connection:
        """Gives a connection to what keys of clients may ask of /_berth."""
        return Connection(self.url + "/_berth", self._own_key())

    def _end_of_keys(self) -> None:
        """Forgets keys that a state may not have, and ends the workers that come with them."""
        self._own = None
        self._close_endpoints()

    def reset(self) -> None:
        """
        Forgets everything but keys, users, saved states, declared endpoints and the time; endpoints of functions end, faults and journal are empty.
        Raises HandlerStillRuns, once all of it is forgotten.
        """
        try:
            self._close_endpoints()
        finally:
            if self._counts_costs:
                self._spent = self._cost()
            self.control("POST", "/reset")

    def _begin_of_tests(self) -> None:
        """Notes what is there before the first test of that which a reset leaves."""
        self._lasting = self._left()

    def _end_of_test(self) -> None:
        """As reset, for a test that is over: keys, users and states that it made go too, other users are what they were, and the clock runs."""
        try:
            self.reset()
        finally:  # a handler that still runs is the fault of this test, and not of the next one
            self._spent = Decimal(0)
            self.clock.resume()
            self._forget()

    def _forget(self) -> None:
        """Removes what tests made that a reset leaves, and gives users their roles back."""
        left = self._left()
        changed = [path for path, one in left.items() if "role" in one and self._lasting.get(path, one) != one]
        for path in sorted(changed, key=lambda path: not is_admin(self._lasting[path])):  # one admin there must be at any time
            self.control("PATCH", path, {member: self._lasting[path][member] for member in ("role", "disabled")})

        own = f"/keys/{self._own['id']}" if self._own else None
        for path in left:
            if path not in self._lasting and path != own:
                self.control("DELETE", path)

    def _left(self) -> Dict[str, Any]:
        """Gives what a reset leaves, by its path: keys, which are before their users, users, and saved states."""
        found: Dict[str, Any] = {}
        for kind, name in (("keys", "id"), ("users", "name"), ("states", "name")):
            for one in self.control("GET", "/" + kind)[kind]:
                if kind != "keys" or ("createdAt" in one and "revokedAt" not in one):  # the key of a pod goes with it
                    found[f"/{kind}/{quote(one[name], safe='')}"] = one
        return found

    def log(self, lines: Optional[int] = None) -> str:
        """Gives the server's log, or its last lines."""
        text = self._log.read_text(errors="replace") if self._log.exists() else self._read
        return text if lines is None else "\n".join(text.splitlines()[-lines:])

    def close(self) -> None:
        """Ends the workers and the server, and removes its directory. Raises HandlerStillRuns, or ServerFailed for an exit code but 0."""
        if self._stopped:
            return
        self._stopped = True
        try:
            self._close_endpoints()
        finally:
            code = end(self._process)
            self._read = self.log()
            shutil.rmtree(self._directory, ignore_errors=True)
        if code != 0:
            raise ServerFailed(f"the server ended with {code}; its log ends with:\n{self.log(20)}")

    def _close_endpoints(self) -> None:
        errors = []
        while self._open:
            try:
                self._open.pop().close()
            except Exception as err:
                errors.append(err)
        if errors:
            raise errors[0]

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def is_admin(user: Mapping[str, Any]) -> bool:
    """Reports whether it is an admin whose keys are good."""
    return user["role"] == "admin" and not user["disabled"]


def first_line(process: "subprocess.Popen[bytes]") -> bytes:
    """Reads what the process prints up to the end of a line, or of all of it, for a minute at the most."""
    assert process.stdout is not None
    line, until = b"", time.monotonic() + START
    while not line.endswith(b"\n") and select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
        read = os.read(process.stdout.fileno(), 1 << 16)
        if not read:
            break
        line += read
    return line


def end(process: "subprocess.Popen[bytes]") -> int:
    """Asks the server to end, and kills it if it does not. Gives its exit code."""
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(b"\n")
        process.stdin.close()
    except OSError:  # it ended by itself
        pass
    try:
        return process.wait(STOP)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()
    finally:
        process.stdout.close()
