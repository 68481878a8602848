"""Holds upgrades from every commit that changed the schema of databases.

For each such commit since the first release, that commit's program makes a database with some of everything; then this one checks it, serves it, and
must say of it what the old one said: pods, endpoints, jobs that wait and have ended, keys, volumes, templates, registries, SSH keys,
clusters, and from where they came on secrets and global volumes. A database of a commit before the first release, or of one whose migration
gave way to another, must be refused, and stay as it was.

  upgrades.py PROGRAM [COMMIT...]   without commits: all of them
"""

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

MIGRATIONS = "store/sqlite/migrations"
RELEASED = "e3422c0"  # made the schema that was released first: store/sqlite/testdata/released/1.sql
PATIENCE = 30  # seconds, for what needs a moment after a start

# What is made, in this order: a name, the path, and the body, in which {name} is the id of what was made before. What an old program does not have
# yet is left out.
MADE = [
    ("volume", "/v2/network-volumes", {"name": "datasets", "size": 20, "dataCenter": "EU-RO-1"}),
    ("registry", "/v2/registries", {"name": "ghcr", "username": "u", "password": "hush"}),
    ("template", "/v2/templates", {"name": "trainer", "image": "i", "args": "-x", "disk": 30, "env": {"A": "ü"}, "ports": ["80/http"]}),
    ("secret", "/v2/account/secrets", {"name": "TOKEN", "value": "hush", "description": "d"}),
    ("global", "/v2/global-volumes", {"name": "shared"}),
    ("pod", "/v2/pods", {"name": "on", "image": "i", "gpu": {"id": "NVIDIA GeForce RTX 4090"}, "env": {"A": "1"}}),
    ("stopped", "/v2/pods", {"name": "off", "image": "i", "cpu": {"id": "cpu3g", "vcpuCount": 4}, "args": "-y"}),
    ("endpoint", "/v2/serverless", {
        "name": "words", "type": "QUEUE", "image": "i", "cpu": [{"id": "cpu3g", "vcpuCount": 2}], "scaling": {"type": "QUEUE_DELAY", "queueDelay": 4},
        "workers": {"min": 0, "max": 0}, "env": {"B": "2"},
    }),
]
NEEDED = {"volume", "registry", "template", "pod", "stopped", "endpoint"}

# What is compared: lists, and what of an answer is not a thing of the database but of the moment.
SAID = [
    "/v2/pods", "/v2/network-volumes", "/v2/registries", "/v2/templates", "/v2/serverless", "/v2/account/ssh-keys", "/v2/account/secrets", "/v2/global-volumes", "/v2/clusters",
    "/v2/registries/delegations", "/v2/serverless/{endpoint}/releases", "/v2/pods/{pod}", "/v2/pods/{stopped}", "/v2/{endpoint}/health",
    "/v2/{endpoint}/status/{ended}", "/v2/{endpoint}/status/{failed}", "/v2/{endpoint}/status/{waiting}",
]
OF_THE_MOMENT = {"runtime", "uptime", "uptimeSeconds", "lastStartedAt", "publicIp", "portMappings", "machine", "delayTime", "requestUrls"}


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def commits():
    """The commits of the first line of history that changed the schema, the first one first, each once."""
    return git("log", "--reverse", "--first-parent", "--format=%h", "--", MIGRATIONS).split()


def migrations(commit):
    return git("ls-tree", "--name-only", f"{commit}:{MIGRATIONS}").split()


def released(commit):
    """Whether its schema is one that a release has or can lead to: between two releases a migration may come, and give way to another."""
    after = subprocess.run(["git", "merge-base", "--is-ancestor", RELEASED, commit], check=False).returncode == 0
    own = migrations(commit)
    return after and own == migrations("HEAD")[: len(own)]


