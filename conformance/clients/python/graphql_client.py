"""The unmodified control functions of the SDK, which speak GraphQL: user, GPU types, pods, templates, endpoints, logins.

usage: graphql_client.py URL KEY. URL is the base of the server: the SDK adds /graphql.
"""

import os
import sys
import time

import runpod
from runpod.api.graphql import run_graphql_query
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
    for _ in range(1200):
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

login = runpod.create_container_registry_auth("mine", "me", "secret")
assert login["name"] == "mine", login
assert runpod.update_container_registry_auth(login["id"], "you", "secret") == login

template = runpod.create_template(
    "pods", "ubuntu:24.04", docker_start_cmd='sh -c "sleep infinity"', container_disk_in_gb=15, volume_in_gb=20, volume_mount_path="/data",
    ports="22/tcp, 80/http", env={"A": "1"}, registry_auth_id=login["id"],
)
assert (template["dockerArgs"], template["ports"], template["volumeInGb"]) == ('sh -c "sleep infinity"', "22/tcp,80/http", 20), template
assert template["env"] == [{"key": "A", "value": "1"}] and not template["isServerless"], template
refused(QueryError, "pods", runpod.create_template, "pods", "ubuntu:24.04")
named = runpod.create_pod("from a template", "", GPU, template_id=template["id"], volume_mount_path="")
pod = runpod.get_pod(named["id"])
assert (pod["imageName"], pod["env"][0], pod["volumeInGb"], pod["volumeMountPath"]) == ("ubuntu:24.04", "A=1", 20, "/data"), pod
refused(QueryError, "nosuch", runpod.create_pod, "a", "", GPU, template_id="nosuch")
refused(QueryError, named["id"], runpod.delete_container_registry_auth, login["id"])
runpod.terminate_pod(named["id"])
runpod.delete_container_registry_auth(login["id"])
refused(QueryError, login["id"], runpod.delete_container_registry_auth, login["id"])

volume = run_graphql_query('mutation{createNetworkVolume(input:{name:"mine",size:20,dataCenterId:"US-KS-2"}){id}}')["data"]["createNetworkVolume"]
mine = [v for v in runpod.get_user()["networkVolumes"] if v["id"] == volume["id"]]
assert mine == [{"id": volume["id"], "name": "mine", "size": 20, "dataCenterId": "US-KS-2"}], mine
mounted = runpod.create_pod("mounted", "ubuntu:24.04", GPU, network_volume_id=volume["id"])
refused(QueryError, mounted["id"], run_graphql_query, 'mutation{deleteNetworkVolume(input:{id:"%s"})}' % volume["id"])
runpod.terminate_pod(mounted["id"])

served = runpod.create_template("workers", "worker:1", is_serverless=True, env={"A": "1"})
other = runpod.create_template("other workers", "worker:2", is_serverless=True)
endpoint = runpod.create_endpoint(
    "mine", served["id"], gpu_ids="ADA_24,AMPERE_16", network_volume_id=volume["id"], workers_max=2, idle_timeout=7, scaler_value=3, gpu_count=1,
)
assert (endpoint["gpuIds"], endpoint["workersMax"], endpoint["idleTimeout"], endpoint["scalerValue"]) == ("ADA_24,AMPERE_16", 2, 7, 3), endpoint
shown = next(e for e in runpod.get_endpoints() if e["id"] == endpoint["id"])
assert shown["networkVolume"] == {"id": volume["id"], "dataCenterId": "US-KS-2"} and shown["type"] == "QB", shown
assert shown["env"] == [{"key": "A", "value": "1"}] and shown["createdAt"], shown
assert runpod.update_endpoint_template(endpoint["id"], other["id"]) == {"id": endpoint["id"], "templateId": other["id"]}
refused(QueryError, "nosuch", runpod.create_endpoint, "a", "nosuch")
refused(QueryError, endpoint["id"], run_graphql_query, 'mutation{deleteTemplate(templateName:"other workers")}')
run_graphql_query('mutation{deleteEndpoint(id:"%s")}' % endpoint["id"])
assert endpoint["id"] not in {e["id"] for e in runpod.get_endpoints()}
for name in ("pods", "workers", "other workers"):
    run_graphql_query('mutation{deleteTemplate(templateName:"%s")}' % name)
run_graphql_query('mutation{deleteNetworkVolume(input:{id:"%s"})}' % volume["id"])
assert runpod.get_user()["networkVolumes"] == []

runpod.update_user_settings("")
runpod.api_key = "brt_wrong"
refused(AuthenticationError, "Unauthorized", runpod.get_pods)
print("ok: python control functions over GraphQL", runpod.__version__)
