"""HTTP to one server, by the standard library alone."""

import contextlib
import json
import socket
import threading
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit


class Refused(Exception):
    """The server answered with a problem."""

    def __init__(self, status: int, answer: Any):
        problem = answer if isinstance(answer, dict) else {}
        lines = [str(problem.get("detail") or answer or "no body"), *map(str, problem.get("errors", []))]
        super().__init__(f"the server answered {status}: " + "; ".join(lines))
        self.status = status
        self.answer = answer


class Connection:
    """Sends requests with a key, one at a time; another thread may cut the one that is under way."""

    def __init__(self, url: str, key: str, scheme: str = "Bearer "):
        parts = urlsplit(url)
        self._host, self._port, self._base = parts.hostname or "127.0.0.1", parts.port or 80, parts.path
        self._headers = {"Authorization": scheme + key, "Connection": "close"}
        self._lock = threading.Lock()
        self._under_way: "socket.socket | None" = None
        self._is_cut = False

    def send(self, method: str, path: str, body: Any = None, timeout: "float | None" = 60.0) -> "tuple[int, Any]":
        """Gives the status and the body, which is None where there is none. Raises OSError or HTTPException without an answer."""
        headers, data = dict(self._headers), None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()

        connection = HTTPConnection(self._host, self._port, timeout=timeout)
        try:
            with self._lock:
                if self._is_cut:
                    raise ConnectionAbortedError("this connection was cut")
                connection.connect()
                self._under_way = connection.sock
            connection.request(method, self._base + path, data, headers)
            answer = connection.getresponse()
            return answer.status, decoded(answer.read())
        finally:
            with self._lock:
                self._under_way = None
            connection.close()

    def ask(self, method: str, path: str, body: Any = None, timeout: "float | None" = 60.0) -> Any:
        """Gives the body of an answer that is a success. Raises Refused for another one."""
        status, answer = self.send(method, path, body, timeout)
        if status >= 400:
            raise Refused(status, answer)
        return answer

    def cut(self) -> None:
        """Ends the request that is under way, and refuses further ones."""
        with self._lock:
            self._is_cut = True
            if self._under_way is not None:
                with contextlib.suppress(OSError):  # it ended by itself
                    self._under_way.shutdown(socket.SHUT_RDWR)


def decoded(text: bytes) -> Any:
    """Gives the value of a JSON text, None of an empty one, and what is no JSON as text."""
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text.decode(errors="replace")
