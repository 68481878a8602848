// Creates a pod and gets it with the types that openapi-typescript generated.
import assert from "node:assert";
import createClient from "openapi-fetch";
import type { paths as queue } from "./queue.js";
import type { paths as rest } from "./rest.js";

const [, , url, key, endpoint] = process.argv as string[];
const settings = { baseUrl: url!, headers: { Authorization: `Bearer ${key}` } };
const client = createClient<rest>(settings);

const made = await client.POST("/v2/pods", { body: { name: "a", image: "i", gpu: { id: "NVIDIA L4", count: 1 } } });
assert(made.data, JSON.stringify(made.error));
const got = await client.GET("/v2/pods/{id}", { params: { path: { id: made.data.id } } });
assert.deepEqual([got.data?.id, got.data?.name, got.data?.gpu?.count], [made.data.id, "a", 1]);

const run = await createClient<queue>(settings).POST("/v2/{endpointId}/run", { params: { path: { endpointId: endpoint! } }, body: { input: { text: "a" } } });
assert.equal(run.data?.status, "IN_QUEUE");
