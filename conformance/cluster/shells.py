"""Commands, SSH and the proxy of pods over the test cluster. Commands are processes of this machine, which kwok
does not tell that their input has ended, so no files are copied here; what listens in Pods is played at the ports that the cluster publishes, which is where berth looks for it."""

import http.server
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request


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
    def run(*args):
        env = os.environ | {"BERTH_KEY": berth.key}
        return subprocess.run([program, "pods", args[0], "--server", berth.url, *args[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env, timeout=60)

    ended = run("exec", pod, "--", "sh", "-c", "echo out; echo other >&2; exit 7")
    if (ended.returncode == 0, ended.stdout, ended.stderr) != (False, "out\n", "other\n"):  # kwok says that it failed, without the exit code
        return f"a command: {ended}"
    if run("exec", pod, "--", "no-such-program").returncode != 127:
        return "a program that there is not"
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
        ended = run("ssh", "-tt", f"{pod}@127.0.0.1", "test -t 0 && echo a terminal")
        if "a terminal" not in ended.stdout:
            return f"a terminal: {ended}"
    return None


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
    berth.delete(pod)
    return None
