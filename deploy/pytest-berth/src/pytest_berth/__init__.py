"""A server of berth for each test: fixtures for pytest, and the same server for who has no pytest."""

from .connection import Refused
from .controls import Clock, Duration, Faults, Journal
from .server import Endpoint, ProgramNotFound, Server, ServerFailed, find_program
from .worker import Handler, HandlerStillRuns, Job

__all__ = [
    "Clock", "Duration", "Endpoint", "Faults", "Handler", "HandlerStillRuns", "Job", "Journal", "ProgramNotFound", "Refused", "Server",
    "ServerFailed", "find_program",
]
