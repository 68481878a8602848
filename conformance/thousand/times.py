"""A plugin for pytest: how long tests took, from the start of their fixtures to the end of them."""

import os
from collections import defaultdict
from pathlib import Path

taken = defaultdict(float)  # seconds, by test


def pytest_runtest_logreport(report):
    """Adds a part of a test. With pytest-xdist its processes send it to the first one."""
    taken[report.nodeid] += report.duration


def pytest_terminal_summary(terminalreporter):
    """Says how long a test took, and writes the milliseconds of each to the file that BERTH_TEST_TIMES names."""
    all_of_them = sorted(1000 * seconds for seconds in taken.values())
    if not all_of_them:
        return
    if path := os.environ.get("BERTH_TEST_TIMES"):
        Path(path).write_text("".join(f"{ms:.3f}\n" for ms in all_of_them))
    median, p99 = (all_of_them[int(share * (len(all_of_them) - 1))] for share in (0.5, 0.99))
    terminalreporter.write_line(f"{len(all_of_them)} tests with a server each: median {median:.1f} ms, p99 {p99:.1f} ms")
