"""Holds upgrades from every commit that changed the schema of databases.

For each such commit since the first release, that commit's program makes a database with some of everything; then this one checks it, serves it, and
must say of it what the old one said: pods, endpoints, jobs that wait and have ended, keys, volumes, templates, registries, SSH keys,
clusters, and from where they came on secrets and global volumes; and the rules about what reads must hold on it. A database of a commit before the first
release, or of one whose migration gave way to another, must be refused, and stay as it was.

Such a database is kept as text in kept/, one of each schema, with what was said of it, so that all of them are upgraded in less than a minute,
without the old programs:

  upgrades.py --kept PROGRAM                          those that are kept; fails if an earlier schema has none
  upgrades.py [--programs DIR] PROGRAM [COMMIT...]    made anew by the old programs, which are built; without commits: all. One of a schema of
                                                      which none is kept yet is kept. DIR keeps the programs for another time.
"""

import argparse
import base64
import concurrent.futures
import json
import lzma
import os
import random
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

import stores

KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kept")
RELEASED = "e3422c0"  # made the schema that was released first: store/sqlite/testdata/released/1.sql
PATIENCE = 120  # seconds, for what needs a moment after a start

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
# The rules about what reads: whatever lists and gets, which the rules hold to the documents with all that the database had before.
READS = ",".join([
    "pods.get", "pods.list", "errors.list", "queue.errors.list", "queue.status.document", "queue.status.output", "queue.status.error", "queue.health", "jobs.list",
    "catalog.gpus.get", "catalog.cpus.get", "catalog.datacenters.get", "volumes.list", "volumes.get", "global-volumes.list", "registries.list", "registries.get",
    "templates.list", "templates.get", "templates.public.read", "clusters.get", "clusters.list", "clusters.pods.get", "serverless.get", "serverless.list",
    "secrets.list", "secrets.get", "delegations.list", "builds.list",
    "graphql.scopes.read", "graphql.clusters.get", "graphql.templates.list", "graphql.registries.list", "graphql.volumes.list", "graphql.endpoints.list",
])
OF_THE_MOMENT = {"runtime", "uptime", "uptimeSeconds", "lastStartedAt", "publicIp", "portMappings", "machine", "delayTime", "requestUrls"}


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def commits(store):
    """The commits of the first line of history that changed the schema, the first one first, each once."""
    return git("log", "--reverse", "--first-parent", "--format=%h", "--", store.migrations).split()


def migrations(store, commit):
    """The migrations of a commit: their names; those of PostgreSQL, of which the first was written anew before its release, with their content."""
    entries = [line.split() for line in git("ls-tree", commit, store.migrations + "/").splitlines()]
    return [(os.path.basename(name), "" if store.name == "sqlite" else blob) for _, _, blob, name in entries if name.endswith(".sql")]


def released(store, commit):
    """Whether its schema is one that a release has or can lead to: between two releases a migration may come, and give way to another."""
    after = subprocess.run(["git", "merge-base", "--is-ancestor", RELEASED, commit], check=False).returncode == 0
    own = migrations(store, commit)
    return after and own != [] and own == migrations(store, "HEAD")[: len(own)]


def kept(store, commit):
    """The file of the database that is kept of a commit's schema, which has the name of its last migration."""
    last = migrations(store, commit)[-1][0].removesuffix(".sql")
    return os.path.join(KEPT, f"{store.name}-{last}.json.xz")


def of_schema(store, commit):
    """The commit, and the last one of the first line that has its schema: a merge may not build that a later commit mended."""
    tree = git("rev-parse", f"{commit}:{store.migrations}")
    last = commit
    for later in git("log", "--reverse", "--first-parent", "--format=%h", f"{commit}..HEAD").split():
        if git("rev-parse", f"{later}:{store.migrations}") != tree:
            break
        last = later
    return [commit, last]


