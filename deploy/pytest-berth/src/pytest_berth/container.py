"""A berth of the test's own in a container, by testcontainers: pip install "pytest-berth[testcontainers]"."""

import json
from pathlib import Path
from typing import Any, Union

from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import CompositeWaitStrategy, HttpWaitStrategy, LogMessageWaitStrategy

from .connection import Connection
from .controls import Clock, Faults, Inbox, Journal, Scripts, Webhooks

PORT = 8765
KEPT = "/data"  # the one directory that the image's user may write to


class BerthContainer(DockerContainer):
    """
    A running berth, which keeps nothing, with its clock, faults and journal in the test's hand.

        with BerthContainer("berth:1.2.3", seed="seed.yaml") as berth: ...
    """

    def __init__(self, image: str, *args: str, seed: Union[str, Path, None] = None, **members: Any):
        """Takes further arguments of berth serve, and a file of what the server has from the start and after a reset. Members are those of testcontainers."""
        super().__init__(image, **members)
        command = ["serve", "--json", "--ephemeral", "--test-controls", "--listen", f"0.0.0.0:{PORT}", *args]
        if seed is not None:
            inside = "/seed" + Path(seed).suffix
            self.with_copy_into_container(Path(seed), inside)
            command += ["--seed", inside]

        self.with_command(command).with_exposed_ports(PORT).with_env("TMPDIR", KEPT)
        self.waiting_for(CompositeWaitStrategy(LogMessageWaitStrategy('"controlsKey"'), HttpWaitStrategy(PORT, "/readyz")))

    def start(self) -> "BerthContainer":
        """Starts it, and waits until it is ready."""
        super().start()
        ready = next(json.loads(line) for line in self.get_logs()[0].splitlines() if b'"controlsKey"' in line)
        self.url = f"http://{self.get_container_host_ip()}:{self.get_exposed_port(PORT)}"
        """The base of all interfaces, without a slash at the end."""
        self.key: str = ready["key"]
        """A key with every scope."""
        self.controls_key: str = ready["controlsKey"]
        """The key of the test controls."""

        self._controls = Connection(self.url + "/_berth", self.controls_key)
        self.clock, self.faults, self.journal = Clock(self._controls), Faults(self._controls), Journal(self._controls)
        self.scripts, self.webhooks = Scripts(self._controls), Webhooks(self._controls)
        self.inbox = Inbox(f"http://127.0.0.1:{PORT}/_berth/inbox/", self._controls)  # as the server itself reaches it, inside
        return self

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """Sends any test control: control("PUT", "/quotas", {"minute": 10, "hour": 100, "day": 1000}). Raises Refused."""
        return self._controls.ask(method, path, body, timeout=None)

    def reset(self) -> None:
        """Goes back to the seed: keys, declared endpoints and the time stay, faults and journal are empty."""
        self.control("POST", "/reset")
