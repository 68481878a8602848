"""Creates a pod and gets it with the client that openapi-python-client generated."""

import sys

from generated_rest import AuthenticatedClient
from generated_rest.api.pods import create_pod, get_pod
from generated_rest.models import CreatePodRequest, GpuConfig, Pod

with AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2]) as client:
    made = create_pod.sync(client=client, body=CreatePodRequest(name="a", image="i", gpu=GpuConfig(id="NVIDIA L4")))
    assert isinstance(made, Pod), made
    got = get_pod.sync(made.id, client=client)
    assert isinstance(got, Pod) and (got.id, got.name, got.gpu.count) == (made.id, "a", 1), got
