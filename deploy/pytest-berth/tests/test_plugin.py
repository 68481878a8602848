"""What a run of pytest leaves behind, and what it says when something fails."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pytest_berth import ProgramNotFound, Server, ServerFailed, find_program

USES_A_SERVER = """
    import pytest
    from pytest_berth.connection import Connection

    POD = {"name": "trainer", "image": "ubuntu:24.04", "cpu": {"id": "cpu3g", "vcpuCount": 2}}

    @pytest.mark.parametrize("n", range(%d))
    def test_alone(berth, n):
        client = Connection(berth.url, berth.key)
        assert client.ask("GET", "/v2/pods")["pods"] == []
        client.ask("POST", "/v2/pods", POD)
        assert berth.endpoint(lambda job: n).runsync({})["output"] == n
        berth.clock.advance(3600)
"""


def servers_below(directory):
    """Gives the processes of servers with a path below the directory in their command line or in their environment, which e shows."""
    shown = subprocess.run(["ps", "-A", "-ww", "e", "-o", "pid=,args="], check=True, capture_output=True, text=True).stdout
    return [line for line in shown.splitlines() if str(directory) in line and "serve --json" in line]


def left_in(directory):
    """Gives the directories of servers in the directory of a run."""
    return [str(path) for path in Path(directory).rglob("berth-*")]


def test_fifty_tests_with_a_server_each_leave_nothing(pytester):
    pytester.makepyfile(USES_A_SERVER % 50)
    base = pytester.path / "base"
    result = pytester.runpytest_subprocess("--basetemp", str(base), "-p", "no:cacheprovider")
    result.assert_outcomes(passed=50)
    assert base.exists()
    assert servers_below(base) == []
    assert left_in(base) == []


def test_tests_at_once_share_nothing(pytester):
    pytest.importorskip("xdist")
    pytester.makepyfile(USES_A_SERVER % 6)
    base = pytester.path / "base"
    result = pytester.runpytest_subprocess("--basetemp", str(base), "-n", "3")
    result.assert_outcomes(passed=6)
    assert servers_below(base) == []
    assert left_in(base) == []


def test_a_server_leaves_no_thread_no_process_and_no_directory(tmp_path):
    before = set(threading.enumerate())
    with Server(directory=tmp_path) as berth:
        assert len(servers_below(tmp_path)) == 2  # with its guard
        assert berth.endpoint(lambda job: 1).runsync({})["output"] == 1
    assert set(threading.enumerate()) == before
    assert servers_below(tmp_path) == []
    assert list(tmp_path.iterdir()) == []
    berth.close()  # again


def test_a_run_that_is_killed_leaves_no_server(tmp_path):
    script = f"from pytest_berth import Server; s = Server(directory={str(tmp_path)!r}); print('up', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "up\n"
        assert servers_below(tmp_path) != []
        os.kill(run.pid, signal.SIGKILL)
    end = time.monotonic() + 30
    while servers_below(tmp_path):
        assert time.monotonic() < end, "the server goes on"
        time.sleep(0.02)


def test_tests_of_one_server_find_nothing_of_each_other(pytester):
    pytester.makepyfile(
        """
        import pytest
        from pytest_berth.connection import Connection

        urls, keys = set(), []

        @pytest.mark.parametrize("n", range(3))
        def test_it(berth_session, n):
            urls.add(berth_session.url)
            client = Connection(berth_session.url, berth_session.key)
            assert len(urls) == 1
            assert client.ask("GET", "/v2/pods")["pods"] == []
            assert client.ask("GET", "/v2/serverless")["endpoints"] == []
            by_workers = {"takeJob", "stopJobs"}  # of the test before: they may have been on their way
            assert [e["operation"] for e in berth_session.journal.entries() if e["operation"] not in by_workers] == ["listPods", "listEndpoints"]
            assert berth_session.faults.list() == []
            assert berth_session.clock.state()["mode"] == "running"
            assert [Connection(berth_session.url, key).send("GET", "/v2/pods")[0] for key in keys] == [401] * n
            assert len(client.ask("GET", "/_berth/users")["users"]) == 1
            assert berth_session.states.list() == []

            client.ask("POST", "/v2/pods", {"name": "p", "image": "i", "cpu": {"id": "cpu3g", "vcpuCount": 2}})
            berth_session.endpoint(lambda job: 1).runsync({})
            berth_session.clock.freeze()
            berth_session.faults.add("listPods", status=500)
            keys.append(berth_session.new_key("all", user="somebody")["key"])
            client.ask("POST", "/_berth/users", {"name": "a@b.example", "role": "reader"})
            berth_session.states.save("mine")
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=3)


