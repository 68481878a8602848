"""The plugin: fixtures with a server, its option, and its log in the report of a test that fails."""

import importlib
from typing import Any, Generator, Iterator, List, Optional

import pytest

from .server import Server

LOG_LINES = 200  # of a server in the report of a test


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --berth-binary and berth_args."""
    group = parser.getgroup("berth")
    group.addoption("--berth-binary", metavar="PATH", help="the program berth; without it $BERTH, the one inside pytest-berth, or that on the PATH")
    parser.addini("berth_args", "further arguments of berth serve, as on a command line", type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Names the marker of seeds."""
    config.addinivalue_line("markers", "berth_seed(seed): what the server of the fixture berth has from the start: a file, a directory, or a dict")


def _start(config: pytest.Config, directory: Any, seed: Any = None) -> Server:
    args: List[str] = config.getini("berth_args")
    program: Optional[str] = config.getoption("--berth-binary")
    return Server(args, program, directory, seed)


@pytest.fixture
def berth(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of this test alone, on a new database, with its clock, faults and journal in the test's hand."""
    marker = request.node.get_closest_marker("berth_seed")
    with _start(request.config, tmp_path_factory.getbasetemp(), marker.args[0] if marker else None) as server:
        yield server


@pytest.fixture(scope="session")
def _berth_of_session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with _start(request.config, tmp_path_factory.getbasetemp()) as server:
        yield server


@pytest.fixture
def berth_session(_berth_of_session: Server) -> Iterator[Server]:
    """The server of all tests of this session, or of one process of pytest-xdist, which is reset after each test."""
    yield _berth_of_session
    _berth_of_session._end_of_test()


@pytest.fixture
def berth_env(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Points the official clients at the server of the test, by the environment and by what the runpod package keeps; gives the server."""
    server: Server = request.getfixturevalue("berth_session" if "berth_session" in request.fixturenames else "berth")
    for name, value in {
        "RUNPOD_API_BASE_URL": server.url,  # pods, over GraphQL; of version 2 of the SDK over REST
        "RUNPOD_ENDPOINT_BASE_URL": server.queue_url + "/v2",  # jobs
        "RUNPOD_API_KEY": server.key,
        "BERTH_SERVER": server.url,
        "BERTH_QUEUE_SERVER": server.queue_url,
        "BERTH_KEY": server.key,
    }.items():
        monkeypatch.setenv(name, value)

    try:  # it reads the environment when it is imported, so that what it read is set as well
        runpod = importlib.import_module("runpod")
    except ImportError:
        return server
    monkeypatch.setattr(runpod, "endpoint_url_base", server.queue_url + "/v2", raising=False)
    monkeypatch.setattr(runpod, "api_key", server.key, raising=False)
    return server


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Shows the log of the server of a test that fails."""
    outcome = yield
    report = outcome.get_result()
    if not report.failed:
        return
    servers = [one for name in ("berth", "berth_session") for one in [getattr(item, "funcargs", {}).get(name)] if isinstance(one, Server)]
    for server in filter(Server.log, servers):
        report.sections.append(("berth log", server.log(LOG_LINES)))