def build(commit, programs):
    """Gives the program of a commit, which is built unless it is among the programs; none if it cannot be."""
    program, source = os.path.join(programs, commit), os.path.join(programs, "source")
    if os.path.exists(program):
        return program
    os.mkdir(source)
    archive = subprocess.Popen(["git", "archive", commit], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", source], stdin=archive.stdout, check=True)
    if archive.wait() != 0:
        raise SystemExit(f"there is no commit {commit}")
    built = subprocess.run(["go", "build", "-pgo=off", "-buildvcs=false", "-o", program, "./cmd/berth"], cwd=source, check=False, capture_output=True)
    shutil.rmtree(source)
    return program if built.returncode == 0 else None


def free_port():
    """Gives a port that nobody has now, below those that the system gives to who asks for any."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) != 0:
                return port


class Server:
    """A program that serves a directory, until it is closed."""

    def __init__(self, program, data, options, key=None):
        port = free_port()
        self.url, self.key = f"http://127.0.0.1:{port}", key
        self.said = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen([program, "serve", "--data", data, "--listen", f"127.0.0.1:{port}", *options], stdout=self.said, stderr=self.said)
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
        except (urllib.error.URLError, ConnectionError, TimeoutError):
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


def make(store, old, data):
    """Has an old program make a database, and gives all that there is to keep of it."""
    options = store.options(data)
    with Server(old, data, options) as server:
        made = subprocess.run([old, "keys", "create", "--data", data, *options, "--name", "upgrades", "--exempt"], check=True, capture_output=True, text=True)
        server.key = made.stdout.split()[-1]
        end = time.monotonic() + PATIENCE
        while server.status("GET", "/v2/pods") != 200 and time.monotonic() < end:  # the server looks for new keys now and then
            time.sleep(0.1)
        ids = fill(server)
        said = say(server, ids)

    files = {}
    for folder, _, names in os.walk(data):
        for name in names:
            path = os.path.join(folder, name)
            if not name.startswith("berth.db") and name != "lock":
                with open(path, "rb") as f:
                    files[os.path.relpath(path, data)] = base64.b64encode(f.read()).decode()
    return {"made": time.time(), "key": server.key, "ids": ids, "said": said, "files": files, "database": store.dump(data)}


def hold(program, store, data, made):
    """Upgrades a database, and holds this program to what was said of it."""
    options, ids = store.options(data), made["ids"]
    subprocess.run([program, "keys", "list", "--data", data, *options], check=True, capture_output=True)
    # No time has passed for it since it was made: what jobs wait for and how long results are kept goes by the clock that this sets.
    passed = int((time.time() - made["made"]) * 1000)
    store.run(data, f"INSERT INTO clock (one, lag) VALUES (1, {passed}) ON CONFLICT (one) DO UPDATE SET lag = clock.lag + excluded.lag")
    for when in ("upgraded", "started once more"):
        with Server(program, data, options, made["key"]) as server:
            end = time.monotonic() + PATIENCE
            while wrong := list(differences(made["said"], say(server, ids))):
                if time.monotonic() > end:
                    raise SystemExit(f"{when}: " + "; ".join(wrong[:10]))
                time.sleep(0.2)
            if when == "upgraded":
                rules = read_rules(program, server)
        if store.checked:
            run(program, "check", "--data", data, *options)
    with Server(program, data, options, made["key"]) as server:  # and it goes on
        assert server.must("GET", f"/v2/{ids['endpoint']}/job-take/w?gpu=x")["id"] == ids["waiting"]
        server.must("POST", f"/v2/{ids['endpoint']}/job-done/w/{ids['waiting']}?gpu=x", {"output": 1})
        server.must("DELETE", f"/v2/pods/{ids['pod']}")
    return f"{len(made['said'])} answers are what they were, {rules} rules hold"


def run(*command):
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command[1:])}: {done.stdout[-3000:]}{done.stderr[-1000:]}")
    return done.stdout


def read_rules(program, server):
    """Holds a server to the rules about what reads, and gives how many held."""
    outcomes = json.loads(run(program, "conformance", "--target", server.url, "--key", server.key, "--exempt-key", server.key, "--only", READS, "--json"))
    passed = [one for one in outcomes if one["outcome"] == "PASS"]
    if len(passed) < len(outcomes) * 2 / 3:
        raise SystemExit(f"of {len(outcomes)} rules {len(passed)} were checked")
    return len(passed)


def upgrade(program, store, commit, work, programs):
    """Has the commit's program make a database, and holds this program against it."""
    old = None
    for one in of_schema(store, commit):
        old = old or build(one, programs)
    if old is None:
        raise SystemExit(f"no program of the schema of {commit} can be built")
    data = os.path.join(work, "data")
    made = make(store, old, data)
    said, keep = hold(program, store, data, made), kept(store, commit)
    if os.path.exists(keep):
        return said
    os.makedirs(KEPT, exist_ok=True)
    with lzma.open(keep, "wt", preset=9, encoding="utf-8") as f:
        json.dump({"commit": commit} | made, f, indent=1, ensure_ascii=False)
    return f"{said}; it is kept as {os.path.basename(keep)}"


def upgrade_kept(program, store, file):
    """Makes a database again that is kept, and holds this program against it."""
    with lzma.open(os.path.join(KEPT, file), "rt", encoding="utf-8") as f:
        made = json.load(f)
    with tempfile.TemporaryDirectory() as work:
        data = os.path.join(work, "data")
        os.mkdir(data, 0o700)
        for name, content in made["files"].items():
            path = os.path.join(data, name)
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as f:
                f.write(base64.b64decode(content))
        store.load(data, made["database"])
        return hold(program, store, data, made)


def refuse(program, store, commit, work):
    """Has this program refuse a database as the commit made it."""
    data = os.path.join(work, "data")
    os.mkdir(data, 0o700)
    file = os.path.join(data, "berth.db")
    names = [name for name, _ in migrations(store, commit)]
    db = sqlite3.connect(file)
    for name in names:
        db.executescript(git("show", f"{commit}:{store.migrations}/{name}"))
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


def timed(name, work):
    """Does some work, and says how it went and how long it took."""
    began = time.monotonic()
    try:
        result = work()
    except BaseException as e:
        raise SystemExit(f"{name}: {e}") from e
    print(f"{name}: {result} ({time.monotonic() - began:.1f} s)", flush=True)


def of_commits(program, store, some, programs):
    for commit in some or commits(store):
        with tempfile.TemporaryDirectory() as work:
            if released(store, commit):
                timed(f"{store.name}, {commit}", lambda: upgrade(program, store, commit, work, programs))
            elif store.name == "sqlite":
                timed(f"{store.name}, {commit}", lambda: refuse(program, store, commit, work))


def of_kept(program, store):
    """Upgrades all databases that are kept, two at a time."""
    now = sorted(os.listdir(store.migrations))
    for commit in commits(store):
        if released(store, commit) and len(migrations(store, commit)) < sum(name.endswith(".sql") for name in now) and not os.path.exists(kept(store, commit)):
            raise SystemExit(f"no database of the schema of {commit} is kept: make upgrades COMMITS={commit}")
    files = sorted(name for name in os.listdir(KEPT) if name.startswith(store.name + "-"))
    with concurrent.futures.ThreadPoolExecutor(2) as both:
        list(both.map(lambda file: timed(file, lambda: upgrade_kept(program, store, file)), files))
    return len(files)


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument("--kept", action="store_true")
    arguments.add_argument("--programs")
    arguments.add_argument("program", type=os.path.abspath)
    arguments.add_argument("commits", nargs="*")
    a = arguments.parse_args()
    began, count = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as programs:
        for kind in (stores.SQLite, stores.PostgreSQL):
            try:
                store = kind()
            except FileNotFoundError as e:
                print(f"SKIPPED: {kind.name}: {e}")
                continue
            try:
                if a.kept:
                    count += of_kept(a.program, store)
                else:
                    of_commits(a.program, store, a.commits, os.path.abspath(a.programs or programs))
            finally:
                store.close()
    if a.kept:
        print(f"{count} databases of earlier schemas were upgraded (in {time.monotonic() - began:.0f} s)")


main()
