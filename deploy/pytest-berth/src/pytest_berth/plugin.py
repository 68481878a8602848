"""The plugin: fixtures with a server, its options, its log in the report of a test that fails, and what the tests would have cost."""

import importlib
from decimal import Decimal
from http.client import HTTPException
from typing import Any, Dict, Generator, Iterator, List, Optional

import pytest

from .connection import Refused
from .server import Server

LOG_LINES = 200  # of a server in the report of a test
COST = "berth_cost"  # the property of a test
UNKNOWN = "unknown"  # the cost of a server that was gone before its test ended


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --berth-binary, --berth-costs and berth_args."""
    group = parser.getgroup("berth")
    group.addoption("--berth-binary", metavar="PATH", help="the program berth; without it $BERTH, the one inside pytest-berth, or that on the PATH")
    group.addoption("--berth-costs", action="store_true", help="print what each test would have cost, in USD at the prices of the catalog")
    parser.addini("berth_args", "further arguments of berth serve, as on a command line", type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Names the marker of seeds, and prints the costs, if it is asked for."""
    config.addinivalue_line("markers", "berth_seed(seed): what the server of the fixture berth has from the start: a file, a directory, or a dict")
    if config.getoption("--berth-costs"):
        config.pluginmanager.register(CostReport(), "berth-costs")


class CostReport:
    """What the tests would have cost, at the end of the run; with pytest-xdist those of all processes."""

    def __init__(self) -> None:
        self._known: Dict[str, Decimal] = {}
        self._unknown: List[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Takes what the fixtures noted of a test: when it is over, since that is when they do."""
        if report.when != "teardown":
            return
        for name, value in report.user_properties:
            if name != COST:
                continue
            if value == UNKNOWN:
                self._unknown.append(report.nodeid)
            else:
                self._known[report.nodeid] = self._known.get(report.nodeid, Decimal(0)) + Decimal(str(value))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Prints the tests that would have cost something, the highest first, and the sum of all."""
        terminalreporter.section("what the tests would have cost, in USD")
        lines = [(format(cost, "f"), test) for test, cost in sorted(self._known.items(), key=lambda one: (-one[1], one[0])) if cost]
        lines += [(UNKNOWN, f"{test} (its server was gone)") for test in sorted(self._unknown)]
        lines.append((format(sum(self._known.values(), Decimal(0)), "f"), f"in all, of {len(self._known)} tests with a server"))
        width = max(len(cost) for cost, _ in lines)
        for cost, test in lines:
            terminalreporter.write_line(f"{cost:>{width}}  {test}")


def _note_cost(request: pytest.FixtureRequest, server: Server) -> None:
    """Notes what the test has cost, if it is asked for."""
    if not request.config.getoption("--berth-costs"):
        return
    try:
        cost = format(server._cost(), "f")
    except (OSError, HTTPException, Refused):  # the test ended it
        cost = UNKNOWN
    request.node.user_properties.append((COST, cost))


def _start(config: pytest.Config, directory: Any, seed: Any = None) -> Server:
    args: List[str] = config.getini("berth_args")
    program: Optional[str] = config.getoption("--berth-binary")
    server = Server(args, program, directory, seed)
    server._counts_costs = config.getoption("--berth-costs")
    return server


def _seed(seed: Any) -> Any:
    """What a marker berth_seed has, by place or by name."""
    return seed


@pytest.fixture
def berth(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of this test alone, on a new database, with its clock, faults and journal in the test's hand."""
    marker = request.node.get_closest_marker("berth_seed")
    seed = _seed(*marker.args, **marker.kwargs) if marker else None
    with _start(request.config, tmp_path_factory.getbasetemp(), seed) as server:
        yield server
        _note_cost(request, server)


@pytest.fixture(scope="session")
def _berth_of_session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with _start(request.config, tmp_path_factory.getbasetemp()) as server:
        server._begin_of_tests()
        yield server


@pytest.fixture
def berth_session(request: pytest.FixtureRequest, _berth_of_session: Server) -> Iterator[Server]:
    """The server of all tests of this session, or of one process of pytest-xdist, which is reset after each test."""
    yield _berth_of_session
    _note_cost(request, _berth_of_session)
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
    funcargs = getattr(item, "funcargs", {})
    servers = {id(one): one for one in map(funcargs.get, ("berth", "berth_session", "berth_env")) if isinstance(one, Server)}  # each once
    for server in filter(Server.log, servers.values()):
        report.sections.append(("berth log", server.log(LOG_LINES)))
