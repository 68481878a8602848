"""Tests of pytest-berth as it is installed: run-tests.sh puts it into a virtual environment of its own."""

pytest_plugins = ["pytester"]
