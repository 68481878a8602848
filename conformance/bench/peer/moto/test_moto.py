"""Tests with a server of moto, which is started for each or reset after each, as MOTO says: two things are made, and one is read."""

import os
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from moto.server import ThreadedMotoServer


# moto looks at whose request it is, and not at the signature.
SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=any"}


def ask(url, method, path, body=None):
    """Sends a request to S3."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        connection.request(method, path, body, SIGNED)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.fixture
def process(unused_port):
    """A process of moto_server."""
    url = f"http://127.0.0.1:{unused_port}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(unused_port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            end = time.monotonic() + 60
            while True:
                try:
                    ask(url, "GET", "/")
                    break
                except OSError:
                    assert time.monotonic() < end and server.poll() is None
                    time.sleep(0.002)
            yield url
        finally:
            server.terminate()


@pytest.fixture
def thread():
    """A server of moto in a thread of this process, which is reset at the end: all servers of a process share what they have."""
    with_thread = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    with_thread.start()
    host, port = with_thread.get_host_and_port()
    yield f"http://{host}:{port}"
    assert ask(f"http://{host}:{port}", "POST", "/moto-api/reset")[0] == 200
    with_thread.stop()


@pytest.fixture(scope="session")
def of_session():
    """The server of a session in a thread of this process."""
    with_thread = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    with_thread.start()
    host, port = with_thread.get_host_and_port()
    yield f"http://{host}:{port}"
    with_thread.stop()


@pytest.fixture
def reset(of_session):
    """The server of the session, which is reset after the test."""
    yield of_session
    assert ask(of_session, "POST", "/moto-api/reset")[0] == 200


@pytest.fixture
def unused_port():
    """A port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.mark.parametrize("n", range(int(os.environ["BERTH_TESTS"])))
def test_with_a_server(request, n):
    url = request.getfixturevalue(os.environ["MOTO"])
    assert ask(url, "PUT", f"/bucket-{n}")[0] == 200
    assert ask(url, "PUT", f"/bucket-{n}/object", b"content")[0] == 200
    assert ask(url, "GET", f"/bucket-{n}/object") == (200, b"content")
    status, buckets = ask(url, "GET", "/")
    assert (status, buckets.count(b"<Bucket>")) == (200, 1)
