"""Endpoints of functions, as a client of the queue sees them."""

import asyncio
import json
import threading

import pytest

from pytest_berth import HandlerStillRuns, Server


def test_a_function_gives_the_output(berth):
    def upper(job):
        return {"upper": job["input"]["text"].upper(), "id": job["id"]}

    endpoint = berth.endpoint(upper)
    job = endpoint.runsync({"text": "hello"})
    assert (endpoint.name, job["status"], job["output"]) == ("upper", "COMPLETED", {"upper": "HELLO", "id": job["id"]})


@pytest.mark.parametrize("output", [None, True, 7, "text", [1, None], {"a": {"b": 1}}])
def test_an_output_is_any_json(berth_session, output):
    job = berth_session.endpoint(lambda job: output).runsync({})
    assert (job["status"], job.get("output")) == ("COMPLETED", output)  # without a member for None


def test_a_function_that_raises_fails_the_job_as_the_sdk_reports_it(berth):
    def broken(job):
        raise ValueError("no such model")

    job = berth.endpoint(broken).runsync({})
    assert job["status"] == "FAILED"
    error = json.loads(job["error"])
    assert (error["error_type"], error["error_message"]) == ("<class 'ValueError'>", "no such model")
    assert "in broken" in error["error_traceback"]
    assert set(error) == {"error_type", "error_message", "error_traceback", "hostname", "worker_id", "runpod_version"}


def test_a_failing_assertion_of_pytest_in_a_function_fails_the_job(berth):
    job = berth.endpoint(lambda job: pytest.fail("not this one")).runsync({})
    assert json.loads(job["error"])["error_message"] == "not this one"


def test_an_output_with_an_error_fails_the_job_and_keeps_the_rest(berth):
    job = berth.endpoint(lambda job: {"error": "too warm", "part": 1}).runsync({})
    assert (job["status"], job["error"], job["output"]) == ("FAILED", "too warm", {"part": 1})


@pytest.mark.parametrize("value", [{1, 2}, float("nan")])
def test_what_is_no_json_fails_the_job_as_an_output_an_error_and_progress(berth, value):
    for handler in (lambda job: value, lambda job: {"error": value}, lambda job: job.progress(value)):
        job = berth.endpoint(handler, name="mine").runsync({})
        assert job["status"] == "FAILED"
        assert "not JSON" in json.loads(job["error"])["error_message"]


def test_a_generator_streams(berth):
    def count(job):
        yield from range(job["input"]["to"])

    endpoint = berth.endpoint(count)
    job = endpoint.run({"to": 3})
    assert endpoint.stream(job) == [0, 1, 2]
    assert endpoint.status(job)["status"] == "COMPLETED"


@pytest.mark.parametrize("ending", ["raise", "error"])
def test_a_generator_that_fails_keeps_what_it_streamed(berth, ending):
    def count(job):
        yield 1
        if ending == "raise":
            raise ValueError("out of numbers")
        yield {"error": "out of numbers"}

    endpoint = berth.endpoint(count)
    job = endpoint.run({})
    assert endpoint.stream(job) == [1]
    end = endpoint.status(job)
    assert end["status"] == "FAILED"
    assert "out of numbers" in end["error"]


def test_async_functions_of_an_endpoint_share_a_loop(berth):
    loops = set()

    async def slow(job):
        loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0.001)
        return job["input"]

    endpoint = berth.endpoint(slow)
    assert [endpoint.runsync({"n": n})["output"] for n in range(2)] == [{"n": 0}, {"n": 1}]
    assert len(loops) == 1


def test_an_async_generator_streams(berth):
    async def count(job):
        for n in range(3):
            await asyncio.sleep(0.001)
            yield n

    endpoint = berth.endpoint(count)
    assert endpoint.stream(endpoint.run({})) == [0, 1, 2]


def test_progress_is_the_output_until_the_end(berth):
    halfway, seen = threading.Event(), threading.Event()

    def trainer(job):
        job.progress("half way")
        halfway.set()
        assert seen.wait(120)
        return "done"

    endpoint = berth.endpoint(trainer)
    job = endpoint.run({})
    assert halfway.wait(120)
    during = endpoint.status(job)
    seen.set()
    assert (during["status"], during["output"]) == ("IN_PROGRESS", "half way")
    assert endpoint.status_sync(job)["output"] == "done"


def test_a_worker_without_a_job_does_not_ask_what_is_to_stop_which_would_fill_the_journal(berth):
    berth.clock.freeze()
    berth.endpoint(lambda job: "done").runsync({})
    while len(berth.journal.entries(operation="takeJob", status=204)) < 5:
        berth.clock.advance(60)  # what is held ends
    berth.journal.verify(operation="stopJobs", times={"atMost": 1})


def test_a_job_that_is_cancelled_cancels_an_async_function(berth):
    begun, cancelled = threading.Event(), threading.Event()

    async def forever(job):
        begun.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    endpoint = berth.endpoint(forever)
    job = endpoint.run({})
    assert begun.wait(120)
    endpoint.cancel(job)
    assert cancelled.wait(120)
    assert endpoint.status(job)["status"] == "CANCELLED"


def test_a_job_that_is_cancelled_ends_a_generator(berth):
    begun, ended = threading.Event(), threading.Event()

    def forever(job):
        try:
            while True:
                yield "more"
                begun.set()
        finally:
            ended.set()

    endpoint = berth.endpoint(forever)
    job = endpoint.run({})
    assert begun.wait(120)
    endpoint.cancel(job)
    assert ended.wait(120)


@pytest.mark.parametrize("workers", [1, 3])
def test_so_many_jobs_are_worked_on_at_once(berth, workers):
    together = threading.Barrier(workers)

    def meet(job):
        together.wait(120)
        return job["input"]["n"]

    endpoint = berth.endpoint(meet, workers=workers)
    jobs = [endpoint.run({"n": n}) for n in range(workers)]
    assert [endpoint.status_sync(job)["output"] for job in jobs] == list(range(workers))


def test_a_frozen_clock_holds_no_job_up(berth):
    berth.clock.freeze()
    assert berth.endpoint(lambda job: "done").runsync({})["output"] == "done"


def test_an_endpoint_without_a_function_has_no_workers(berth):
    endpoint = berth.endpoint("idle")
    berth.clock.freeze()
    job = endpoint.run({"n": 1})
    berth.clock.advance(24 * 60 * 60)
    assert endpoint.status(job)["status"] == "TIMED_OUT"


def test_a_worker_goes_on_after_a_fault_of_its_reports(berth):
    berth.faults.add("finishJob", status=503, times=1)
    assert berth.endpoint(lambda job: "done").runsync({})["output"] == "done"
    assert berth.faults.list()[0]["shown"] == 1


def test_a_worker_does_not_use_up_the_quota_of_the_test(berth):
    berth.control("PUT", "/quotas", {"minute": 1, "hour": 1, "day": 1})
    for _ in range(3):
        assert berth.endpoint(lambda job: "done").runsync({})["output"] == "done"


def test_a_function_that_does_not_end_is_named(monkeypatch):
    monkeypatch.setattr("pytest_berth.worker.PATIENCE", 0.2)
    begun, over = threading.Event(), threading.Event()

    def stuck(job):
        begun.set()
        over.wait(60)

    berth = Server()
    berth.endpoint(stuck).run({})
    assert begun.wait(120)
    with pytest.raises(HandlerStillRuns, match="the endpoint stuck"):
        berth.close()
    over.set()
