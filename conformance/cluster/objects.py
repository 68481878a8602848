"""Makes and looks at objects of the test cluster: objects.py SERVER COMMAND …"""

import json
import pathlib
import re
import ssl
import sys
import time
import urllib.error
import urllib.request


EVERYWHERE = ("nodes", "resourceslices")  # what berth reads of the whole cluster


def rights():
    """The rights that the chart gives, where a class of devices is set: groups, resources and verbs."""
    chart = pathlib.Path(__file__).parents[2] / "deploy/helm/berth/templates/rights.yaml"
    for groups, resources, verbs in re.findall(r"\{apiGroups: \[(.*?)\], resources: \[(.*?)\], verbs: \[(.*?)\]\}", chart.read_text()):
        yield groups.strip('"'), resources, verbs.split(", ")


class Cluster:
    def __init__(self, server):
        self.server = server
        self.context = ssl._create_unverified_context()

    def send(self, method, path, body=None, kind="application/json"):
        request = urllib.request.Request(self.server + path, method=method, data=body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode())
        request.add_header("Authorization", "Bearer admin-token")
        request.add_header("Content-Type", kind)
        with urllib.request.urlopen(request, context=self.context, timeout=30) as answer:
            return json.load(answer)

    def node(self, name, gpus=0, product="", zone="EU-RO-1", cpus=32, memory="256Gi", disk="2000Gi", address=""):
        labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, "nvidia.com/cuda.runtime-version.full": "12.8"}
        has = {"cpu": str(cpus), "memory": memory, "ephemeral-storage": disk, "pods": "250"}
        if gpus:
            labels["nvidia.com/gpu.product"] = product
            has["nvidia.com/gpu"] = str(gpus)
        status = {"allocatable": has, "capacity": has}
        if address:
            status["addresses"] = [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}]
        self.send("POST", "/api/v1/nodes", {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels, "annotations": {"kwok.x-k8s.io/node": "fake"}},
            "status": status,
        })

    def metrics(self):
        """Serves what a metrics server does, but for who measures."""
        group, names = "metrics.k8s.io", {"plural": "pods", "singular": "pod", "kind": "PodMetrics", "listKind": "PodMetricsList"}
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        self.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
            "metadata": {"name": f"pods.{group}", "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"}},
            "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [{"name": "v1beta1", "served": True, "storage": True, "schema": schema}]},
        })
        for _ in range(600):
            try:
                return self.send("GET", f"/apis/{group}/v1beta1/namespaces/berth/pods")
            except urllib.error.HTTPError:
                time.sleep(0.2)
        raise SystemExit("FAILED: the cluster serves no metrics")

    def prepare(self):
        """The namespace of berth, and its rights: those that the chart gives."""
        self.send("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "berth"}})
        group, base = "rbac.authorization.k8s.io", "/apis/rbac.authorization.k8s.io/v1"
        rules = [{"apiGroups": [g], "resources": [r], "verbs": v} for g, r, v in rights() if r not in EVERYWHERE]
        self.send("POST", f"{base}/namespaces/berth/roles", {"metadata": {"name": "berth"}, "rules": rules})
        rules = [{"apiGroups": [g], "resources": [r], "verbs": v} for g, r, v in rights() if r in EVERYWHERE]
        self.send("POST", f"{base}/clusterroles", {"metadata": {"name": "berth"}, "rules": rules})
        user = [{"kind": "User", "name": "berth", "apiGroup": group}]
        for path, kind in ((f"{base}/namespaces/berth/rolebindings", "Role"), (f"{base}/clusterrolebindings", "ClusterRole")):
            self.send("POST", path, {"metadata": {"name": "berth"}, "roleRef": {"apiGroup": group, "kind": kind, "name": "berth"}, "subjects": user})
        self.send("POST", "/apis/storage.k8s.io/v1/storageclasses", {
            "metadata": {"name": "kwok-volume", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
            "provisioner": "kwok.x-k8s.io/volume", "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate",
        })


if __name__ == "__main__":
    cluster = Cluster(sys.argv[1])
    getattr(cluster, sys.argv[2])(*sys.argv[3:])
