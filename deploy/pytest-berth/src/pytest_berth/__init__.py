"""A server of berth for each test: fixtures for pytest, and the same server for who has no pytest."""

from .connection import Refused
from .controls import Clock, Duration, Faults, Inbox, Jobs, Journal, Scripts, States, Webhooks, Why
from .server import Endpoint, ProgramNotFound, Server, ServerFailed, find_program
from .worker import Handler, HandlerStillRuns, Job

__all__ = [
    "Clock", "Duration", "Endpoint", "Faults", "Handler", "HandlerStillRuns", "Inbox", "Job", "Jobs", "Journal", "ProgramNotFound", "Refused",
    "Scripts", "Server", "ServerFailed", "States", "Webhooks", "Why", "find_program",
]
