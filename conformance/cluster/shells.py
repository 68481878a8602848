"""Commands, copies, SSH, and the proxy of pods and of an endpoint that balances load, over the test cluster. Commands are processes of this
machine, in one folder for all Pods; what listens in Pods is played at the ports that the cluster publishes, which is where berth looks for it."""

import http.server
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request


POOL = "AMPERE_24"  # that of the GPUs of the nodes


class Web(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = f"{self.server.name} {self.path}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def listen(name, port):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Web)
    server.name = name
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def get(berth, path, host=None):
    request = urllib.request.Request(berth.url + path, headers={"Authorization": f"Bearer {berth.key}"})
    if host:
        request.add_header("Host", host)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def published(cluster):
    services = cluster.send("GET", "/api/v1/namespaces/berth/services")["items"]
    return [p["nodePort"] for s in services for p in s["spec"]["ports"]]


def commands(program, berth, pod):
    """Gives what is wrong; None: nothing."""
    def run(*args, given=""):
        env = os.environ | {"BERTH_KEY": berth.key}
        return subprocess.run([program, "pods", args[0], "--server", berth.url, *args[1:]], input=given, capture_output=True, text=True, env=env, timeout=60)

    ended = run("exec", pod, "--", "sh", "-c", "echo out; echo other >&2; exit 7")
    if (ended.returncode, ended.stdout, ended.stderr) != (7, "out\n", "other\n"):
        return f"a command: {ended}"
    if run("exec", pod, "--", "no-such-program").returncode != 127:
        return "a program that there is not"
    if run("exec", pod, "--", "sh", "-c", "kill -9 $$").returncode != 128 + 9:
        return "a command that is killed"
    ended = run("exec", "-i", pod, "--", "sh", "-c", "wc -c; exit 3", given="x" * 300_000)
    if (ended.returncode, ended.stdout.strip()) != (3, "300000"):
        return f"what a command reads: {ended}"

    with tempfile.TemporaryDirectory() as folder:
        here, there = pathlib.Path(folder, "here"), pathlib.Path(folder, "there")  # the Pod has the files of this machine
        (here / "deep").mkdir(parents=True)
        there.mkdir()
        (here / "deep" / "a b").write_bytes(os.urandom(1_000_000))
        (here / "run").write_text("two")
        (here / "run").chmod(0o750)
        for source, target in ((here, f"{pod}:{there}"), (f"{pod}:{there}/here", f"{folder}/back")):
            ended = run("cp", str(source), str(target))
            if ended.returncode != 0:
                return f"a copy from {source} to {target}: {ended}"
        for copied in (there / "here", pathlib.Path(folder, "back")):
            if (copied / "deep" / "a b").read_bytes() != (here / "deep" / "a b").read_bytes() or (copied / "run").stat().st_mode & 0o777 != 0o750:
                return f"what was copied to {copied} is another"
        if run("cp", f"{pod}:{there}/none", folder).returncode == 0:
            return "a copy of what there is not"
    return None


def ssh(berth, pod, port):
    """Gives what is wrong; None: nothing."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/key"], check=True)
        status, answer = berth.send("PUT", "/v2/account/ssh-keys", {"keys": [pathlib.Path(f"{folder}/key.pub").read_text().strip()]})
        if status != 200:
            return f"the key: {status} {answer}"
        options = ["-F", "none", "-i", f"{folder}/key", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={folder}/known"]

        def run(name, *args):
            return subprocess.run([name, *options, "-o", f"Port={port}", *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

        ended = run("ssh", f"{pod}@127.0.0.1", "echo in a pod")
        if (ended.returncode, ended.stdout) != (0, "in a pod\n"):
            return f"a command: {ended}"
        ended = run("ssh", f"{pod}@127.0.0.1", "exit 9")
        if ended.returncode != 9:
            return f"an exit code: {ended}"
        ended = run("ssh", "-tt", f"{pod}@127.0.0.1", "test -t 0 && echo a terminal; exit 4")
        if "a terminal" not in ended.stdout or ended.returncode != 4:
            return f"a terminal: {ended}"
        pathlib.Path(folder, "sent").write_bytes(os.urandom(300_000))
        ended = run("scp", "-q", f"{folder}/sent", f"{pod}@127.0.0.1:{folder}/came")
        if ended.returncode != 0 or pathlib.Path(folder, "came").read_bytes() != pathlib.Path(folder, "sent").read_bytes():
            return f"a file by scp: {ended}"
    return None


def balanced(berth, cluster, until):
    """Has an endpoint that balances load go from no worker to two and back: what is asked meanwhile waits for a worker, and none is lost.
    Gives what is wrong; None: nothing."""
    status, made = berth.send("POST", "/v2/serverless", {
        "name": "balanced", "type": "LOAD_BALANCER", "image": "busybox", "gpu": {"pools": [POOL]}, "scaling": {"type": "REQUEST_COUNT", "requestCount": 1},
        "workers": {"min": 0, "max": 2, "idleTimeout": 1}})
    if status != 201:
        return f"createEndpoint: {status} {made}"
    path = f"/proxy/endpoints/{made['id']}/asked"
    playing, answers, over = {}, [], threading.Event()

    def play():
        while not over.wait(0.1):
            for port in published(cluster):
                if port not in playing:
                    playing[port] = listen(f"worker {len(playing)}", port)

    def ask():
        while not over.is_set():
            answers.append(get(berth, path))
            over.wait(0.02)

    together = [threading.Thread(target=do) for do in [play] + [ask] * 4]
    for one in together:
        one.start()
    try:
        until("two workers answer", lambda: len({text for status, text in answers if status == 200}) == 2)
    finally:
        over.set()
        for one in together:
            one.join()
    wrong = [a for a in answers if a[0] != 200 or not a[1].endswith(" /asked")]
    if wrong:
        return f"{len(wrong)} of {len(answers)} requests to the endpoint were not served: {wrong[:3]}"
    until("the workers go when nothing is asked", lambda: not published(cluster))
    for server in playing.values():
        server.shutdown()
        server.server_close()
    status, _ = berth.send("DELETE", f"/v2/serverless/{made['id']}")
    return None if status == 204 else f"deleteEndpoint: {status}"


def check(program, berth, cluster, until, port):
    """Checks all of it and gives what is wrong; None: nothing. The server listens for SSH on the port."""
    status, made = berth.send("POST", "/v2/pods", {"name": "a", "image": "busybox", "gpu": {"id": "NVIDIA L4", "count": 1}, "ports": ["8080/http"]})
    if status != 201:
        return f"createPod: {status} {made}"
    pod = made["id"]
    until("the pod runs", lambda: berth.pods()[pod] == "RUNNING")
    wrong = commands(program, berth, pod)
    if not wrong and shutil.which("scp"):
        wrong = ssh(berth, pod, port)
    if wrong:
        return wrong

    server = listen("pod", until("the pod has a port", lambda: published(cluster))[0])
    until("the proxy reaches the pod", lambda: get(berth, "/asked", f"{pod}-8080.localhost") == (200, "pod /asked"))
    server.shutdown()
    server.server_close()
    berth.delete(pod)
    until("the port of the pod is gone", lambda: not published(cluster))
    return balanced(berth, cluster, until)
