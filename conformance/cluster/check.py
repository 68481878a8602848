"""Runs a berth over the test cluster and holds it to what it promises there: check.py BERTH SERVER KUBECONFIG PID DATA HELM. PID is that of
up.sh, which starts the API server again when it gets SIGUSR1."""

import atexit
import concurrent.futures
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import chart
import devices
import rules
import shells
from objects import Cluster

BERTH, SERVER, KUBECONFIG, PID, DATA, HELM = sys.argv[1:7]
cluster = Cluster(SERVER)


def fail(why):
    print("FAILED:", why)
    sys.exit(1)


class Berth:
    def __init__(self, *settings):
        self.process = subprocess.Popen(
            [BERTH, "serve", "--json", "--listen", "127.0.0.1:0", "--data", DATA, "--runtime", "kubernetes", "--kube-config", KUBECONFIG,
             "--worker-url", "http://berth.test", "--private-webhooks", *settings],
            stdout=subprocess.PIPE, stderr=open(f"{DATA}.log", "a"), text=True)
        atexit.register(self.process.kill)  # also when the check fails
        ready = json.loads(self.process.stdout.readline())
        self.url = ready["url"]
        self.key = ready.get("key") or self.key_of_before()
        with open(f"{DATA}.key", "w") as file:
            file.write(self.key)

    def key_of_before(self):
        with open(f"{DATA}.key") as file:
            return file.read()

    def send(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method, data=json.dumps(body).encode() if body is not None else None)
        request.add_header("Authorization", f"Bearer {self.key}")
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text else None
        except urllib.error.HTTPError as refused:
            return refused.code, json.loads(refused.read())

    def create(self, gpus=1):
        status, pod = self.send("POST", "/v2/pods", {"name": "a", "image": "busybox", "gpu": {"id": "NVIDIA L4", "count": gpus}})
        if status != 201:
            fail(f"createPod: {status} {pod}")
        return pod["id"]

    def pods(self):
        pods, cursor = {}, ""
        while True:
            status, page = self.send("GET", f"/v2/pods?limit=100{cursor}")
            if status != 200:
                fail(f"listPods: {status} {page}")
            pods |= {p["id"]: p["status"] for p in page["pods"]}
            cursor = page.get("pagination", {}).get("nextCursor")
            if not cursor:
                return pods
            cursor = f"&cursor={cursor}"

    def reason(self, pod):
        _, answer = self.send("POST", "/graphql", {"query": '{pod(input:{podId:"%s"}){lastStatusChange}}' % pod})
        return answer["data"]["pod"]["lastStatusChange"]

    def delete(self, pod):
        status, answer = self.send("DELETE", f"/v2/pods/{pod}")
        if status not in (204, 404):
            fail(f"deletePod: {status} {answer}")


def until(what, holds, seconds=300):
    """Waits until it holds, and gives what it gave."""
    for _ in range(seconds * 5):
        result = holds()
        if result:
            return result
        time.sleep(0.2)
    fail(f"{what}: not within {seconds} s")


def free_port():
    """Gives a port that nobody has now, below those that the system gives to who asks for any."""
    while True:
        try:
            with socket.create_server(("127.0.0.1", random.randrange(20000, 32000))) as s:
                return s.getsockname()[1]
        except OSError:
            pass


def counts(pods):
    return {s: list(pods.values()).count(s) for s in set(pods.values())}


def left():
    pods = cluster.send("GET", "/api/v1/namespaces/berth/pods")["items"]
    rest = [kind for kind in ("secrets", "services", "persistentvolumeclaims") for _ in cluster.send("GET", f"/api/v1/namespaces/berth/{kind}")["items"]]
    return [p["metadata"]["name"] for p in pods] + rest


def node_of(pod):
    for p in cluster.send("GET", "/api/v1/namespaces/berth/pods")["items"]:
        if p["metadata"]["name"].startswith(f"berth-{pod}-"):
            return p["metadata"]["name"], p["spec"].get("nodeName")
    return None, None


