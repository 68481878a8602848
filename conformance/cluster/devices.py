"""Holds a berth that claims GPUs by dynamic resource allocation to what it promises: the scheduler is the real one, the ResourceSlices are
made by hand."""

import time

CLASS = DRIVER = "gpu.nvidia.com"
API = "/apis/resource.k8s.io/v1"


def offer(cluster, nodes=4, each=4):
    """Adds the class of GPUs as NVIDIA's driver has it, and nodes with devices: whole ones, and a part of one that is none of the class."""
    whole = f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].type == "gpu"'
    cluster.send("POST", f"{API}/deviceclasses", {"metadata": {"name": CLASS}, "spec": {"selectors": [{"cel": {"expression": whole}}]}})
    for i in range(nodes):
        name = f"device{i}"
        cluster.node(name)

        def device(k, kind, name=name):
            return {"name": f"{kind}-{k}", "attributes": {
                "uuid": {"string": f"GPU-{name}-{kind}-{k}"}, "productName": {"string": "NVIDIA L4"}, "type": {"string": kind},
                "cudaDriverVersion": {"version": "12.8.0"}}}

        cluster.send("POST", f"{API}/resourceslices", {"metadata": {"name": name}, "spec": {
            "driver": DRIVER, "nodeName": name, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": [device(k, "gpu") for k in range(each)] + [device(0, "mig")]}})


def claims(cluster):
    return cluster.send("GET", f"{API}/namespaces/berth/resourceclaims")["items"]


def given(cluster):
    """The devices that claims have."""
    allocated = [c["status"]["allocation"] for c in claims(cluster) if c.get("status", {}).get("allocation")]
    return [(r["pool"], r["device"]) for a in allocated for r in a["devices"]["results"]]


def finish(cluster, pod):
    """Gives the Pod of a pod, once it is deleted, the phase that a kubelet gives it, and kwok does not: it holds its devices until then."""
    for p in cluster.send("GET", "/api/v1/namespaces/berth/pods")["items"]:
        name = p["metadata"]["name"]
        if name.startswith(f"berth-{pod}-") and p["metadata"].get("deletionTimestamp"):
            cluster.send("PATCH", f"/api/v1/namespaces/berth/pods/{name}/status", {"status": {"phase": "Succeeded"}}, "application/merge-patch+json")
            return True
    return False


def check(start, cluster, until, counts, fail):
    """start gives a berth with settings; the rest are those of check.py."""
    offer(cluster)
    berth = start("--kube-gpu-class", CLASS)
    host = until("the devices are those of hosts", lambda: next((h for h in berth.send("GET", "/_berth/hosts")[1]["hosts"] if h["id"] == "device0"), None))
    if (host.get("gpu"), host.get("gpuCount")) != ("NVIDIA L4", 4):
        fail(f"the host has not the devices of its node: {host}")

    began = time.monotonic()
    made = [berth.create() for _ in range(20)]
    berth.process.kill()  # while it starts them
    berth.process.wait()
    berth = start("--kube-gpu-class", CLASS)
    until("16 RUNNING and 4 STARTING on 16 devices", lambda: counts(berth.pods()) == {"RUNNING": 16, "STARTING": 4})
    for pod in [p for p, s in berth.pods().items() if s == "STARTING"]:
        until("the reason of the scheduler", lambda pod=pod: "cannot allocate all claims" in berth.reason(pod))
    devices = given(cluster)
    if len(devices) != 16 or len(set(devices)) != 16 or any(not device.startswith("gpu-") for _, device in devices):
        fail(f"not each device is given once: {devices}")
    print(f"ok: 20 creates on 16 devices, and berth killed: 16 RUNNING, 4 with the reason of the scheduler, after {time.monotonic() - began:.1f} s")

    running = [p for p, s in berth.pods().items() if s == "RUNNING"]
    berth.delete(running[0])
    status, answer = berth.send("POST", f"/v2/pods/{running[1]}/action", {"action": "stop"})
    if status != 200:
        fail(f"stop: {status} {answer}")
    until("its Pod is deleted", lambda: finish(cluster, running[1]))
    until("waiting ones take the devices", lambda: counts(berth.pods()) == {"RUNNING": 16, "STARTING": 2, "EXITED": 1})
    berth.delete(running[2])
    berth.send("POST", f"/v2/pods/{running[1]}/action", {"action": "start"})
    until("the stopped one is started again, with the others", lambda: counts(berth.pods()) == {"RUNNING": 16, "STARTING": 2})
    for pod in made:
        berth.delete(pod)
    until("no claim is left", lambda: not claims(cluster))
    print("ok: devices go to those that wait, and no claim is left")
    berth.process.terminate()
    berth.process.wait()