def test_keys_and_users_are_what_they_were_for_the_next_test_of_one_server(pytester):
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session", autouse=True)
        def member(_berth_of_session):
            _berth_of_session.control("POST", "/users", {"name": "lasting"})
            _berth_of_session._begin_of_tests()
        """
    )
    pytester.makepyfile(
        """
        import pytest
        from pytest_berth.connection import Connection

        keys = []

        @pytest.mark.parametrize("n", range(3))
        def test_it(berth_session, n):
            client = Connection(berth_session.url, berth_session.key)
            users = client.ask("GET", "/_berth/users")["users"]
            assert [(u["name"], u["role"], u["disabled"]) for u in users] == [("owner", "admin", False), ("lasting", "member", False)]
            assert [Connection(berth_session.url, key).send("GET", "/v2/pods")[0] for key in keys] == [401] * n

            keys.append(berth_session.control("POST", "/keys", {"scopes": ["all"], "user": "lasting"})["key"])
            assert berth_session.endpoint(lambda job: 1).runsync({})["output"] == 1
            if n == 1:
                berth_session.states.save("mine")
                berth_session.states.load("mine")
                assert berth_session.endpoint(lambda job: 1).runsync({})["output"] == 1
            client.ask("PATCH", "/_berth/users/lasting", {"role": "admin"})
            client.ask("PATCH", "/_berth/users/owner", {"disabled": True})
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=3)