def of_schema(commit):
    """The commit, and the last one of the first line that has its schema: a merge may not build that a later commit mended."""
    tree = git("rev-parse", f"{commit}:{MIGRATIONS}")
    last = commit
    for later in git("log", "--reverse", "--first-parent", "--format=%h", f"{commit}..HEAD").split():
        if git("rev-parse", f"{later}:{MIGRATIONS}") != tree:
            break
        last = later
    return [commit, last]


def build(commit, work):
    """Builds the program of a commit, and reports whether it could be."""
    source, program = os.path.join(work, "source"), os.path.join(work, "old")
    os.mkdir(source)
    archive = subprocess.Popen(["git", "archive", commit], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", source], stdin=archive.stdout, check=True)
    if archive.wait() != 0:
        raise SystemExit(f"there is no commit {commit}")
    built = subprocess.run(["go", "build", "-pgo=off", "-buildvcs=false", "-o", program, "./cmd/berth"], cwd=source, check=False, capture_output=True)
    shutil.rmtree(source)
    return program if built.returncode == 0 else None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A program that serves a directory, until it is closed."""

    def __init__(self, program, data, key=None):
        port = free_port()
        self.url, self.key = f"http://127.0.0.1:{port}", key
        self.said = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen([program, "serve", "--data", data, "--listen", f"127.0.0.1:{port}"], stdout=self.said, stderr=self.said)
        end = time.monotonic() + PATIENCE
        while self.status("GET", "/healthz") != 200:
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                self.said.seek(0)
                raise SystemExit(f"it does not serve: {self.said.read()[-2000:]}")
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(PATIENCE) != 0:
            raise SystemExit("it did not stop well")

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method, data=None if body is None else json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        if self.key:
            request.add_header("Authorization", f"Bearer {self.key}")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text else None
        except urllib.error.HTTPError as e:
            with e:
                return e.code, e.read().decode(errors="replace")

    def status(self, method, path):
        try:
            return self.ask(method, path)[0]
        except (urllib.error.URLError, ConnectionError):
            return 0

    def must(self, method, path, body=None):
        status, answer = self.ask(method, path, body)
        if status >= 300:
            raise SystemExit(f"{method} {path}: {status} {answer}")
        return answer


def fill(server):
    """Makes some of everything, and gives the ids by the names of things."""
    ids = {}
    for name, path, body in MADE:
        status, answer = server.ask("POST", path, body)
        if status in (200, 201):
            ids[name] = answer["id"]
        elif name in NEEDED:
            raise SystemExit(f"POST {path}: {status} {answer}")
    server.must("PUT", "/v2/account/ssh-keys", {"keys": ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f somebody"]})
    settled(server, f"/v2/pods/{ids['stopped']}", "RUNNING")
    server.must("POST", f"/v2/pods/{ids['stopped']}/action", {"action": "stop"})
    settled(server, f"/v2/pods/{ids['pod']}", "RUNNING")

    queue = f"/v2/{ids['endpoint']}"
    for name, report in (("ended", {"output": {"text": "HELLO, ü"}}), ("failed", {"error": "it broke"})):
        ids[name] = server.must("POST", queue + "/run", {"input": {"n": 7}})["id"]
        taken = server.must("GET", queue + "/job-take/w?gpu=x")
        assert taken["id"] == ids[name], taken
        server.must("POST", f"{queue}/job-done/w/{ids[name]}?gpu=x", report)
    ids["waiting"] = server.must("POST", queue + "/run", {"input": {"n": 8}, "policy": {"ttl": 600_000_000}})["id"]
    return ids


def settled(server, path, status):
    end = time.monotonic() + PATIENCE
    while server.must("GET", path)["status"] != status:
        if time.monotonic() > end:
            raise SystemExit(f"{path} does not become {status}")
        time.sleep(0.05)


def say(server, ids):
    """What the interfaces say, by path; a path that there is not yet is left out."""
    said = {}
    for path in SAID:
        path = path.format(**ids)
        status, answer = server.ask("GET", path)
        if status == 200:
            said[path] = answer["jobs"] if path.endswith("/health") else answer  # which workers there are is of the moment
    return said


def differences(old, new, at=""):
    """Where the new one does not say what the old one said. It may say more."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in old.items():
            if name in OF_THE_MOMENT or value in (None, [], {}) and name not in new:
                continue
            if name not in new:
                yield f"{at}/{name} is missing" if at else f"{name} is missing"
            else:
                yield from differences(value, new[name], f"{at}/{name}" if at else name)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (one, other) in enumerate(zip(old, new)):
            yield from differences(one, other, f"{at}/{i}")
    elif old != new:
        yield f"{at}: {json.dumps(old)} was, {json.dumps(new)} is"


def upgrade(program, commit, work):
    """Has the commit's program make a database, and holds this program against it."""
    data = os.path.join(work, "data")
    old = None
    for one in of_schema(commit):
        old = old or build(one, work)
    if old is None:
        raise SystemExit(f"no program of the schema of {commit} can be built")

    with Server(old, data) as server:
        made = subprocess.run([old, "keys", "create", "--data", data, "--name", "upgrades", "--exempt"], check=True, capture_output=True, text=True)
        server.key = made.stdout.split()[-1]
        end = time.monotonic() + PATIENCE
        while server.status("GET", "/v2/pods") != 200 and time.monotonic() < end:  # the server looks for new keys now and then
            time.sleep(0.1)
        ids = fill(server)
        before, key = say(server, ids), server.key

    subprocess.run([program, "keys", "list", "--data", data], check=True, capture_output=True)
    for when in ("upgraded", "started once more"):
        with Server(program, data, key) as server:
            end = time.monotonic() + PATIENCE
            while wrong := list(differences(before, say(server, ids))):
                if time.monotonic() > end:
                    raise SystemExit(f"{commit}, {when}: " + "; ".join(wrong[:10]))
                time.sleep(0.2)
        checked = subprocess.run([program, "check", "--data", data], check=False, capture_output=True, text=True)
        if checked.returncode != 0:
            raise SystemExit(f"{commit}: berth check: {checked.stdout}{checked.stderr}")
    with Server(program, data, key) as server:  # and it goes on
        assert server.must("GET", f"/v2/{ids['endpoint']}/job-take/w?gpu=x")["id"] == ids["waiting"]
        server.must("POST", f"/v2/{ids['endpoint']}/job-done/w/{ids['waiting']}?gpu=x", {"output": 1})
        server.must("DELETE", f"/v2/pods/{ids['pod']}")
    return f"{len(before)} answers are what they were"


def refuse(program, commit, work):
    """Has this program refuse a database as the commit made it."""
    data = os.path.join(work, "data")
    os.mkdir(data, 0o700)
    file = os.path.join(data, "berth.db")
    names = sorted(name for name in git("ls-tree", "--name-only", commit, MIGRATIONS + "/").split() if name.endswith(".sql"))
    db = sqlite3.connect(file)
    for name in names:
        db.executescript(git("show", f"{commit}:{name}"))
    db.execute(f"PRAGMA user_version = {len(names)}")
    db.close()
    os.chmod(file, 0o600)
    with open(file, "rb") as f:
        before = f.read()

    served = subprocess.run([program, "serve", "--data", data, "--listen", "127.0.0.1:0"], check=False, capture_output=True, text=True, timeout=PATIENCE)
    if served.returncode == 0 or "there is no upgrade of it" not in served.stderr:
        raise SystemExit(f"{commit} is not refused: {served.stderr[-1000:]}")
    with open(file, "rb") as f:
        if f.read() != before:
            raise SystemExit(f"{commit}: the database is not as it was")
    return "refused: it is of no release"


def main():
    program = os.path.abspath(sys.argv[1])
    for commit in sys.argv[2:] or commits():
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as work:
            result = upgrade(program, commit, work) if released(commit) else refuse(program, commit, work)
        print(f"{commit}: {result} ({time.monotonic() - began:.0f} s)", flush=True)


main()
