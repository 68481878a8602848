"""The unmodified control functions of the SDK, which speak GraphQL: user, GPU types, pods.

usage: graphql_client.py URL KEY. URL is the base of the server: the SDK adds /graphql.
"""

import os
import sys
import time

import runpod
from runpod.error import AuthenticationError, QueryError

os.environ["RUNPOD_API_BASE_URL"], runpod.api_key = sys.argv[1:3]
GPU = "NVIDIA GeForce RTX 4090"


def refused(kind, words, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"{call.__name__}{args} was not refused")


def pod_with_runtime(pod_id):
    for _ in range(300):
        pod = runpod.get_pod(pod_id)
        if pod["runtime"]:
            return pod
        time.sleep(0.1)
    raise AssertionError(f"{pod_id} did not come up")


gpus = runpod.get_gpus()
assert {"id", "displayName", "memoryInGb"} == set(gpus[0]), gpus[0]
gpu = runpod.get_gpu(GPU, 2)
assert gpu["displayName"] == "RTX 4090" and gpu["memoryInGb"] == 24 and gpu["manufacturer"], gpu
assert gpu["lowestPrice"]["uninterruptablePrice"] == 2 * min(gpu["securePrice"], gpu["communityPrice"]), gpu
refused(ValueError, "No GPU found", runpod.get_gpu, "no such GPU")

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHMAhJoqovDFGApqEiFxFTRKy0T4h3gKxFl8q+j4IuRs"
assert runpod.update_user_settings(f"{KEY} a\n\n{KEY} b")["pubKey"] == f"{KEY} a\n\n{KEY} b"
user = runpod.get_user()
assert user["id"] and user["pubKey"].startswith("ssh-ed25519") and user["networkVolumes"] == [], user

made = runpod.create_pod(
    "mine", "ubuntu:24.04", GPU, gpu_count=2, volume_in_gb=20, ports="8888/http, 22/tcp", env={"A": "1"},
    docker_args="sleep infinity", allowed_cuda_versions=["12.8"], min_vcpu_count=2, min_memory_in_gb=8,
)
assert made["machine"]["podHostId"].startswith(made["id"]) and "A=1" in made["env"], made
assert any(entry.startswith("PUBLIC_KEY=ssh-ed25519") for entry in made["env"]), made
pod = pod_with_runtime(made["id"])
assert pod["desiredStatus"] == "RUNNING" and pod["gpuCount"] == 2 and pod["costPerHr"] > 0, pod
assert [port["privatePort"] for port in pod["runtime"]["ports"]] == [8888, 22], pod
assert isinstance(pod["volumeInGb"], int) and isinstance(pod["memoryInGb"], int), pod

small = runpod.create_pod("small", "ubuntu:24.04", instance_id="cpu3g-2-8")
least = runpod.create_pod("least", "ubuntu:24.04")
assert runpod.get_pod(small["id"])["memoryInGb"] == 8
assert {made["id"], small["id"], least["id"]} <= {p["id"] for p in runpod.get_pods()}

assert runpod.stop_pod(made["id"])["desiredStatus"] == "EXITED"
stopped = runpod.get_pod(made["id"])
assert stopped["runtime"] is None and stopped["costPerHr"] == 0, stopped
refused(QueryError, "EXITED", runpod.stop_pod, made["id"])
assert runpod.resume_pod(made["id"], 2)["desiredStatus"] == "RUNNING"
pod_with_runtime(made["id"])

for made_id in (made["id"], small["id"], least["id"]):
    runpod.terminate_pod(made_id)
    assert runpod.get_pod(made_id) is None
refused(QueryError, "pod not found to terminate", runpod.terminate_pod, made["id"])
refused(QueryError, "no longer any instances available", runpod.create_pod, "big", "i", GPU, min_memory_in_gb=100_000)

runpod.update_user_settings("")
runpod.api_key = "brt_wrong"
refused(AuthenticationError, "Unauthorized", runpod.get_pods)
print("ok: python control functions over GraphQL", runpod.__version__)
