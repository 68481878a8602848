"""dstack's client, unmodified, which knows the public name of the API alone: pods with placement filters, clusters, logins, volumes.

usage: dstack_client.py KEY. api.runpod.io must lead to a server that serves the public edition.
"""

import sys
import time

from dstack._internal.core.backends.runpod.api_client import RunpodApiClient, RunpodV2ClientError
from dstack.version import __version__

GPU = "NVIDIA GeForce RTX 4090"
api = RunpodApiClient(sys.argv[1])
assert api.validate_api_key()
assert not RunpodApiClient("no such key").validate_api_key()
shell = {"entrypoint": ["/bin/sh"], "cmd": ["-c", "sleep infinity"]}


def running(pod_id):
    for _ in range(1200):
        pod = api.get_pod(pod_id)
        if pod["status"] == "RUNNING":
            return pod
        time.sleep(0.1)
    raise AssertionError(f"{pod_id} is {pod['status']} and did not come up")


login = api.create_container_registry_credentials(name="mine", username="me", password="secret")
assert api.list_container_registry_credentials() == [{"id": login["id"], "name": "mine"}]
volume = api.create_network_volume(name="shelf", data_center_id="EU-RO-1", size=10)
assert api.get_network_volume(volume["id"])["size"] == 10

pod = api.create_pod(
    name="gpu", cloud="SECURE", data_center_ids=["EU-RO-1"], gpu_type_id=GPU, gpu_count=2, min_cpu_count_per_gpu=2,
    min_memory_in_gb_per_gpu=8, container_disk_in_gb=20, network_volume_id=volume["id"], volume_mount_path="/shelf",
    image_name="ubuntu:24.04", container_registry_credentials_id=login["id"], ports=["22/tcp"], env={"A": "1"}, **shell,
)
up = running(pod["id"])
assert up["entrypoint"] == shell["entrypoint"] and up["cmd"] == shell["cmd"], up
assert up["mounts"]["network"] == [{"volumeId": volume["id"], "path": "/shelf"}], up
assert [port["private"] for port in up["runtime"]["ports"]] == [22] and up["runtime"]["ports"][0]["public"], up
cpu = api.create_pod(
    name="cpu", cloud="SECURE", cpu_type_id="cpu3g", cpu_count=2, container_disk_in_gb=10, image_name="ubuntu:24.04", **shell,
)
running(cpu["id"])
spot = api.create_gpu_pod_graphql(name="spot", image_name="ubuntu:24.04", gpu_type_id=GPU, cloud_type="SECURE", bid_per_gpu=0.5)
assert spot["id"] and spot["machine"]["podHostId"], spot

cluster = api.create_cluster(
    name="two", cluster_type="TRAINING", gpu_type_id="NVIDIA H100 80GB HBM3", gpu_count_per_pod=8, pod_count=2,
    container_disk_in_gb=20, image_name="ubuntu:24.04", ports=["22/tcp"], env={"A": "1"}, **shell,
)
members = api.list_cluster_pods(cluster["id"])
assert sorted(member["cluster"]["rank"] for member in members) == [0, 1], members
assert {member["cluster"]["id"] for member in members} == {cluster["id"]}
assert api.delete_cluster(cluster["id"]) and not api.delete_cluster(cluster["id"])

for made in (pod, cpu, spot):
    assert api.terminate_pod(made["id"]) and api.get_pod(made["id"]) is None
    assert not api.terminate_pod(made["id"])
assert api.delete_network_volume(volume["id"]) and not api.delete_network_volume(volume["id"])
api.delete_container_registry_credentials(login["id"])
try:
    api.create_network_volume(name="big", data_center_id="EU-RO-1", size=5000)
except RunpodV2ClientError as error:
    assert error.status == 422 and "size" in str(error), error
else:
    raise AssertionError("a volume of 5000 GB was not refused")
print("ok: the client of dstack", __version__)
