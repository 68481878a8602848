"""A worker in threads of the test: it takes jobs over the worker protocol, calls a function on each, and reports as the official SDK does."""

import asyncio
import concurrent.futures
import inspect
import json
import logging
import threading
import time
import traceback
from http.client import HTTPException
from typing import Any, Callable, Dict, List, Optional
from urllib.parse import quote

from .connection import Connection

log = logging.getLogger("pytest_berth")

WORKER_ID = "pytest-berth"
PING_INTERVAL = 10.0  # seconds
POLL = 90.0  # seconds that a poll may be held; a frozen clock holds it for ever
POST = 60.0  # seconds after which a report is given up
PATIENCE = 10.0  # seconds that handlers may take to end with the test

Handler = Callable[["Job"], Any]


class HandlerStillRuns(Exception):
    """A handler did not end with the test."""


class Job(Dict[str, Any]):
    """A job as a handler gets it: id, input, and what else was submitted."""

    report: Callable[[Any], None]

    def progress(self, output: Any) -> None:
        """Reports what the job's status shows as its output from now on."""
        self.report({"status": "IN_PROGRESS", "output": output})


class Held:
    """A job that a handler is at work on."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self.awaited: "Optional[concurrent.futures.Future[Any]]" = None
        self.thread: Optional[threading.Thread] = None

    def stop(self) -> None:
        """Has the handler end soon: an async one is cancelled, a generator is not asked for more. Nothing is reported."""
        self.stopped.set()
        if self.awaited is not None:
            self.awaited.cancel()


class Worker:
    """Takes jobs of an endpoint, up to so many at once, until it is closed."""

    def __init__(self, queue_url: str, endpoint_id: str, name: str, key: str, handler: Handler, workers: int):
        self._url, self._key, self._path = queue_url, key, f"/v2/{endpoint_id}/%s/{WORKER_ID}"
        self._name, self._handler, self._workers = name, handler, workers
        self._closing = threading.Event()
        self._changed = threading.Condition()
        self._held: Dict[str, Held] = {}
        self._loop = Loop(name)

        self._polls = [self._connection(), self._connection()]
        rounds = {"take": (self._takes, self._polls[0]), "stop": (self._stops, self._polls[1])}
        self._threads = [threading.Thread(target=f, args=(c,), name=f"berth {name} {what}", daemon=True) for what, (f, c) in rounds.items()]
        self._threads.append(threading.Thread(target=self._pings, name=f"berth {name} ping", daemon=True))
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Ends all of it. Raises HandlerStillRuns if a handler does not end within ten seconds."""
        self._closing.set()
        for connection in self._polls:
            connection.cut()
        with self._changed:
            self._changed.notify_all()
            held = list(self._held.values())
        for one in held:
            one.stop()

        end = time.monotonic() + PATIENCE
        threads = self._threads + [one.thread for one in held if one.thread is not None]
        for thread in threads:  # each gets a moment: what held all of this process up may have taken the whole of the time
            thread.join(max(0.1, end - time.monotonic()))
        ended = self._loop.close(max(0.1, end - time.monotonic()))
        if not ended or any(thread.is_alive() for thread in threads):
            raise HandlerStillRuns(f"the handler of the endpoint {self._name} still runs {PATIENCE:.0f} s after the end of the test: have it return")

    def _connection(self) -> Connection:
        return Connection(self._url, self._key, scheme="")  # as the SDK sends it

    def _takes(self, connection: Connection) -> None:
        while not self._closing.is_set():
            with self._changed:
                self._changed.wait_for(lambda: len(self._held) < self._workers or self._closing.is_set())
                busy = len(self._held)

            room = self._workers - busy
            path = self._path % "job-take" + "?" if room == 1 else self._path % "job-take-batch" + f"?batch_size={room}&"
            taken = self._poll(connection, f"{path}job_in_progress={int(busy > 0)}")
            for job in taken if isinstance(taken, list) else [taken]:
                if isinstance(job, dict) and not self._closing.is_set():
                    self._begin(Job(job))

    def _stops(self, connection: Connection) -> None:
        """Asks which jobs are to stop while there are some: each time that it asks is in the journal, which forgets the oldest ones."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._held or self._closing.is_set())
            if self._closing.is_set():
                return
            stop = self._poll(connection, self._path % "job-stop")
            with self._changed:
                held = [self._held[job] for job in (stop or {}).get("jobsToStop", []) if job in self._held]
            for one in held:
                one.stop()
            if held:  # the same list comes again until they are gone
                self._closing.wait(0.05)

    def _pings(self) -> None:
        connection = self._connection()
        while not self._closing.wait(PING_INTERVAL):
            with self._changed:
                jobs = ",".join(quote(job, safe="") for job in self._held)
            if jobs:
                self._send(connection, "GET", self._path % "ping" + "?job_id=" + jobs, timeout=PING_INTERVAL)

    def _poll(self, connection: Connection, path: str) -> Any:
        """Gives the answer, or None: of a server that fails a moment later, so that it is not asked thousands of times a second."""
        status, answer = self._send(connection, "GET", path, timeout=POLL)
        if status == 200:
            return answer
        if status not in (0, 204):
            log.warning("the worker of %s: the server answered %s with %s: %s", self._name, path, status, answer)
        self._closing.wait(5.0 if status == 429 else 0.001 if status == 204 else 0.05)
        return None

    def _send(self, connection: Connection, method: str, path: str, body: Any = None, timeout: float = 60.0) -> "tuple[int, Any]":
        """As Connection.send, with the status 0 where there is no answer."""
        try:
            return connection.send(method, path, body, timeout)
        except (OSError, HTTPException) as err:
            return 0, err

    def _begin(self, job: Job) -> None:
        one = Held()
        one.thread = threading.Thread(target=self._work, args=(job, one), name=f"berth {self._name} {job['id']}", daemon=True)
        with self._changed:
            if job["id"] in self._held:  # its lease had ended, and it is still at work here
                return
            self._held[job["id"]] = one
            self._changed.notify_all()
        one.thread.start()

    def _work(self, job: Job, one: Held) -> None:
        """Runs the handler, and reports unless the server asked for its end."""
        where = quote(job["id"], safe="")
        connection = self._connection()
        done, chunks = self._path % "job-done" + f"/{where}?isStream=", self._path % "job-stream" + f"/{where}?isStream=false"
        job.report = lambda body: self._post(connection, done + "false", self._checked(body))
        streams = False
        try:
            streams, result = self._run(job, one, lambda output: self._post(connection, chunks, {"output": output}))
            if not one.stopped.is_set():
                self._post(connection, done + ("true" if streams else "false"), result)
        except BaseException:  # of the handler are in the report: it is this worker that has a mistake
            log.exception("the worker of %s", self._name)
        finally:
            with self._changed:
                self._held.pop(job["id"], None)
                self._changed.notify_all()

    def _post(self, connection: Connection, path: str, body: Any) -> None:
        """Posts a report, again and again if the server has trouble: one that came twice changes nothing the second time."""
        end, pause = time.monotonic() + POST, 0.05
        while True:
            status, answer = self._send(connection, "POST", path, body)
            if 0 < status < 500 or time.monotonic() > end or self._closing.wait(pause):
                break
            pause = min(2 * pause, 2.0)
        if status >= 400:
            log.warning("the worker of %s: a report was answered with %s: %s", self._name, status, answer)

    def _run(self, job: Job, one: Held, emit: Callable[[Any], None]) -> "tuple[bool, Dict[str, Any]]":
        """Gives whether the handler streams, and the report of its end."""
        streams = False
        try:
            result = self._handler(job)
            streams = inspect.isgenerator(result) or inspect.isasyncgen(result)
            if not streams:
                return False, self._checked(report(self._awaited(result, one) if inspect.isawaitable(result) else result))
            return True, self._stream(result, one, emit)
        except BaseException as err:  # pytest.fail and SystemExit too: nobody else would hear of them
            if one.stopped.is_set():
                return streams, {}
            log.warning("the handler of %s failed on the job %s", self._name, job["id"], exc_info=err)
            if streams:
                return True, {"error": f"handler: {err} \ntraceback: {traceback.format_exc()}"}
            return False, {"error": json.dumps(described(err))}

    def _stream(self, values: Any, one: Held, emit: Callable[[Any], None]) -> Dict[str, Any]:
        """Emits what a generator yields. Gives the report of its end."""
        async def following() -> Any:
            return await anext(values, END)

        while not one.stopped.is_set():
            value = next(values, END) if inspect.isgenerator(values) else self._awaited(following(), one)
            if value is END:
                return {"output": []}
            if isinstance(value, dict) and value.get("error"):
                self._end(values, one)
                return {"error": str(value["error"])}
            self._checked({"output": value})
            emit(value)

        self._end(values, one)
        return {}

    def _end(self, values: Any, one: Held) -> None:
        """Ends a generator that is not asked for more, so that what it has open is closed."""
        if inspect.isgenerator(values):
            values.close()
        else:
            self._loop.run(values.aclose()).result(PATIENCE)

    def _awaited(self, awaitable: Any, one: Held) -> Any:
        """Waits for it in the loop that all async handlers of the endpoint share."""
        one.awaited = self._loop.run(awaitable)
        if one.stopped.is_set():  # it was asked to before there was something to cancel
            one.awaited.cancel()
        return one.awaited.result()

    @staticmethod
    def _checked(body: Dict[str, Any]) -> Dict[str, Any]:
        """Raises TypeError or ValueError of what is no JSON: the SDK reports nothing of it, and a test would wait for ever."""
        json.dumps(body, allow_nan=False)
        return body


END = object()


def report(output: Any) -> Dict[str, Any]:
    """Gives the report of what a handler returned: a dict may have error and refresh_worker, and an empty one is no output."""
    if not isinstance(output, dict):
        return {"output": output}
    rest = {name: value for name, value in output.items() if name not in ("error", "refresh_worker")}
    whole: Dict[str, Any] = {"output": rest} if rest else {}
    if output.get("error"):
        whole["error"] = output["error"]
    if output.get("refresh_worker"):
        whole["stopPod"] = True
    return whole


def described(err: BaseException) -> Dict[str, str]:
    """Gives the members of an error as the SDK reports it."""
    return {
        "error_type": str(type(err)),
        "error_message": str(err),
        "error_traceback": "".join(traceback.format_exception(type(err), err, err.__traceback__)),
        "hostname": "unknown",
        "worker_id": WORKER_ID,
        "runpod_version": "pytest-berth",
    }


class Loop:
    """An event loop in a thread, which is there from the first time that it is needed."""

    def __init__(self, name: str):
        self._name = name
        self._lock = threading.Lock()
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._thread: Optional[threading.Thread] = None

    def run(self, awaitable: Any) -> "concurrent.futures.Future[Any]":
        """Begins to wait for it in the loop."""
        async def whole() -> Any:
            return await awaitable

        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._serve, args=(self._loop,), name=f"berth {self._name} loop", daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(whole(), self._loop)

    def close(self, timeout: float) -> bool:
        """Cancels what is left. Reports whether all of it ended in so many seconds."""
        if self._loop is None or self._thread is None:
            return True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        loop.run_forever()

        left: List["asyncio.Task[Any]"] = list(asyncio.all_tasks(loop))
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
