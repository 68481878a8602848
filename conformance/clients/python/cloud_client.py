"""The unmodified control functions of the SDK 2, which speak REST v2 and some GraphQL: user, catalog, pods with every option,
templates, endpoints, logins, secrets and volumes.

usage: cloud_client.py URL KEY. URL is the base of the server, which serves the public edition.
"""

import asyncio
import os
import sys
import time

import runpod
from runpod.apps.api import AppsApiClient
from runpod.error import AuthenticationError, QueryError

os.environ["RUNPOD_API_BASE_URL"], runpod.api_key = sys.argv[1:3]
GPU = "NVIDIA GeForce RTX 4090"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHMAhJoqovDFGApqEiFxFTRKy0T4h3gKxFl8q+j4IuRs"


def refused(kind, words, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"{call.__name__}{args} was not refused")


def reaches(pod_id, status):
    for _ in range(1200):
        pod = runpod.get_pod(pod_id)
        if pod["status"] == status:
            return pod
        time.sleep(0.1)
    raise AssertionError(f"{pod_id} is {pod['status']} and did not become {status}")


assert runpod.update_user_settings(f"{KEY} a\n\n{KEY} b")["pubKey"] == f"{KEY} a\n\n{KEY} b"
assert runpod.get_user()["pubKey"].startswith("ssh-ed25519")
assert GPU in {gpu["id"] for gpu in runpod.get_gpus()}
assert runpod.get_gpu(GPU, 2)["availability"] == "HIGH"
refused(ValueError, "No GPU found", runpod.get_gpu, "no such GPU")

base = runpod.create_template("base", "ubuntu:24.04", "sleep infinity", ports="22/tcp", env={"A": "1", "B": "1"}, volume_in_gb=10)
handler = runpod.create_template("handler", "ubuntu:24.04", "python handler.py", is_serverless=True)

plain = runpod.create_pod("plain", "ubuntu:24.04", GPU)
assert plain["disk"] == 10 and plain["env"]["PUBLIC_KEY"].startswith("ssh-ed25519"), plain
silent = runpod.create_pod("silent", "ubuntu:24.04", GPU, start_ssh=False)
assert "PUBLIC_KEY" not in silent["env"], silent
choosy = runpod.create_pod(
    "choosy", "ubuntu:24.04", GPU, gpu_count=2, volume_in_gb=20, volume_mount_path="/data", ports="8888/http, 22/tcp", env={"A": 1},
    docker_args="sleep infinity", allowed_cuda_versions=["12.8"], min_vcpu_count=2, min_memory_in_gb=8,
    container_disk_in_gb=30, cloud_type="SECURE",
)
assert choosy["cudaVersion"] == "12.8" and choosy["gpu"]["count"] == 2 and choosy["gpu"]["vcpuCount"] >= 4, choosy
assert choosy["gpu"]["memory"] >= 16 and choosy["cmd"] == ["sleep", "infinity"], choosy
assert choosy["mounts"]["persistent"] == {"path": "/data", "size": 20} and choosy["ports"] == ["8888/http", "22/tcp"], choosy
copied = runpod.create_pod("copied", None, GPU, template_id=base["id"], env={"B": "2"}, volume_mount_path="/elsewhere")
assert copied["image"] == "ubuntu:24.04" and copied["env"]["A"] == "1" and copied["env"]["B"] == "2", copied
assert copied["mounts"]["persistent"] == {"path": "/elsewhere", "size": 10} and copied["ports"] == ["22/tcp"], copied
small = runpod.create_pod("small", "ubuntu:24.04", instance_id="cpu3g-2-8", data_center_id="EU-RO-1")
assert small["cpu"] == {"id": "cpu3g", "vcpuCount": 2, "memory": 8} and small["dataCenterId"] == "EU-RO-1", small
refused(QueryError, "CUDA", runpod.create_pod, "none", "ubuntu:24.04", GPU, allowed_cuda_versions=["99.9"])
refused(QueryError, "", runpod.create_pod, "none", None, GPU, template_id="nosuchtemplate")

running = reaches(choosy["id"], "RUNNING")
assert running["ssh"] and {port["private"] for port in running["runtime"]["ports"]} == {8888, 22}, running
assert runpod.stop_pod(choosy["id"])["status"] == "EXITED"
assert runpod.resume_pod(choosy["id"])["status"] in {"PROVISIONING", "STARTING"}
reaches(choosy["id"], "RUNNING")
made = {pod["id"] for pod in (plain, silent, choosy, copied, small)}
assert made <= {pod["id"] for pod in runpod.get_pods()}
for pod_id in made:
    runpod.terminate_pod(pod_id)
    assert runpod.get_pod(pod_id) is None

endpoint = runpod.create_endpoint(
    "checks", handler["id"], gpu_ids=f"AMPERE_16,ADA_24,-{GPU}", workers_max=1, flashboot=True, locations="EU-RO-1",
    allowed_cuda_versions="12.8,12.9",
)
assert endpoint["gpu"]["excludedTypes"] == [GPU] and endpoint["gpu"]["allowedCudaVersions"] == ["12.8", "12.9"], endpoint
counted = runpod.create_endpoint("counted", handler["id"], scaler_type="REQUEST_COUNT", scaler_value=2, workers_max=1)
assert counted["scaling"] == {"type": "REQUEST_COUNT", "requestCount": 2}, counted
assert {endpoint["id"], counted["id"]} <= {e["id"] for e in runpod.get_endpoints()}
assert runpod.update_endpoint_template(endpoint["id"], handler["id"])["id"] == endpoint["id"]
refused(QueryError, "", runpod.update_endpoint_template, endpoint["id"], base["id"])

login = runpod.create_container_registry_auth("mine", "me", "secret")
assert runpod.update_container_registry_auth(login["id"], "you", "secret") == login
assert runpod.delete_container_registry_auth(login["id"])


async def apps():
    api = AppsApiClient()
    for made_endpoint in (endpoint, counted):
        assert await api.delete_endpoint(made_endpoint["id"])

    secret = await api.create_secret("token", "hidden", "of the checks")
    assert secret["name"] == "token", secret
    [listed] = await api.list_secrets()
    assert listed["id"] == secret["id"] and listed["description"] == "of the checks" and "value" not in listed, listed
    await api.delete_secret(secret["id"])
    assert await api.list_secrets() == []

    center = sorted(await api.network_volume_datacenters())[0]
    volume = await api.create_network_volume("shelf", 10, center)
    assert [v["id"] for v in await api.list_network_volumes()] == [volume["id"]]
    everywhere = await api.create_global_volume("everywhere")
    assert [v["id"] for v in await api.list_global_volumes()] == [everywhere["id"]]

    assert await api.gpu_stock_status(GPU, "EU-RO-1", pods=True) == "HIGH"
    assert await api.cpu_stock_status("cpu3c-1-2", "EU-RO-1", pods=True)
    assert await api.cpu_stock_status("cpu3g-2-8", "EU-RO-1")
    assert [c["name"] for c in await api.list_registry_auths()] == []


asyncio.run(apps())
runpod.api_key = "no such key"
refused(AuthenticationError, "Unauthorized", runpod.get_pods)
print("ok: control functions of the SDK", runpod.__version__)
