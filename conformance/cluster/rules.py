"""Checks the rules of what runs on a runtime against a berth over the test cluster."""

import json
import subprocess
import threading

AREAS = ["pods", "clusters", "catalog", "volumes", "templates", "serverless", "secrets", "graphql"]

# The rules that cannot hold there, by why.
LEFT_OUT = {
    "Pods have no network of their account": [
        "catalog.datacenters.global-network", "pods.create.global-networking.data-center", "pods.global-networking.dns",
        "pods.global-networking.ip", "pods.global-networking.keep", "pods.patch.global-networking.data-center"],
    "nothing measures GPUs": ["pods.runtime.gpus"],
    "containers that run nothing write nothing": ["pods.logs.order"],
}


def nodes(berth, cluster):
    """Adds what the rules place on: two types of GPU in every data center, and all types in the first. It gives how many there are."""
    def catalog(what):
        status, answer = berth.send("GET", f"/v2/catalog/{what}")
        if status != 200:
            raise SystemExit(f"FAILED: the catalog: {status} {answer}")
        return next(all for all in answer.values() if isinstance(all, list))

    everywhere = {"NVIDIA L4", "NVIDIA GeForce RTX 4090"}
    products = [(center["id"], gpu["id"]) for i, center in enumerate(catalog("datacenters")) for gpu in catalog("gpus") if i == 0 or gpu["id"] in everywhere]
    for i, (center, gpu) in enumerate(products):
        cluster.node(f"rules{i:03}", 64, gpu.replace(" ", "-"), center, 512, "4096Gi", "50000Gi", f"10.9.0.{i + 1}")
    return len(products)


def measure(cluster, over):
    """Measures Pods as the metrics server does, until it is over: each uses a part of a processor."""
    known = set()
    while not over.wait(0.5):
        for pod in cluster.send("GET", "/api/v1/namespaces/berth/pods")["items"]:
            name = pod["metadata"]["name"]
            if name in known:
                continue
            known.add(name)
            cluster.send("POST", "/apis/metrics.k8s.io/v1beta1/namespaces/berth/pods", {
                "apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics", "metadata": {"name": name}, "window": "15s",
                "timestamp": pod["metadata"]["creationTimestamp"],
                "containers": [{"name": c["name"], "usage": {"cpu": "250m", "memory": "64Mi"}} for c in pod["spec"]["containers"]],
            })


def check(program, berth, cluster, data):
    """Runs the rules, prints the totals of each area, and gives whether all that were run hold."""
    made = subprocess.run([program, "keys", "create", "--exempt", "--json", "--data", data], check=True, capture_output=True, text=True)
    cluster.metrics()
    over = threading.Event()
    measuring = threading.Thread(target=measure, args=(cluster, over))
    measuring.start()
    try:
        result = subprocess.run(
            [program, "conformance", "--target", berth.url, "--key", berth.key, "--exempt-key", json.loads(made.stdout)["key"],
             "--patience", "5m", "--area", ",".join(AREAS), "--skip", ",".join(sum(LEFT_OUT.values(), []))], capture_output=True, text=True)
    finally:
        over.set()
        measuring.join()

    for why, rules in LEFT_OUT.items():
        print(f"left out, since {why}: {', '.join(rules)}")
    lines = result.stdout.splitlines()
    if result.returncode != 0:
        print("\n".join(l for l in lines if not l.startswith(("PASS", "SKIPPED"))), result.stderr)
        return False

    totals = [l for l in lines if l.endswith(" skipped")]
    print("\n".join(totals))
    passed = sum(int(l.split()[1]) for l in totals)
    print(f"{passed} rules hold")
    return passed > 400  # else most were skipped