def test_a_handler_that_still_runs_leaves_nothing_to_the_next_test(pytester):
    pytester.makepyfile(
        """
        import threading
        from pytest_berth import worker
        from pytest_berth.connection import Connection

        worker.PATIENCE = 0.2
        begun, over = threading.Event(), threading.Event()

        def stuck(job):
            begun.set()
            over.wait(60)

        def test_that_leaves_it(berth_session):
            berth_session.endpoint(stuck).run({})
            assert begun.wait(30)
            berth_session.new_key("all", user="somebody")
            berth_session.states.save("mine")
            berth_session.clock.freeze()

        def test_after_it(berth_session):
            over.set()
            client = Connection(berth_session.url, berth_session.key)
            assert client.ask("GET", "/v2/serverless")["endpoints"] == []
            assert len(client.ask("GET", "/_berth/users")["users"]) == 1
            assert berth_session.states.list() == []
            assert berth_session.clock.state()["mode"] == "running"
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*HandlerStillRuns: the handler of the endpoint stuck*"])


@pytest.mark.parametrize("fixtures", ["berth", "berth_session", "berth_env", "berth_env, berth"])
def test_a_test_that_fails_shows_the_log_of_its_server(pytester, fixtures):
    pytester.makepyfile(
        f"""
        from pytest_berth.connection import Connection

        def test_it({fixtures}):
            berth = {fixtures.split(",")[0]}
            Connection(berth.url, berth.key).ask("GET", "/v2/pods")
            assert False
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*- berth log -*", "*/v2/pods*"])
    assert result.stdout.str().count("- berth log -") == 1
    assert "brt_" not in result.stdout.str().replace(find_program(), "")


def test_the_arguments_of_the_ini_file_are_those_of_the_server(pytester):
    pytester.makeini("[pytest]\nberth_args = --endpoint 'idle=' --quota-minute 1")
    pytester.makepyfile(
        """
        from pytest_berth.connection import Connection

        def test_it(berth):
            assert berth.endpoint("idle").run({})["status"] == "IN_QUEUE"
            client = Connection(berth.url, berth.key)
            assert [client.send("GET", "/v2/pods")[0] for _ in range(2)] == [200, 429]
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_arguments_that_make_no_sense_fail_with_what_the_program_says(tmp_path):
    with pytest.raises(ServerFailed, match="unknown flag: --nonsense"):
        Server(["--nonsense"], directory=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_program_is_the_option_then_the_environment_then_that_inside_then_on_the_path(monkeypatch, tmp_path):
    for name in ("chosen", "of-environment", "berth"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    inside = Path(sys.modules["pytest_berth"].__file__).parent / "bin" / "berth"
    monkeypatch.setenv("BERTH", str(tmp_path / "of-environment"))
    assert find_program(str(tmp_path / "chosen")) == str(tmp_path / "chosen")
    assert find_program() == str(tmp_path / "of-environment")

    monkeypatch.delenv("BERTH")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program() == (str(inside) if inside.exists() else str(tmp_path / "berth"))


def test_a_program_that_is_not_there_is_named_with_what_to_do(monkeypatch, tmp_path):
    with pytest.raises(ProgramNotFound, match="--berth-binary is /no/berth"):
        find_program("/no/berth")
    monkeypatch.setattr("pytest_berth.server.__file__", str(tmp_path / "server.py"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("BERTH", raising=False)
    with pytest.raises(ProgramNotFound, match="install a wheel .* --berth-binary"):
        find_program()


def test_the_environment_is_that_of_the_server(berth_env):
    assert os.environ["RUNPOD_API_BASE_URL"] == berth_env.url
    assert os.environ["RUNPOD_ENDPOINT_BASE_URL"] == berth_env.queue_url + "/v2"
    assert os.environ["RUNPOD_API_KEY"] == os.environ["BERTH_KEY"] == berth_env.key


def test_what_the_client_keeps_is_that_of_the_server_for_one_test(pytester):
    pytester.makepyfile(runpod="endpoint_url_base, api_key = 'https://elsewhere/v2', 'mine'")
    pytester.makepyfile(
        """
        import runpod

        def test_it(berth_env, berth_session):
            assert berth_env is berth_session
            assert (runpod.endpoint_url_base, runpod.api_key) == (berth_session.queue_url + "/v2", berth_session.key)

        def test_after_it():
            assert (runpod.endpoint_url_base, runpod.api_key) == ("https://elsewhere/v2", "mine")
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=2)


@pytest.mark.parametrize("args", [[], ["--data", "{}"], ["--data={}"]])
def test_a_server_keeps_nothing_unless_it_is_told_where(tmp_path, args):
    directory, kept = tmp_path / "run", tmp_path / "kept"
    directory.mkdir()
    with Server([arg.format(kept) for arg in args], directory=directory):
        pass
    assert list(directory.iterdir()) == []
    assert (kept / "berth.db").exists() == bool(args)


def test_settings_of_the_machine_are_not_those_of_the_server(monkeypatch, tmp_path):
    monkeypatch.setenv("BERTH_QUOTA_MINUTE", "not a number")
    with Server(directory=tmp_path) as berth:
        assert berth.clock.state()["mode"] == "running"


def test_the_costs_of_tests_are_printed_with_their_sum(pytester):
    pytester.makepyfile(
        """
        from pytest_berth.connection import Connection

        def runs(berth, hours):
            client = Connection(berth.url, berth.key)
            berth.clock.freeze()
            pod = client.ask("POST", "/v2/pods", {"name": "p", "image": "i", "gpu": {"id": "NVIDIA GeForce RTX 4090", "count": 1}})
            berth.clock.advance(60)
            berth.clock.advance(3600 * hours - berth.costs()["costs"][0]["milliseconds"] / 1000)
            client.send("DELETE", "/v2/pods/" + pod["id"])

        def test_a_day(berth):
            runs(berth, 24)

        def test_one_server(berth_session):
            runs(berth_session, 1)

        def test_what_a_reset_forgot_was_spent(berth_session):
            runs(berth_session, 2)
            berth_session.reset()
            runs(berth_session, 1)

        def test_nothing(berth_session):
            assert berth_session.costs()["total"] == 0

        def test_without_a_server():
            pass

        def test_server_is_gone(berth):
            berth.close()
        """
    )
    result = pytester.runpytest_subprocess("--berth-costs", "--junitxml", "report.xml")
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(
        [
            "*= what the tests would have cost, in USD =*",
            "  16.56  *::test_a_day",
            "   2.07  *::test_what_a_reset_forgot_was_spent",
            "   0.69  *::test_one_server",
            "unknown  *::test_server_is_gone (its server was gone)",
            "  19.32  in all, of 4 tests with a server",
        ],
        consecutive=True,
    )
    assert 'name="berth_cost" value="2.07"' in (pytester.path / "report.xml").read_text()


def test_costs_are_not_printed_unless_asked_for(pytester):
    pytester.makepyfile("def test_it(berth): pass")
    assert "would have cost" not in pytester.runpytest_subprocess().stdout.str()


def test_tests_at_once_have_one_sum_of_their_costs(pytester):
    pytest.importorskip("xdist")
    pytester.makepyfile(USES_A_SERVER % 3)
    result = pytester.runpytest_subprocess("--berth-costs", "-n", "3")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*  in all, of 3 tests with a server"])
