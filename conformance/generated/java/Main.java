import generated.api.PodsApi;
import generated.client.ApiClient;
import generated.model.CreatePodRequest;
import generated.model.GpuConfig;

/** Creates a pod and gets it with the client that openapi-generator generated. */
class Main {
    public static void main(String[] args) throws Exception {
        ApiClient client = new ApiClient();
        client.updateBaseUri(args[0]);
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + args[1]));
        PodsApi pods = new PodsApi(client);
        var made = pods.createPod(new CreatePodRequest().name("a").image("i").gpu(new GpuConfig().id("NVIDIA L4")));
        var got = pods.getPod(made.getId());
        if (!got.getId().equals(made.getId()) || !got.getName().equals("a") || got.getGpu().getCount() != 1) {
            throw new AssertionError(got);
        }
    }
}