for i in range(40):
    cluster.node(f"gpu{i:02}", 4, "NVIDIA-L4")

wrong = chart.check(cluster, HELM)
if wrong:
    fail(f"the chart: {wrong}")
print("ok: the chart, applied: its Pods run, with the rights that berth needs and no others")

berth = Berth()
until("the nodes are hosts", lambda: len(berth.send("GET", "/_berth/hosts")[1]["hosts"]) == 40)

began = time.monotonic()
with concurrent.futures.ThreadPoolExecutor(16) as together:
    made = list(together.map(lambda _: berth.create(), range(200)))
until("160 RUNNING and 40 STARTING", lambda: counts(berth.pods()) == {"RUNNING": 160, "STARTING": 40})
waiting = [p for p, s in berth.pods().items() if s == "STARTING"]
for pod in waiting:
    until("the reason of the scheduler", lambda pod=pod: "Insufficient nvidia.com/gpu" in berth.reason(pod))
time.sleep(3)
if counts(berth.pods()) != {"RUNNING": 160, "STARTING": 40}:
    fail(f"it changes: {counts(berth.pods())}")
print(f"ok: 200 creates on 160 GPUs: 160 RUNNING, 40 with the reason of the scheduler, after {time.monotonic() - began:.1f} s")

running = [p for p, s in berth.pods().items() if s == "RUNNING"]
os.kill(int(PID), signal.SIGUSR1)
for pod in running[:5]:
    berth.delete(pod)
until("waiting ones take the room of those that were deleted while the API server was started again",
      lambda: counts(berth.pods()) == {"RUNNING": 160, "STARTING": 35})
print("ok: the API server killed and started again")

victim = next(p for p, s in berth.pods().items() if s == "RUNNING")
name, node = node_of(victim)
cluster.send("DELETE", f"/api/v1/nodes/{node}")
until("the pods of a lost node are ERROR", lambda: berth.pods()[victim] == "ERROR", 400)
if node not in berth.reason(victim):
    fail(f"the reason does not name the node: {berth.reason(victim)}")
print("ok: a node lost:", berth.reason(victim).split(": ", 1)[-1])

victim = next(p for p, s in berth.pods().items() if s == "RUNNING")
name, node = node_of(victim)
cluster.send("POST", f"/api/v1/namespaces/berth/pods/{name}/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}})
until("an evicted pod has ended", lambda: berth.pods()[victim] in ("ERROR", "EXITED"))
print("ok: an eviction:", berth.pods()[victim], berth.reason(victim).split(": ", 1)[-1])

berth.process.kill()
berth.process.wait()
ssh_port = free_port()
berth = Berth("--ssh-listen", f"127.0.0.1:{ssh_port}")
until("a killed berth takes up its pods", lambda: counts(berth.pods()).get("RUNNING", 0) >= 150)
for pod in berth.pods():
    berth.delete(pod)
until("nothing is left in the cluster", lambda: not left())
print("ok: SIGKILL of berth; nothing is left in the cluster after all pods were deleted")

wrong = shells.check(BERTH, berth, cluster, until, ssh_port)
if wrong:
    fail(wrong)
until("nothing is left in the cluster after the shells", lambda: not left())
print("ok: commands, copies and SSH in a Pod, the proxy of its port, and an endpoint that balances load, from no worker to two and back")

more = rules.nodes(berth, cluster)
until("the nodes for the rules are hosts", lambda: len(berth.send("GET", "/_berth/hosts")[1]["hosts"]) == 39 + more)
began = time.monotonic()
if not rules.check(BERTH, berth, cluster, DATA):
    fail("a rule does not hold over the cluster")
until("nothing is left in the cluster after the rules", lambda: not left())
print(f"ok: the rules over the cluster, after {time.monotonic() - began:.1f} s")
berth.process.terminate()
berth.process.wait()

devices.check(Berth, cluster, until, counts, fail)
until("nothing is left in the cluster after the claims", lambda: not left())
