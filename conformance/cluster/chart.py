"""Applies the chart to the test cluster as helm does, and looks whether berth's Pods run and have the rights that they need, and no others."""

import pathlib
import re
import subprocess
import time
import urllib.error

from objects import EVERYWHERE, rights

CHART = pathlib.Path(__file__).parents[2] / "deploy/helm/berth"
RELEASES = {
    "one": [],
    "workloads": ["--set", "kubernetes.enabled=true", "--set", "kubernetes.namespace=pods", "--set", "kubernetes.gpuClass=gpu.nvidia.com"],
    "several": ["--set", "replicas=3", "--set", "store.existingSecret=store", "--set", "metrics.enabled=true",
                "--set", "ingress.enabled=true", "--set", "ingress.host=pods.example.com"],
    "secured": ["--set", "kubernetes.enabled=true", "--set", "tls.existingSecret=cert", "--set", "ingress.enabled=true", "--set", "ingress.host=pods.example.com",
                "--set", "backup.to=s3://backups/berth", "--set", "backup.existingSecret=s3"],
}


def render(helm, release, values):
    text = subprocess.run([helm, "template", release, CHART, "--namespace", release, "--kube-version", "1.36.0", *values], check=True, capture_output=True, text=True).stdout
    return [document for document in re.split(r"^---$", text, flags=re.M) if re.search(r"^kind:", document, re.M)]


def apply(cluster, release, document):
    def member(name):
        found = re.search(rf"^{name}: (\S+)", document, re.M)
        return found and found[1]

    kind, version = member("kind"), member("apiVersion")
    plural = {"Ingress": "ingresses"}.get(kind, kind.lower() + "s")
    base = f"/apis/{version}" if "/" in version else f"/api/{version}"
    if not kind.startswith("Cluster"):
        base += f"/namespaces/{member('  namespace') or release}"
    cluster.send("PATCH", f"{base}/{plural}/{member('  name')}?fieldManager=helm", document.encode(), "application/apply-patch+yaml")
    return kind


def may(cluster, user, verb, group, resource, namespace):
    name, _, part = resource.partition("/")
    asked = {"verb": verb, "group": group, "resource": name, "subresource": part, "namespace": namespace}
    review = {"spec": {"user": user, "groups": ["system:serviceaccounts"], "resourceAttributes": asked}}
    return cluster.send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"]


def namespace(cluster, name):
    cluster.send("POST", "/api/v1/namespaces", {"metadata": {"name": name}})


def check(cluster, helm):
    """Gives what is wrong; None: nothing."""
    namespace(cluster, "pods")
    for release, values in RELEASES.items():
        namespace(cluster, release)
        secret = {"metadata": {"name": "store"}, "stringData": {"url": "postgres://berth@postgres/berth"}}
        cluster.send("POST", f"/api/v1/namespaces/{release}/secrets", secret)
        kinds = []
        for document in render(helm, release, values):
            try:
                kinds.append(apply(cluster, release, document))
            except urllib.error.HTTPError as refused:
                return f"the API server refuses {document}: {refused.read().decode()}"
        if "Deployment" not in kinds:
            return f"release {release} has {kinds}, and no Deployment"

        want, up = 3 if release == "several" else 1, 0
        for _ in range(1500):
            pods = cluster.send("GET", f"/api/v1/namespaces/{release}/pods")["items"]
            up = sum(p["status"].get("phase") == "Running" for p in pods)
            if up == want:
                break
            time.sleep(0.2)
        if up != want:
            return f"{up} Pods of release {release} run, and not {want}: {pods and pods[0]['status']}"

    account = cluster.send("GET", "/api/v1/namespaces/workloads/pods")["items"][0]["spec"]["serviceAccountName"]
    user = f"system:serviceaccount:workloads:{account}"
    for group, resource, verbs in rights():
        for verb in verbs:
            if not may(cluster, user, verb, group, resource, "" if resource in EVERYWHERE else "pods"):
                return f"berth may not {verb} {resource}"
    for verb, group, resource, where in [("list", "", "secrets", "kube-system"), ("delete", "", "nodes", ""), ("create", "apps", "deployments", "pods"),
                                         ("create", "", "pods", "workloads")]:
        if may(cluster, user, verb, group, resource, where):
            return f"berth may {verb} {resource} in {where or 'the cluster'}"
    return None
