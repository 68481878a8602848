// Generated from spec/rest.yaml by types.mjs.
export interface paths {
    "/v2/pods": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List pods
         * @description The pods of the caller that are not terminated, newest first. The members of clusters are left out of a page after it is cut: it may have fewer pods than limit, or none, while others follow.
         */
        get: operations["listPods"];
        put?: never;
        /**
         * Create a pod
         * @description Answers before the pod runs; read its status with getPod.
         */
        post: operations["createPod"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/pods/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The pod's id.
                 * @example k3x9q2m7w1ab5c
                 */
                id: string;
            };
            cookie?: never;
        };
        /**
         * Read a pod
         * @description A pod that was terminated is not found, nor is somebody else's.
         */
        get: operations["getPod"];
        put?: never;
        post?: never;
        /**
         * Terminate and delete a pod
         * @description The pod and its container disk are gone; it is 404 afterwards.
         */
        delete: operations["deletePod"];
        options?: never;
        head?: never;
        /**
         * Change a pod
         * @description Only the members that are present change. A running pod is restarted when its image, args, env, ports or disk change; globalNetworking takes effect at the next start.
         */
        patch: operations["updatePod"];
        trace?: never;
    };
    "/v2/pods/{id}/action": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The pod's id.
                 * @example k3x9q2m7w1ab5c
                 */
                id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start, stop, restart or terminate a pod
         * @description A pod's actions member lists what its status allows.
         */
        post: operations["podAction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/pods/{id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The pod's id.
                 * @example k3x9q2m7w1ab5c
                 */
                id: string;
            };
            cookie?: never;
        };
        /**
         * Follow the logs of a pod
         * @description Server-sent events, each with a line as JSON, `{"source": "container", "line": "ready", "ts": "2026-01-31T12:00:00.000000001Z"}`, and its ts as the event's id. It begins with the lines that the parameters ask for, goes on with those that are written from then on, and ends when there will be none any more or when the server shuts down: a client that connects again sends the last id and misses nothing. Comments come in between while nothing is written.
         */
        get: operations["getPodLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/catalog/gpus": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the GPU types
         * @description How many are free now only with include=AVAILABILITY; the parameters but include say what availability is asked for.
         */
        get: operations["listGpuTypes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/catalog/gpus/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The GPU type's id.
                 * @example NVIDIA L4
                 */
                id: string;
            };
            cookie?: never;
        };
        /**
         * Read a GPU type
         * @description As a row of listGpuTypes.
         */
        get: operations["getGpuType"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/catalog/cpus": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the CPU flavors
         * @description As listGpuTypes.
         */
        get: operations["listCpuTypes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/catalog/cpus/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The flavor's id.
                 * @example cpu3g
                 */
                id: string;
            };
            cookie?: never;
        };
        /**
         * Read a CPU flavor
         * @description As a row of listCpuTypes.
         */
        get: operations["getCpuType"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/catalog/datacenters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the data centers
         * @description Of regions one must match, of networkVolumeTypes and compliance all; where several parameters are given, each must match.
         */
        get: operations["listDataCenters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/catalog/datacenters/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The data center's id.
                 * @example EU-RO-1
                 */
                id: string;
            };
            cookie?: never;
        };
        /**
         * Read a data center
         * @description As a row of listDataCenters.
         */
        get: operations["getDataCenter"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/catalog/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the public templates
         * @description Those of one source; at most 100.
         */
        get: operations["listPublicTemplates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/network-volumes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List network volumes
         * @description The network volumes of the caller, newest first.
         */
        get: operations["listNetworkVolumes"];
        put?: never;
        /**
         * Create a network volume
         * @description Storage in one data center that outlives the pods that mount it.
         */
        post: operations["createNetworkVolume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/network-volumes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The network volume's id.
                 * @example agv6w2qcg7
                 */
                id: string;
            };
            cookie?: never;
        };
        /**
         * Read a network volume
         * @description Somebody else's is not found.
         */
        get: operations["getNetworkVolume"];
        put?: never;
        post?: never;
        /**
         * Delete a network volume
         * @description Its data is gone. Refused while a pod that is not terminated mounts it, or an endpoint names it.
         */
        delete: operations["deleteNetworkVolume"];
        options?: never;
        head?: never;
        /**
         * Rename or enlarge a network volume
         * @description Only the members that are present change. The size cannot shrink; the data center and the type are fixed.
         */
        patch: operations["updateNetworkVolume"];
        trace?: never;
    };
    "/v2/global-volumes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List global volumes
         * @description The global volumes of the caller, newest first.
         */
        get: operations["listGlobalVolumes"];
        put?: never;
        /**
         * Create a global volume
         * @description Storage that the workers of endpoints mount in whatever data center they are. It has no size and is not billed.
         */
        post: operations["createGlobalVolume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/global-volumes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The global volume's id.
                 * @example agv6w2qcg7
                 */
                id: string;
            };
            cookie?: never;
        };
        /**
         * Read a global volume
         * @description Somebody else's is not found.
         */
        get: operations["getGlobalVolume"];
        put?: never;
        post?: never;
        /**
         * Delete a global volume
         * @description Its data is gone. Refused while an endpoint mounts it.
         */
        delete: operations["deleteGlobalVolume"];
        options?: never;
        head?: never;
        /**
         * Rename a global volume
         * @description Its name is all that changes.
         */
        patch: operations["updateGlobalVolume"];
        trace?: never;
    };
    "/v2/registries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List registry credentials
         * @description All credentials of the caller, oldest first, without what they hold.
         */
        get: operations["listRegistries"];
        put?: never;
        /**
         * Store a registry credential
         * @description User name and password of a container registry. They are stored encrypted and never answered.
         */
        post: operations["createRegistry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/registries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The credential's id.
                 * @example clzdaifot0001l90809257ynb
                 */
                id: string;
            };
            cookie?: never;
        };
        /**
         * Read a registry credential
         * @description Its name, never what it holds. Somebody else's is not found.
         */
        get: operations["getRegistry"];
        put?: never;
        post?: never;
        /**
         * Delete a registry credential
         * @description Refused while a pod that is not terminated, or an endpoint, uses it.
         */
        delete: operations["deleteRegistry"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/registries/delegations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List delegations
         * @description All delegations of the caller, newest first.
         */
        get: operations["listDelegations"];
        put?: never;
        /**
         * Delegate an ECR repository
         * @description Records that the owner of a repository lets it be pulled.
         */
        post: operations["createDelegation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/registries/delegations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The delegation's id.
                 * @example del_8f3k2m
                 */
                id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a delegation
         * @description It is not found afterwards.
         */
        delete: operations["revokeDelegation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List templates
         * @description The templates of the caller, newest first.
         */
        get: operations["listTemplates"];
        put?: never;
        /**
         * Create a template
         * @description Settings of a container under a name. They are copied when the template is used; later changes do not reach what was made before.
         */
        post: operations["createTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/templates/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The template's id.
                 * @example 30zmvf89kd
                 */
                id: string;
            };
            cookie?: never;
        };
        /**
         * Read a template
         * @description The caller's own ones and public ones are found.
         */
        get: operations["getTemplate"];
        put?: never;
        post?: never;
        /**
         * Delete a template
         * @description Nobody but its owner can delete a public one. Refused while a pod or an endpoint is bound to it.
         */
        delete: operations["deleteTemplate"];
        options?: never;
        head?: never;
        /**
         * Change a template
         * @description Only the members that are present change, each as a whole. Nobody but its owner can change a public one.
         */
        patch: operations["updateTemplate"];
        trace?: never;
    };
    "/v2/account/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List secrets
         * @description All secrets of the caller, newest first, without their values.
         */
        get: operations["listSecrets"];
        put?: never;
        /**
         * Store a secret
         * @description The value is stored encrypted and never answered. An environment variable of a pod, an endpoint or a template that contains `{{ RUNPOD_SECRET_<name> }}` has the value there when a container starts. The body is limited to 36 MB (10^6 bytes each).
         */
        post: operations["createSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/account/secrets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The secret's id.
                 * @example s8x2k4m1q9z7ab
                 */
                id: string;
            };
            cookie?: never;
        };
        /**
         * Read a secret
         * @description What is known of it, never its value. Somebody else's is not found.
         */
        get: operations["getSecret"];
        put?: never;
        post?: never;
        /**
         * Delete a secret
         * @description Also one that is in use; what runs keeps the value that it started with.
         */
        delete: operations["deleteSecret"];
        options?: never;
        head?: never;
        /**
         * Change a secret
         * @description Its value, its description, or both; the name stays. What runs keeps the value that it started with. The body is limited to 36 MB.
         */
        patch: operations["updateSecret"];
        trace?: never;
    };
    "/v2/account/ssh-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List SSH keys
         * @description The public keys that may log in to the caller's pods, in the order in which they were sent.
         */
        get: operations["getSshKeys"];
        /**
         * Replace the SSH keys
         * @description All of them; an empty list removes them.
         */
        put: operations["updateSshKeys"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/clusters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List clusters
         * @description All clusters of the caller, newest first.
         */
        get: operations["listClusters"];
        put?: never;
        /**
         * Create a cluster
         * @description Equal GPU pods in one data center, all of them or none.
         */
        post: operations["createCluster"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/clusters/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The cluster's id.
                 * @example c7h2p9x4s1
                 */
                id: string;
            };
            cookie?: never;
        };
        /**
         * Read a cluster
         * @description Somebody else's is not found.
         */
        get: operations["getCluster"];
        put?: never;
        post?: never;
        /**
         * Delete a cluster
         * @description Its pods are terminated.
         */
        delete: operations["deleteCluster"];
        options?: never;
        head?: never;
        /**
         * Rename a cluster
         * @description Nothing else of it changes.
         */
        patch: operations["updateCluster"];
        trace?: never;
    };
    "/v2/clusters/{id}/pods": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The cluster's id.
                 * @example c7h2p9x4s1
                 */
                id: string;
            };
            cookie?: never;
        };
        /**
         * List the pods of a cluster
         * @description In the order of their ranks. Pods of over 8 MB in all are listed by listPods alone.
         */
        get: operations["listClusterPods"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/serverless": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List endpoints
         * @description The endpoints of the caller, newest first.
         */
        get: operations["listEndpoints"];
        put?: never;
        /**
         * Create an endpoint
         * @description Its queue takes jobs at once; workers are started as they are needed.
         */
        post: operations["createEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/serverless/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                id: string;
            };
            cookie?: never;
        };
        /**
         * Read an endpoint
         * @description Somebody else's is not found.
         */
        get: operations["getEndpoint"];
        put?: never;
        post?: never;
        /**
         * Delete an endpoint
         * @description Its jobs are cancelled, waiting ones and those in progress, and its workers stopped.
         */
        delete: operations["deleteEndpoint"];
        options?: never;
        head?: never;
        /**
         * Change an endpoint
         * @description Only the members that are present change. What the workers are made of makes a release, which they take as they are replaced; all else acts at once. Of an endpoint that the settings of the server declare, only what acts at once changes, but for the name.
         */
        patch: operations["updateEndpoint"];
        trace?: never;
    };
    "/v2/serverless/{id}/workers": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                id: string;
            };
            cookie?: never;
        };
        /**
         * List the workers of an endpoint
         * @description The newest first; those that should be there and cannot be started now are listed too. Besides, the last ones that have ended, and why.
         */
        get: operations["listEndpointWorkers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/serverless/{id}/workers/{workerId}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                id: string;
                /**
                 * @description The worker's id.
                 * @example w5j8d2f7h4
                 */
                workerId: string;
            };
            cookie?: never;
        };
        /**
         * Follow the logs of a worker
         * @description Server-sent events as of a pod's logs, until the worker has ended. Only workers that were started here have a log; of the last ones of an endpoint that have ended its end is kept.
         */
        get: operations["getWorkerLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/serverless/{id}/builds": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                id: string;
            };
            cookie?: never;
        };
        /**
         * List the builds of an endpoint
         * @description Newest first, in pages of at most 100. Builds are local ones, of a folder or an archive (berth build); the last 20 are kept, and that of the image that the endpoint has.
         */
        get: operations["listEndpointBuilds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/serverless/{id}/builds/{buildId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                id: string;
                /**
                 * @description The build's id.
                 * @example b5j8d2f7h4k1m9
                 */
                buildId: string;
            };
            cookie?: never;
        };
        /**
         * Read a build
         * @description One of the endpoint's that is kept.
         */
        get: operations["getEndpointBuild"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/serverless/{id}/builds/{buildId}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                id: string;
                /**
                 * @description The build's id.
                 * @example b5j8d2f7h4k1m9
                 */
                buildId: string;
            };
            cookie?: never;
        };
        /**
         * Follow the logs of a build
         * @description Server-sent events as of a pod's logs, until the build has ended. The last 256 kB are kept.
         */
        get: operations["getBuildLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/serverless/{id}/releases": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                id: string;
            };
            cookie?: never;
        };
        /**
         * List the releases of an endpoint
         * @description The newest first, each with what differs from the one before; the last 1000 are kept. Every page has the rollout of now.
         */
        get: operations["listEndpointReleases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/billing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the bill
         * @description All that the caller is billed, by item.
         */
        get: operations["listBilling"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/billing/pods": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the bill of pods
         * @description For each pod that belongs to no cluster.
         */
        get: operations["listPodBilling"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/billing/serverless": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the bill of serverless endpoints
         * @description For each endpoint, while its workers run.
         */
        get: operations["listServerlessBilling"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/billing/endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the bill of public endpoints
         * @description Public endpoints are models that the service itself runs. There are none, so nothing is billed.
         */
        get: operations["listEndpointBilling"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/billing/network-volumes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the bill of network volumes
         * @description For each network volume, from its creation to its deletion.
         */
        get: operations["listNetworkVolumeBilling"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/billing/clusters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the bill of clusters
         * @description For each cluster, while its pods run.
         */
        get: operations["listClusterBilling"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description What went wrong, as application/problem+json. */
        Problem: {
            /** @description Short summary. */
            title: string;
            /** @description The HTTP status. */
            status: number;
            /** @description Explanation. */
            detail: string;
            /** @description One line for each violation, beginning with a JSON Pointer or the parameter's name. */
            errors?: string[];
        };
        CreatePodRequest: {
            name: string;
            /** @description Container image reference. */
            image: string;
            /** @description Arguments for the container's entrypoint. */
            args?: string;
            /**
             * Format: int64
             * @description Container disk in GB, wiped on restart.
             */
            disk?: number;
            /** @description Each port/protocol. */
            ports?: components["schemas"]["PortSpec"][];
            env?: {
                [key: string]: string;
            };
            /** @description Id of the registry credential for a private image. */
            registry?: string | null;
            mounts?: components["schemas"]["Mounts"];
            gpu?: components["schemas"]["GpuConfig"];
            cpu?: components["schemas"]["CreateCpuConfig"];
            /** @default SECURE */
            cloud: components["schemas"]["Cloud"];
            /** @description Preferred data centers; none means that the scheduler chooses. */
            dataCenterIds?: string[];
            /** @default false */
            globalNetworking: boolean;
        };
        UpdatePodRequest: {
            /** @description A template whose container settings are taken as if they stood in the body, but for its mount. Members of the body win; env is merged, and then replaces that of the pod. The pod keeps no link to it. */
            templateId?: string;
            name?: string;
            image?: string;
            args?: string;
            cmd?: components["schemas"]["Cmd"];
            entrypoint?: components["schemas"]["Entrypoint"];
            /**
             * Format: int64
             * @description GB.
             */
            disk?: number;
            ports?: components["schemas"]["PortSpec"][];
            env?: {
                [key: string]: string;
            };
            /** @description Null takes the credential away. */
            registry?: string | null;
            mounts?: components["schemas"]["Mounts"];
            locked?: boolean;
            globalNetworking?: boolean;
        };
        PodActionRequest: {
            action: components["schemas"]["PodAction"];
        };
        /** @description The arguments of the entrypoint, as args has them in words. An empty list is none. Beside args only where both say the same. */
        Cmd: string[];
        /** @description The entrypoint in place of the image's. An empty list is that of the image. Beside args only where both say the same. */
        Entrypoint: string[];
        PortSpec: string;
        /** @enum {string} */
        Cloud: "SECURE" | "COMMUNITY";
        GpuConfig: {
            /** @description GPU type id. */
            id: string;
            /**
             * Format: int64
             * @default 1
             */
            count: number;
        };
        CreateCpuConfig: {
            /** @description CPU flavor id. */
            id: string;
            /**
             * Format: int64
             * @description A power of two that the flavor offers. Which ones it does is in the catalog; any other power of two gives 400.
             * @enum {integer}
             */
            vcpuCount: 2 | 4 | 8 | 16 | 32 | 64 | 128 | 256 | 512 | 1024 | 2048 | 4096 | 8192 | 16384 | 32768 | 65536 | 131072 | 262144 | 524288 | 1048576 | 2097152 | 4194304 | 8388608 | 16777216 | 33554432 | 67108864 | 134217728 | 268435456 | 536870912 | 1073741824 | 2147483648 | 4294967296 | 8589934592 | 17179869184 | 34359738368 | 68719476736 | 137438953472 | 274877906944 | 549755813888 | 1099511627776 | 2199023255552 | 4398046511104 | 8796093022208 | 17592186044416 | 35184372088832 | 70368744177664 | 140737488355328 | 281474976710656 | 562949953421312 | 1125899906842624 | 2251799813685248 | 4503599627370496;
        };
        CpuConfig: {
            id: string;
            /** @description At least 2 but for what was made over GraphQL. */
            vcpuCount: number;
            /** @description GB. */
            memory: number;
        };
        /** @description At most one of the two kinds. */
        Mounts: {
            persistent?: components["schemas"]["PersistentMount"];
            network?: components["schemas"]["NetworkMount"][];
        };
        /**
         * @deprecated
         * @description Host-local storage; prefer a network mount.
         */
        PersistentMount: {
            /**
             * Format: int64
             * @description GB.
             */
            size: number;
            path: components["schemas"]["MountPath"];
        };
        NetworkMount: {
            volumeId: string;
            path: components["schemas"]["MountPath"];
        };
        /**
         * @description Where it is in the container: absolute and not /, without . and .. as a part, colons and control characters.
         * @example /workspace
         */
        MountPath: string;
        /** @enum {string} */
        PodStatus: "PROVISIONING" | "STARTING" | "RUNNING" | "EXITED" | "ERROR" | "TERMINATED";
        /** @enum {string} */
        PodAction: "start" | "stop" | "restart" | "terminate";
        Pagination: {
            /** @description The cursor of the next page; null if there is none. */
            nextCursor: string | null;
            /** @description This alone says whether there is one: a page may have fewer than limit, or none. */
            hasNextPage: boolean;
        };
        ClusterPodList: {
            pods: components["schemas"]["Pod"][];
        };
        PodList: {
            pods: components["schemas"]["Pod"][];
            pagination: components["schemas"]["Pagination"];
        };
        Pod: {
            id: string;
            name: string;
            image: string;
            args: string;
            /** @description GB. */
            disk: number;
            ports: string[];
            env: {
                [key: string]: string;
            };
            registry: string | null;
            status: components["schemas"]["PodStatus"];
            /** @description The actions that the status allows. */
            actions: components["schemas"]["PodAction"][];
            mounts: components["schemas"]["Mounts"];
            gpu?: components["schemas"]["PodGpu"];
            cpu?: components["schemas"]["CpuConfig"];
            cloud: components["schemas"]["Cloud"];
            /** @description Assigned by the scheduler. */
            dataCenterId: string | null;
            /** @description Id of the template it was made from. */
            template: string | null;
            /**
             * Format: float
             * @description Current USD an hour.
             */
            cost: number;
            locked: boolean;
            globalNetworking: components["schemas"]["PodGlobalNetworking"];
            runtime: components["schemas"]["PodRuntime"] | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            startedAt: string | null;
        };
        PodGpu: {
            /** @description GPU type id. */
            id: string;
            /**
             * Format: int64
             * @default 1
             */
            count: number;
        };
        PodGlobalNetworking: {
            enabled: boolean;
            ip?: string;
            internalDns?: string;
        };
        /** @description Null unless the pod is RUNNING. What is not measured is absent; what is was so within the last seconds. */
        PodRuntime: {
            /** @description Seconds since the container started. */
            uptime?: number;
            gpus?: components["schemas"]["PodGpuUtilization"][];
            cpu?: components["schemas"]["Utilization"];
            memory?: components["schemas"]["Utilization"];
            ports?: components["schemas"]["PodRuntimePort"][];
        };
        PodGpuUtilization: {
            /** @description Percent of the time in which it worked. */
            util?: number;
            /** @description Percent of its memory. */
            memoryUtil?: number;
        };
        Utilization: {
            /** @description Percent. */
            util?: number;
        };
        PodRuntimePort: {
            private?: number;
            /** @description Null if it cannot be reached from outside. */
            public?: number | null;
            /** @description http, tcp or udp. */
            type?: string;
            /** @description Null for every address of the host. */
            ip?: string | null;
        };
        /**
         * @description container, what the container wrote; system, what was done with it.
         * @enum {string}
         */
        LogSource: "container" | "system";
        GpuTypeList: {
            gpus: components["schemas"]["GpuType"][];
        };
        GpuType: {
            id: string;
            name: string;
            /** @description The pool of which endpoints take it; null if none does. */
            pool: string | null;
            /** @enum {string} */
            manufacturer: "NVIDIA" | "AMD" | "UNKNOWN";
            /** @description GB of one GPU. */
            memory: number;
            /** @description Offered in cloud SECURE. */
            secure: boolean;
            /** @description Offered in cloud COMMUNITY. */
            community: boolean;
            price: components["schemas"]["GpuPrice"];
            maxCount: components["schemas"]["GpuMaxCount"];
            availability?: components["schemas"]["AvailabilityLevel"];
            /** @description Those that have it; only with include=AVAILABILITY. */
            dataCenters?: components["schemas"]["ResourceAvailability"][];
            /** @description Those that its hosts have; only with include=AVAILABILITY. */
            cudaVersions?: components["schemas"]["CudaVersionAvailability"][];
        };
        /** @enum {string} */
        CloudFilter: "SECURE" | "COMMUNITY";
        /** @description USD an hour for one GPU; 0 where it is not offered. */
        GpuPrice: {
            /** Format: float */
            secure: number;
            /** Format: float */
            community: number;
            /**
             * Format: float
             * @description Absent where no pool has it.
             */
            serverless?: number;
        };
        /** @description The most that one pod can have. */
        GpuMaxCount: {
            secure: number;
            community: number;
        };
        /**
         * @description How many pods as asked for there is place for now: LOW is 1 to 4, MEDIUM 5 to 15, HIGH more.
         * @enum {string}
         */
        AvailabilityLevel: "NONE" | "LOW" | "MEDIUM" | "HIGH";
        ResourceAvailability: {
            id: string;
            name: string;
            availability: components["schemas"]["AvailabilityLevel"];
        };
        CudaVersionAvailability: {
            version: string;
            available: boolean;
        };
        CpuTypeList: {
            cpus: components["schemas"]["CpuType"][];
        };
        CpuType: {
            id: string;
            name: string;
            group: string;
            vcpu: components["schemas"]["CpuVcpu"];
            /** Format: float */
            ramGbPerVcpu: number;
            price: components["schemas"]["CpuPrice"];
            availability?: components["schemas"]["AvailabilityLevel"];
            /** @description Those that have it; only with include=AVAILABILITY. */
            dataCenters?: components["schemas"]["ResourceAvailability"][];
        };
        /** @description The smallest and the largest pod; the powers of two between them are offered too. */
        CpuVcpu: {
            min: number;
            max: number;
        };
        /** @description USD an hour for one vCPU. */
        CpuPrice: {
            /** Format: float */
            securePerVcpu: number;
            /** Format: float */
            serverlessPerVcpu: number;
        };
        DataCenterList: {
            dataCenters: components["schemas"]["DataCenter"][];
        };
        DataCenter: {
            id: string;
            name: string;
            region: components["schemas"]["DataCenterRegion"];
            /** @description Global networking is possible here. */
            globalNetwork: boolean;
            networkVolumeTypes: components["schemas"]["VolumeType"][];
            compliance: components["schemas"]["Compliance"][];
            /** @description Every GPU type; only with include=GPU_AVAILABILITY. */
            gpuAvailability?: components["schemas"]["ResourceAvailability"][];
            /** @description Every CPU flavor; only with include=CPU_AVAILABILITY. */
            cpuAvailability?: components["schemas"]["ResourceAvailability"][];
        };
        /** @enum {string} */
        DataCenterRegion: "NORTH_AMERICA" | "SOUTH_AMERICA" | "EUROPE" | "ASIA" | "MIDDLE_EAST" | "AFRICA" | "OCEANIA" | "ANTARCTICA" | "UNKNOWN";
        /** @enum {string} */
        VolumeType: "STANDARD" | "HIGH_PERFORMANCE";
        /** @enum {string} */
        Compliance: "GDPR" | "ISO_IEC_27001" | "ISO_14001" | "PCI_DSS" | "HITRUST" | "SOC_1_TYPE_2" | "SOC_2_TYPE_2" | "SOC_3_TYPE_2" | "ITAR" | "FISMA_HIGH" | "HIPAA" | "RENEWABLE";
        PublicTemplateList: {
            templates: components["schemas"]["Template"][];
        };
        CreateNetworkVolumeRequest: {
            name: string;
            /**
             * Format: int64
             * @description GB.
             */
            size: number;
            /** @description Data center id. */
            dataCenter: string;
            type?: components["schemas"]["VolumeType"];
        };
        UpdateNetworkVolumeRequest: {
            name?: string;
            /**
             * Format: int64
             * @description GB, not below what it has.
             */
            size?: number;
        };
        NetworkVolume: {
            id: string;
            name: string;
            /** @description GB. */
            size: number;
            dataCenter: string;
            type: components["schemas"]["VolumeType"];
        };
        NetworkVolumeList: {
            networkVolumes: components["schemas"]["NetworkVolume"][];
            pagination: components["schemas"]["Pagination"];
        };
        CreateGlobalVolumeRequest: {
            name: components["schemas"]["GlobalVolumeName"];
        };
        UpdateGlobalVolumeRequest: {
            name?: components["schemas"]["GlobalVolumeName"];
        };
        /**
         * @description White space around it is cut off, and something else must be left. Several may have the same one.
         * @example models
         */
        GlobalVolumeName: string;
        GlobalVolume: {
            id: string;
            name: string;
            /** Format: date-time */
            createdAt: string;
            createdByUserId: string | null;
        };
        GlobalVolumeList: {
            globalVolumes: components["schemas"]["GlobalVolume"][];
            pagination: components["schemas"]["Pagination"];
        };
        CreateRegistryRequest: {
            name: string;
            username: string;
            /** @description Never answered. */
            password: string;
        };
        Registry: {
            id: string;
            name: string;
        };
        RegistryList: {
            registries: components["schemas"]["Registry"][];
        };
        CreateDelegationRequest: {
            /** @description ARN of the repository, with a tag after another colon if it is not latest. */
            resource: string;
            name?: string | null;
        };
        EcrDelegation: {
            id: string;
            name?: string | null;
            /** @description Who delegated it. */
            delegatorUserId: string;
            /** @description Account that owns the repository. */
            awsUser: string;
            repository: string;
            tag: string;
            awsRegion: string;
            /** @description Host of the registry. */
            dockerRegistryUri?: string;
            /** Format: date-time */
            createdAt: string;
        };
        DelegationList: {
            delegations: components["schemas"]["EcrDelegation"][];
        };
        CreateTemplateRequest: {
            name: string;
            /** @description Container image reference. */
            image: string;
            /** @description Arguments for the container's entrypoint. */
            args?: string;
            cmd?: components["schemas"]["Cmd"];
            entrypoint?: components["schemas"]["Entrypoint"];
            /**
             * Format: int64
             * @description Container disk in GB, wiped on restart.
             */
            disk?: number;
            /** @description Each port/protocol. */
            ports?: components["schemas"]["PortSpec"][];
            env?: {
                [key: string]: string;
            };
            /** @description Id of the registry credential for a private image. */
            registry?: string | null;
            mounts?: components["schemas"]["TemplateMounts"];
            /** @default NVIDIA */
            category: components["schemas"]["TemplateCategory"];
            /** @default false */
            public: boolean;
            /**
             * @description For endpoints rather than for pods.
             * @default false
             */
            serverless: boolean;
            /** @default true */
            startSsh: boolean;
            /** @default true */
            startJupyter: boolean;
            allowedCudaVersions?: string[];
        };
        UpdateTemplateRequest: {
            name?: string;
            image?: string;
            args?: string;
            cmd?: components["schemas"]["Cmd"];
            entrypoint?: components["schemas"]["Entrypoint"];
            /**
             * Format: int64
             * @description GB.
             */
            disk?: number;
            ports?: components["schemas"]["PortSpec"][];
            env?: {
                [key: string]: string;
            };
            /** @description Null takes the credential away. */
            registry?: string | null;
            mounts?: components["schemas"]["TemplateMounts"];
            category?: components["schemas"]["TemplateCategory"];
            public?: boolean;
            serverless?: boolean;
            startSsh?: boolean;
            startJupyter?: boolean;
            allowedCudaVersions?: string[];
        };
        /**
         * @description What it is made for.
         * @enum {string}
         */
        TemplateCategory: "CPU" | "NVIDIA" | "AMD";
        TemplateMounts: {
            persistent?: components["schemas"]["PersistentMount"];
        };
        Template: {
            id: string;
            name: string;
            image: string;
            args: string;
            /** @description What args says of the arguments, as a list. */
            cmd?: string[];
            /** @description What args says of the entrypoint, as a list. */
            entrypoint?: string[];
            /** @description GB. */
            disk: number;
            ports: string[];
            env: {
                [key: string]: string;
            };
            /** @description Shown to the owner alone. */
            registry: string | null;
            mounts: components["schemas"]["TemplateMounts"];
            category: components["schemas"]["TemplateCategory"];
            public: boolean;
            serverless: boolean;
            startSsh: boolean;
            startJupyter: boolean;
            allowedCudaVersions: string[];
        };
        TemplateList: {
            templates: components["schemas"]["Template"][];
            pagination: components["schemas"]["Pagination"];
        };
        UpdateSshKeysRequest: {
            keys: string[];
        };
        CreateSecretRequest: {
            /** @description What an environment refers to it by. It cannot begin with RUNPOD, and names that differ in case alone are one. */
            name: string;
            /** @description Never answered. Fewer than 16777216 bytes of UTF-8. */
            value: string;
            /** @description At most 65535 bytes of UTF-8. */
            description?: string;
        };
        UpdateSecretRequest: {
            /** @description Never answered. Fewer than 16777216 bytes of UTF-8. */
            value?: string;
            /** @description Empty text removes it. */
            description?: string;
        };
        Secret: {
            id: string;
            name: string;
            description?: string | null;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description When another value was stored; null until then.
             */
            valueLastUpdatedAt?: string | null;
        };
        SecretList: {
            secrets: components["schemas"]["Secret"][];
        };
        SshKeys: {
            keys: string[];
        };
        /** @description image is required without templateId. */
        CreateClusterRequest: {
            name: string;
            type: components["schemas"]["ClusterType"];
            compute: components["schemas"]["ClusterCompute"];
            /** @description A template that gives the pods all of their settings, its registry credential too. image, args, entrypoint, cmd, disk, env, ports and mounts are refused beside it. */
            templateId?: string;
            /** @description Container image reference. */
            image?: string;
            /** @description Arguments for the container's entrypoint. */
            args?: string;
            cmd?: components["schemas"]["Cmd"];
            entrypoint?: components["schemas"]["Entrypoint"];
            /**
             * Format: int64
             * @description Container disk of each pod in GB, wiped on restart.
             */
            disk?: number;
            /** @description Each port/protocol. */
            ports?: components["schemas"]["PortSpec"][];
            env?: {
                [key: string]: string;
            };
            mounts?: components["schemas"]["Mounts"];
            /** @description Preferred data centers; none means that the scheduler chooses. */
            dataCenterIds?: string[];
            /**
             * @description Gives the pods the SSH keys of the user, as PUBLIC_KEY.
             * @default false
             */
            startSsh: boolean;
            /**
             * @description Gives the pods a new password, as JUPYTER_PASSWORD.
             * @default false
             */
            startJupyter: boolean;
        };
        UpdateClusterRequest: {
            name?: string;
        };
        /** @enum {string} */
        ClusterType: "APPLICATION" | "TRAINING" | "SLURM" | "RAY";
        ClusterCompute: {
            gpuTypeId: string;
            /** Format: int64 */
            gpuCountPerPod: number;
            /** Format: int64 */
            podCount: number;
        };
        Cluster: {
            id: string;
            name: string;
            type: components["schemas"]["ClusterType"];
            compute: components["schemas"]["ClusterCompute"];
            /** @description Id of the template that its pods were made from. */
            template?: string;
            /** @description Where all of its pods are. */
            dataCenterId?: string;
            pods: components["schemas"]["ClusterPodsSummary"];
            primary?: components["schemas"]["ClusterPrimary"];
            /** Format: date-time */
            createdAt: string;
        };
        ClusterPodsSummary: {
            total: number;
            /** @description How many pods have each status; none that nobody has. */
            byStatus: {
                [key: string]: number;
            };
        };
        /** @description The pod of the lowest rank. */
        ClusterPrimary: {
            podId: string;
            status: components["schemas"]["PodStatus"];
        };
        ClusterList: {
            clusters: components["schemas"]["Cluster"][];
        };
        /** @description Beyond what is listed, image is required without templateId, QUEUE_DELAY is refused for LOAD_BALANCER, and exactly one of gpu and cpu is required. */
        CreateEndpointRequest: {
            name: string;
            type: components["schemas"]["EndpointType"];
            /** @description A serverless template; its settings are copied and those of the body win. */
            templateId?: string;
            /** @description Container image reference. */
            image?: string;
            /** @description Arguments for the container's entrypoint. */
            args?: string;
            cmd?: components["schemas"]["Cmd"];
            entrypoint?: components["schemas"]["Entrypoint"];
            /**
             * Format: int64
             * @description Container disk of each worker in GB.
             */
            disk?: number;
            /** @description Each port/protocol. */
            ports?: components["schemas"]["PortSpec"][];
            /** @description Joins the template's. */
            env?: {
                [key: string]: string;
            };
            /** @description Id of the registry credential for a private image. */
            registry?: string | null;
            gpu?: components["schemas"]["CreateEndpointGpuConfig"];
            /** @description A worker gets the first one that can be had; each stands once. */
            cpu?: components["schemas"]["CreateCpuConfig"][];
            /** @description Preferred data centers; none means any. */
            dataCenterIds?: string[];
            /** @description Ids of network volumes, at most one in each data center. A worker mounts that of its own at /runpod-volume. */
            networkVolumes?: string[];
            mounts?: components["schemas"]["EndpointMounts"];
            workers?: components["schemas"]["CreateEndpointWorkers"];
            scaling: components["schemas"]["EndpointScaling"];
            /**
             * Format: int64
             * @description Execution timeout of a job in milliseconds, unless the job has its own; 0 for that of the queue.
             * @default 300000
             */
            timeout: number;
            /** @default OFF */
            flashboot: components["schemas"]["FlashBoot"];
        };
        UpdateEndpointRequest: {
            name?: string;
            /** @description A serverless template whose settings are copied now; empty to be bound to none. */
            templateId?: string;
            /** @description Container image reference. */
            image?: string;
            /** @description Arguments for the container's entrypoint. */
            args?: string;
            cmd?: components["schemas"]["Cmd"];
            entrypoint?: components["schemas"]["Entrypoint"];
            /**
             * Format: int64
             * @description Container disk of each worker in GB.
             */
            disk?: number;
            /** @description Each port/protocol. */
            ports?: components["schemas"]["PortSpec"][];
            /** @description Joins the template's if one is named, and replaces what there is. */
            env?: {
                [key: string]: string;
            };
            /** @description Id of the registry credential for a private image; null takes it away. */
            registry?: string | null;
            gpu?: components["schemas"]["UpdateEndpointGpuConfig"];
            /** @description A worker gets the first one that can be had; each stands once. */
            cpu?: components["schemas"]["CreateCpuConfig"][];
            /** @description Preferred data centers; none means any. */
            dataCenterIds?: string[];
            /** @description Ids of network volumes, at most one in each data center. A worker mounts that of its own at /runpod-volume. */
            networkVolumes?: string[];
            mounts?: components["schemas"]["EndpointMounts"];
            workers?: components["schemas"]["EndpointWorkers"];
            scaling?: components["schemas"]["EndpointScaling"];
            /**
             * Format: int64
             * @description Execution timeout of a job in milliseconds, unless the job has its own; 0 for that of the queue.
             */
            timeout?: number;
            flashboot?: components["schemas"]["FlashBoot"];
        };
        /** @description What the workers find at /runpod-volume, network volumes or a global one. A list that is absent stays as it is, an empty one takes away. */
        EndpointMounts: {
            /** @description Network volumes, as networkVolumes lists their ids; with both, both say the same. */
            network?: components["schemas"]["VolumeMount"][];
            /** @description A global volume, for workers with GPUs alone. */
            global?: components["schemas"]["VolumeMount"][];
        };
        ShownEndpointMounts: {
            network: components["schemas"]["VolumeMount"][];
            global: components["schemas"]["VolumeMount"][];
        };
        VolumeMount: {
            volumeId: string;
        };
        CreateEndpointGpuConfig: {
            /** @description Pools of the catalog, in the order of preference. */
            pools: string[];
            /** @description GPU types that no worker gets. */
            excludedTypes?: string[];
            /**
             * Format: int64
             * @description GPUs of each worker.
             * @default 1
             */
            count: number;
            /** @description Any of them; none means all. */
            allowedCudaVersions?: string[];
            minCudaVersion?: string;
        };
        UpdateEndpointGpuConfig: {
            /** @description Pools of the catalog, in the order of preference. */
            pools?: string[];
            /** @description GPU types that no worker gets. */
            excludedTypes?: string[];
            /**
             * Format: int64
             * @description GPUs of each worker.
             */
            count?: number;
            /** @description Any of them; none means all. */
            allowedCudaVersions?: string[];
            /** @description Empty for any. */
            minCudaVersion?: string;
        };
        EndpointGpuConfig: {
            pools: string[];
            excludedTypes?: string[];
            /** @default 1 */
            count: number;
            allowedCudaVersions: string[];
            minCudaVersion: string | null;
        };
        /**
         * @description How requests reach the workers; it never changes. LOAD_BALANCER endpoints have no queue; their workers get the requests themselves.
         * @enum {string}
         */
        EndpointType: "QUEUE" | "LOAD_BALANCER";
        CreateEndpointWorkers: {
            /**
             * Format: int64
             * @default 0
             */
            min: number;
            /**
             * Format: int64
             * @default 3
             */
            max: number;
            /**
             * Format: int64
             * @description Seconds. Not for a queue that is scaled by request count.
             * @default 10
             */
            idleTimeout: number;
        };
        EndpointWorkers: {
            /** Format: int64 */
            min?: number;
            /** Format: int64 */
            max?: number;
            /**
             * Format: int64
             * @description Seconds. Not for a queue that is scaled by request count.
             */
            idleTimeout?: number;
        };
        /** @description QUEUE_DELAY is for queues only. */
        EndpointScaling: components["schemas"]["QueueDelayScaling"] | components["schemas"]["RequestCountScaling"];
        QueueDelayScaling: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "QUEUE_DELAY";
            /**
             * Format: float
             * @description Seconds that a job may wait before a worker more is started.
             */
            queueDelay: number;
        };
        RequestCountScaling: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "REQUEST_COUNT";
            /**
             * Format: int64
             * @description Jobs, waiting or in progress, for each worker.
             */
            requestCount: number;
        };
        /**
         * @description Kept and shown; it has no effect here.
         * @enum {string}
         */
        FlashBoot: "OFF" | "FLASHBOOT" | "PRIORITY_FLASHBOOT";
        /** @description The addresses of the queue, all but base. Those of status, stream, cancel and retry are followed by a slash and the job's id. An endpoint that balances load has base, below which every path leads to its workers, and health. */
        EndpointRequestUrls: {
            /** Format: uri */
            base?: string;
            /** Format: uri */
            run?: string;
            /** Format: uri */
            runSync?: string;
            /** Format: uri */
            status?: string;
            /** Format: uri */
            stream?: string;
            /** Format: uri */
            cancel?: string;
            /** Format: uri */
            retry?: string;
            /** Format: uri */
            purgeQueue?: string;
            /** Format: uri */
            health: string;
        };
        Endpoint: {
            id: string;
            name: string;
            type?: components["schemas"]["EndpointType"];
            requestUrls?: components["schemas"]["EndpointRequestUrls"];
            image?: string;
            args?: string;
            /** @description What args says of the arguments, as a list. */
            cmd?: string[];
            /** @description What args says of the entrypoint, as a list. */
            entrypoint?: string[];
            /** @description GB; absent for an endpoint of the server's settings. */
            disk?: number;
            ports?: string[];
            env?: {
                [key: string]: string;
            };
            registry?: string | null;
            gpu?: components["schemas"]["EndpointGpuConfig"] | null;
            cpu?: components["schemas"]["CpuConfig"][];
            workers: components["schemas"]["ShownEndpointWorkers"];
            scaling: components["schemas"]["EndpointScaling"];
            dataCenterIds: string[];
            networkVolumes: string[];
            mounts: components["schemas"]["ShownEndpointMounts"];
            /** @description Milliseconds. */
            timeout: number;
            flashboot: components["schemas"]["FlashBoot"];
            /** Format: date-time */
            createdAt: string;
        };
        ShownEndpointWorkers: {
            min: number;
            max: number;
            /** @description Seconds; absent where it does not apply. */
            idleTimeout?: number;
        };
        EndpointList: {
            endpoints: components["schemas"]["Endpoint"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** @enum {string} */
        WorkerStatus: "RUNNING" | "IDLE" | "INITIALIZING" | "THROTTLED" | "UNHEALTHY";
        Worker: {
            id: string;
            status: components["schemas"]["WorkerStatus"];
            /** @description It is made of an earlier release than the latest. */
            isStale: boolean;
            /** @description Of its release; null for a worker that somebody else started. */
            version?: number | null;
            gpuCount: number;
            image?: string | null;
            /** @description Null until its container is up. */
            uptimeSeconds?: number | null;
            gpuTypeId?: string | null;
            dataCenterId?: string | null;
            /**
             * Format: date-time
             * @description Null until its container is up.
             */
            startedAt?: string | null;
            /** @description Why it is UNHEALTHY or THROTTLED, for people; null otherwise. */
            reason?: string | null;
        };
        EndedWorker: {
            id: string;
            /** @description Of its release. */
            version: number;
            /**
             * Format: date-time
             * @description Null if its container never came up.
             */
            startedAt: string | null;
            /** Format: date-time */
            endedAt: string;
            /** @description Of one that ended by itself: -1, or 128 and the number of the signal, if a signal ended it. Null for one that was stopped, or of which it is not known. */
            exitCode: number | null;
            /** @description Why it ended, for people: one line, and after it the last lines that it wrote to the standard error, if it was not stopped because nobody needed it. */
            reason: string;
        };
        WorkerSummary: {
            running: number;
            idle: number;
            initializing: number;
            throttled: number;
            unhealthy: number;
            total: number;
        };
        WorkerList: {
            workers: components["schemas"]["Worker"][];
            summary: components["schemas"]["WorkerSummary"];
            /** @description The last ones that have ended, the latest first, whose logs can be read. Absent while none has. */
            ended?: components["schemas"]["EndedWorker"][];
            /** @description Of the latest release. */
            endpointVersion?: number | null;
        };
        /** @enum {string} */
        BuildState: "PENDING" | "BUILDING" | "UPLOADING" | "TESTING" | "COMPLETED" | "FAILED" | "CANCELLED" | "TEST_FAILED";
        Build: {
            id: string;
            status: components["schemas"]["BuildState"];
            /** @description Null for a local build. */
            commitHash?: string | null;
            /** @description Null for a local build. */
            commitMessage?: string | null;
            /** @description Null for a local build. */
            branch?: string | null;
            /**
             * Format: date-time
             * @description Null for a local build.
             */
            commitDate?: string | null;
            /** @description The image that it makes; null until it is COMPLETED. */
            imageName?: string | null;
            /**
             * Format: date-time
             * @description Null while it is PENDING.
             */
            startedAt?: string | null;
            /**
             * Format: date-time
             * @description Null until it has ended.
             */
            completedAt?: string | null;
            /** @description Why it FAILED. */
            error?: string | null;
        };
        BuildList: {
            builds: components["schemas"]["Build"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** @enum {string} */
        ReleaseSource: "GIT_BUILD" | "MANUAL";
        ReleaseDiffEntry: {
            /** @description As in the endpoint, such as image or gpu.count. */
            field: string;
            /** @description Its value before. */
            old: unknown;
            /** @description Its value since. */
            new: unknown;
        };
        Release: {
            id: string;
            version?: number | null;
            source: components["schemas"]["ReleaseSource"];
            /** @description Id of the build that made it; null for a change by hand. */
            buildId?: string | null;
            /** @description Null for the settings of the server. */
            createdByUserId?: string | null;
            /** @description Workers that are made of it. */
            workerCount: number;
            /** Format: date-time */
            createdAt: string;
            diff: components["schemas"]["ReleaseDiffEntry"][];
        };
        RolloutSummary: {
            /** @description Some workers are made of an earlier release. */
            inProgress: boolean;
            workersOnLatest: number;
            workersTotal: number;
            /** @description 100 while there are no workers. */
            percentOnLatest: number;
        };
        ReleaseList: {
            /** @description Of the latest release. */
            endpointVersion?: number | null;
            rollout: components["schemas"]["RolloutSummary"];
            releases: components["schemas"]["Release"][];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * @default day
         * @enum {string}
         */
        BillingBucketSize: "hour" | "day" | "week" | "month" | "year";
        /** @description In USD. */
        BillingAmounts: {
            /**
             * Format: double
             * @description USD, the sum of the others.
             */
            totalAmount: number;
            /** Format: double */
            podGpuAmount: number;
            /** Format: double */
            podCpuAmount: number;
            /**
             * Format: double
             * @description 0: the disk is in the price.
             */
            podDiskAmount: number;
            /** Format: double */
            serverlessGpuAmount: number;
            /** Format: double */
            serverlessCpuAmount: number;
            /**
             * Format: double
             * @description 0: the disk is in the price.
             */
            serverlessDiskAmount: number;
            /**
             * Format: double
             * @description 0: there is no fee.
             */
            serverlessFeeAmount: number;
            /** Format: double */
            storageStandardAmount: number;
            /** Format: double */
            storageHighPerformanceAmount: number;
            /**
             * Format: double
             * @description 0: there are no public endpoints.
             */
            endpointAmount: number;
            /** Format: double */
            clusterGpuAmount: number;
            /**
             * Format: double
             * @description 0: the disk is in the price.
             */
            clusterDiskAmount: number;
            /**
             * Format: double
             * @description 0: the network is in the price.
             */
            clusterNetworkingAmount: number;
        };
        /** @description What was billed in one bucket. */
        BillingRecord: {
            /** Format: date-time */
            startTime: string;
            /**
             * Format: date-time
             * @description Not included.
             */
            endTime: string;
            /**
             * Format: double
             * @description USD, the sum of the others.
             */
            totalAmount: number;
            /** Format: double */
            podGpuAmount: number;
            /** Format: double */
            podCpuAmount: number;
            /**
             * Format: double
             * @description 0: the disk is in the price.
             */
            podDiskAmount: number;
            /** Format: double */
            serverlessGpuAmount: number;
            /** Format: double */
            serverlessCpuAmount: number;
            /**
             * Format: double
             * @description 0: the disk is in the price.
             */
            serverlessDiskAmount: number;
            /**
             * Format: double
             * @description 0: there is no fee.
             */
            serverlessFeeAmount: number;
            /** Format: double */
            storageStandardAmount: number;
            /** Format: double */
            storageHighPerformanceAmount: number;
            /**
             * Format: double
             * @description 0: there are no public endpoints.
             */
            endpointAmount: number;
            /** Format: double */
            clusterGpuAmount: number;
            /**
             * Format: double
             * @description 0: the disk is in the price.
             */
            clusterDiskAmount: number;
            /**
             * Format: double
             * @description 0: the network is in the price.
             */
            clusterNetworkingAmount: number;
        };
        /** @description The window, on the borders of buckets. */
        BillingQuery: {
            /** Format: date-time */
            startTime: string;
            /**
             * Format: date-time
             * @description Not included.
             */
            endTime: string;
            bucketSize: components["schemas"]["BillingBucketSize"];
        };
        /** @description What was asked for, and its sums. */
        BillingMetadata: {
            query: components["schemas"]["BillingQuery"];
            recordCount: number;
            totals: components["schemas"]["BillingAmounts"];
        };
        BillingList: {
            records: components["schemas"]["BillingRecord"][];
            metadata: components["schemas"]["BillingMetadata"];
        };
        /** @description In USD. */
        PodBillingAmounts: {
            /**
             * Format: double
             * @description USD, the sum of the others.
             */
            totalAmount: number;
            /** Format: double */
            gpuAmount: number;
            /** Format: double */
            cpuAmount: number;
            /**
             * Format: double
             * @description 0: the disk is in the price.
             */
            diskAmount: number;
        };
        /** @description What was billed in one bucket. */
        PodBillingRecord: {
            /** Format: date-time */
            startTime: string;
            /**
             * Format: date-time
             * @description Not included.
             */
            endTime: string;
            podId: string;
            /**
             * Format: double
             * @description USD, the sum of the others.
             */
            totalAmount: number;
            /** Format: double */
            gpuAmount: number;
            /** Format: double */
            cpuAmount: number;
            /**
             * Format: double
             * @description 0: the disk is in the price.
             */
            diskAmount: number;
        };
        /** @description The window, on the borders of buckets. */
        PodBillingQuery: {
            /** Format: date-time */
            startTime: string;
            /**
             * Format: date-time
             * @description Not included.
             */
            endTime: string;
            bucketSize: components["schemas"]["BillingBucketSize"];
            podId?: string | null;
        };
        /** @description What was asked for, and its sums. */
        PodBillingMetadata: {
            query: components["schemas"]["PodBillingQuery"];
            recordCount: number;
            uniquePodCount: number;
            totals: components["schemas"]["PodBillingAmounts"];
        };
        PodBillingList: {
            records: components["schemas"]["PodBillingRecord"][];
            metadata: components["schemas"]["PodBillingMetadata"];
        };
        /** @description In USD. */
        ServerlessBillingAmounts: {
            /**
             * Format: double
             * @description USD, the sum of the others.
             */
            totalAmount: number;
            /** Format: double */
            gpuAmount: number;
            /** Format: double */
            cpuAmount: number;
            /**
             * Format: double
             * @description 0: the disk is in the price.
             */
            diskAmount: number;
            /**
             * Format: double
             * @description 0: there is no fee.
             */
            feeAmount: number;
        };
        /** @description What was billed in one bucket. */
        ServerlessBillingRecord: {
            /** Format: date-time */
            startTime: string;
            /**
             * Format: date-time
             * @description Not included.
             */
            endTime: string;
            serverlessId: string;
            /**
             * Format: double
             * @description USD, the sum of the others.
             */
            totalAmount: number;
            /** Format: double */
            gpuAmount: number;
            /** Format: double */
            cpuAmount: number;
            /**
             * Format: double
             * @description 0: the disk is in the price.
             */
            diskAmount: number;
            /**
             * Format: double
             * @description 0: there is no fee.
             */
            feeAmount: number;
        };
        /** @description The window, on the borders of buckets. */
        ServerlessBillingQuery: {
            /** Format: date-time */
            startTime: string;
            /**
             * Format: date-time
             * @description Not included.
             */
            endTime: string;
            bucketSize: components["schemas"]["BillingBucketSize"];
            serverlessId?: string | null;
        };
        /** @description What was asked for, and its sums. */
        ServerlessBillingMetadata: {
            query: components["schemas"]["ServerlessBillingQuery"];
            recordCount: number;
            uniqueServerlessCount: number;
            totals: components["schemas"]["ServerlessBillingAmounts"];
        };
        ServerlessBillingList: {
            records: components["schemas"]["ServerlessBillingRecord"][];
            metadata: components["schemas"]["ServerlessBillingMetadata"];
        };
        /** @description In USD. */
        EndpointBillingAmounts: {
            /**
             * Format: double
             * @description USD.
             */
            totalAmount: number;
        };
        /** @description What was billed in one bucket. */
        EndpointBillingRecord: {
            /** Format: date-time */
            startTime: string;
            /**
             * Format: date-time
             * @description Not included.
             */
            endTime: string;
            /**
             * Format: double
             * @description USD.
             */
            totalAmount: number;
        };
        /** @description What was asked for, and its sums. */
        EndpointBillingMetadata: {
            query: components["schemas"]["BillingQuery"];
            recordCount: number;
            totals: components["schemas"]["EndpointBillingAmounts"];
        };
        EndpointBillingList: {
            records: components["schemas"]["EndpointBillingRecord"][];
            metadata: components["schemas"]["EndpointBillingMetadata"];
        };
        /** @description In USD. */
        NetworkVolumeBillingAmounts: {
            /**
             * Format: double
             * @description USD, the sum of the others.
             */
            totalAmount: number;
            /** Format: double */
            standardAmount: number;
            /** Format: double */
            highPerformanceAmount: number;
        };
        /** @description What was billed in one bucket. */
        NetworkVolumeBillingRecord: {
            /** Format: date-time */
            startTime: string;
            /**
             * Format: date-time
             * @description Not included.
             */
            endTime: string;
            networkVolumeId: string;
            /**
             * Format: double
             * @description USD, the sum of the others.
             */
            totalAmount: number;
            /** Format: double */
            standardAmount: number;
            /** Format: double */
            highPerformanceAmount: number;
        };
        /** @description The window, on the borders of buckets. */
        NetworkVolumeBillingQuery: {
            /** Format: date-time */
            startTime: string;
            /**
             * Format: date-time
             * @description Not included.
             */
            endTime: string;
            bucketSize: components["schemas"]["BillingBucketSize"];
            networkVolumeId?: string | null;
        };
        /** @description What was asked for, and its sums. */
        NetworkVolumeBillingMetadata: {
            query: components["schemas"]["NetworkVolumeBillingQuery"];
            recordCount: number;
            uniqueNetworkVolumeCount: number;
            totals: components["schemas"]["NetworkVolumeBillingAmounts"];
        };
        NetworkVolumeBillingList: {
            records: components["schemas"]["NetworkVolumeBillingRecord"][];
            metadata: components["schemas"]["NetworkVolumeBillingMetadata"];
        };
        /** @description In USD. */
        ClusterBillingAmounts: {
            /**
             * Format: double
             * @description USD, the sum of the others.
             */
            totalAmount: number;
            /** Format: double */
            gpuAmount: number;
            /**
             * Format: double
             * @description 0: the disk is in the price.
             */
            diskAmount: number;
            /**
             * Format: double
             * @description 0: the network is in the price.
             */
            networkingAmount: number;
        };
        /** @description What was billed in one bucket. */
        ClusterBillingRecord: {
            /** Format: date-time */
            startTime: string;
            /**
             * Format: date-time
             * @description Not included.
             */
            endTime: string;
            clusterId: string;
            /**
             * Format: double
             * @description USD, the sum of the others.
             */
            totalAmount: number;
            /** Format: double */
            gpuAmount: number;
            /**
             * Format: double
             * @description 0: the disk is in the price.
             */
            diskAmount: number;
            /**
             * Format: double
             * @description 0: the network is in the price.
             */
            networkingAmount: number;
        };
        /** @description The window, on the borders of buckets. */
        ClusterBillingQuery: {
            /** Format: date-time */
            startTime: string;
            /**
             * Format: date-time
             * @description Not included.
             */
            endTime: string;
            bucketSize: components["schemas"]["BillingBucketSize"];
            clusterId?: string | null;
        };
        /** @description What was asked for, and its sums. */
        ClusterBillingMetadata: {
            query: components["schemas"]["ClusterBillingQuery"];
            recordCount: number;
            uniqueClusterCount: number;
            totals: components["schemas"]["ClusterBillingAmounts"];
        };
        ClusterBillingList: {
            records: components["schemas"]["ClusterBillingRecord"][];
            metadata: components["schemas"]["ClusterBillingMetadata"];
        };
    };
    responses: {
        /** @description The bearer key is missing, malformed, expired or invalid. */
        Unauthenticated: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Malformed JSON, or a conflict with a rule of the service. */
        Rejected: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The spend limit of the key does not allow it. */
        OverSpend: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The key lacks the scope. */
        Forbidden: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The resource does not exist or is not the caller's. */
        NotFound: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The pod does not allow it: its status, its lock, or the cluster that it belongs to. */
        Conflict: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is one of that name. */
        NameTaken: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The endpoint is declared by the settings of the server, which alone change what was asked for. */
        Declared: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is over the size limit. */
        TooLarge: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is not application/json. */
        UnsupportedMediaType: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body or a parameter breaks its schema; one line for each violation in errors. */
        Invalid: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A rate limit is exceeded; detail names the window. */
        TooMany: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Any other failure. */
        Problem: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description The nextCursor of the page before; without it, the list begins with its first page. A cursor is good for the caller, the operation and the parameters that gave it; limit may differ. */
        Cursor: string;
        /** @description How many a page has at most; 1000 without it. */
        Limit: number;
        /** @description How many a page has at most; 100 without it. */
        LimitBuilds: number;
        /** @description Only lines of this source; absent, those of both. */
        LogSourceParam: components["schemas"]["LogSource"];
        /** @description How many of the last lines it begins with; 0, with none. */
        LogTail: number;
        /** @description It begins with the lines from this time on, however many; tail does not count then. */
        LogSince: string;
        /** @description It begins after the line of this id; neither tail nor since count then. */
        LogLastEventID: string;
        /** @description AVAILABILITY needs product. */
        CatalogInclude: "AVAILABILITY"[];
        /** @description What it is wanted for; with several, the best availability of them counts. */
        GpuProduct: ("POD" | "CLUSTER" | "SERVERLESS")[];
        /** @description GPUs of one pod or worker; 1 without it. */
        GpuCount: number;
        /** @description Hosts of that cloud alone. */
        GpuCloud: components["schemas"]["CloudFilter"];
        /** @description Hosts in one of these countries alone. */
        CountryCodes: string[];
        /** @description Hosts with one of these versions alone. */
        CudaVersions: string[];
        /** @description Hosts with this version or a later one alone; versions are compared number by number. */
        MinCudaVersion: string;
        /** @description What it is wanted for; with several, the best availability of them counts. */
        CpuProduct: ("POD" | "SERVERLESS")[];
        /** @description vCPUs of one pod or worker; the flavor's minimum without it. */
        VcpuCount: number;
        /** @description What is to be shown of what is free. */
        DataCenterInclude: ("GPU_AVAILABILITY" | "CPU_AVAILABILITY")[];
        /** @description One of them. */
        Regions: components["schemas"]["DataCenterRegion"][];
        /** @description All of them. */
        NetworkVolumeTypes: components["schemas"]["VolumeType"][];
        /** @description All of them. */
        ComplianceFilter: components["schemas"]["Compliance"][];
        /** @description With global networking, or without. */
        GlobalNetwork: boolean;
        /** @description Who answers for them. */
        TemplateSource: "official" | "verified" | "community";
        /** @description Brought back to the beginning of its bucket; 30 days before endTime without it. */
        BillingStartTime: string;
        /** @description Brought forward to the end of its bucket, which is not included; now without it. */
        BillingEndTime: string;
        /** @description What a record is for, in UTC; weeks begin on Monday. */
        BillingBucketSize: components["schemas"]["BillingBucketSize"];
        /** @description The last buckets, the present one included, in place of startTime and endTime. */
        BillingLastN: number;
    };
    requestBodies: never;
    headers: {
        /** @description Requests left (r) and seconds until reset (t) in each window; absent for exempt keys. */
        RateLimit: string;
        /** @description Quota (q) and length in seconds (w) of each window; absent for exempt keys. */
        "RateLimit-Policy": string;
        /** @description no-cache. */
        "No-Cache": string;
        /** @description no, so that no proxy holds lines back. */
        "No-Buffering": string;
        /** @description Seconds to wait. */
        "Retry-After": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listPods: {
        parameters: {
            query?: {
                /** @description Also list the members of clusters. */
                includeClusterPods?: boolean;
                /** @description The nextCursor of the page before; without it, the list begins with its first page. A cursor is good for the caller, the operation and the parameters that gave it; limit may differ. */
                cursor?: components["parameters"]["Cursor"];
                /** @description How many a page has at most; 1000 without it. */
                limit?: components["parameters"]["Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pods. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PodList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    createPod: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreatePodRequest"];
            };
        };
        responses: {
            /** @description The pod, PROVISIONING. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pod"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            402: components["responses"]["OverSpend"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    getPod: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The pod's id.
                 * @example k3x9q2m7w1ab5c
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pod. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pod"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    deletePod: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The pod's id.
                 * @example k3x9q2m7w1ab5c
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    updatePod: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The pod's id.
                 * @example k3x9q2m7w1ab5c
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdatePodRequest"];
            };
        };
        responses: {
            /** @description The pod. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pod"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    podAction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The pod's id.
                 * @example k3x9q2m7w1ab5c
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PodActionRequest"];
            };
        };
        responses: {
            /** @description The pod. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pod"];
                };
            };
            /** @description Terminated. */
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            402: components["responses"]["OverSpend"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    getPodLogs: {
        parameters: {
            query?: {
                /** @description Only lines of this source; absent, those of both. */
                source?: components["parameters"]["LogSourceParam"];
                /** @description How many of the last lines it begins with; 0, with none. */
                tail?: components["parameters"]["LogTail"];
                /** @description It begins with the lines from this time on, however many; tail does not count then. */
                since?: components["parameters"]["LogSince"];
            };
            header?: {
                /** @description It begins after the line of this id; neither tail nor since count then. */
                "Last-Event-ID"?: components["parameters"]["LogLastEventID"];
            };
            path: {
                /**
                 * @description The pod's id.
                 * @example k3x9q2m7w1ab5c
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The lines. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Cache-Control": components["headers"]["No-Cache"];
                    "X-Accel-Buffering": components["headers"]["No-Buffering"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listGpuTypes: {
        parameters: {
            query?: {
                /** @description AVAILABILITY needs product. */
                include?: components["parameters"]["CatalogInclude"];
                /** @description What it is wanted for; with several, the best availability of them counts. */
                product?: components["parameters"]["GpuProduct"];
                /** @description GPUs of one pod or worker; 1 without it. */
                count?: components["parameters"]["GpuCount"];
                /** @description Hosts of that cloud alone. */
                cloud?: components["parameters"]["GpuCloud"];
                /** @description Hosts in one of these countries alone. */
                countryCodes?: components["parameters"]["CountryCodes"];
                /** @description Hosts with one of these versions alone. */
                cudaVersions?: components["parameters"]["CudaVersions"];
                /** @description Hosts with this version or a later one alone; versions are compared number by number. */
                minCudaVersion?: components["parameters"]["MinCudaVersion"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The GPU types. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GpuTypeList"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    getGpuType: {
        parameters: {
            query?: {
                /** @description AVAILABILITY needs product. */
                include?: components["parameters"]["CatalogInclude"];
                /** @description What it is wanted for; with several, the best availability of them counts. */
                product?: components["parameters"]["GpuProduct"];
                /** @description GPUs of one pod or worker; 1 without it. */
                count?: components["parameters"]["GpuCount"];
                /** @description Hosts of that cloud alone. */
                cloud?: components["parameters"]["GpuCloud"];
                /** @description Hosts in one of these countries alone. */
                countryCodes?: components["parameters"]["CountryCodes"];
                /** @description Hosts with one of these versions alone. */
                cudaVersions?: components["parameters"]["CudaVersions"];
                /** @description Hosts with this version or a later one alone; versions are compared number by number. */
                minCudaVersion?: components["parameters"]["MinCudaVersion"];
            };
            header?: never;
            path: {
                /**
                 * @description The GPU type's id.
                 * @example NVIDIA L4
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The GPU type. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GpuType"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listCpuTypes: {
        parameters: {
            query?: {
                /** @description AVAILABILITY needs product. */
                include?: components["parameters"]["CatalogInclude"];
                /** @description What it is wanted for; with several, the best availability of them counts. */
                product?: components["parameters"]["CpuProduct"];
                /** @description vCPUs of one pod or worker; the flavor's minimum without it. */
                vcpuCount?: components["parameters"]["VcpuCount"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The CPU flavors. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CpuTypeList"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    getCpuType: {
        parameters: {
            query?: {
                /** @description AVAILABILITY needs product. */
                include?: components["parameters"]["CatalogInclude"];
                /** @description What it is wanted for; with several, the best availability of them counts. */
                product?: components["parameters"]["CpuProduct"];
                /** @description vCPUs of one pod or worker; the flavor's minimum without it. */
                vcpuCount?: components["parameters"]["VcpuCount"];
            };
            header?: never;
            path: {
                /**
                 * @description The flavor's id.
                 * @example cpu3g
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The CPU flavor. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CpuType"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listDataCenters: {
        parameters: {
            query?: {
                /** @description What is to be shown of what is free. */
                include?: components["parameters"]["DataCenterInclude"];
                /** @description One of them. */
                regions?: components["parameters"]["Regions"];
                /** @description All of them. */
                networkVolumeTypes?: components["parameters"]["NetworkVolumeTypes"];
                /** @description All of them. */
                compliance?: components["parameters"]["ComplianceFilter"];
                /** @description With global networking, or without. */
                globalNetwork?: components["parameters"]["GlobalNetwork"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The data centers. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DataCenterList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    getDataCenter: {
        parameters: {
            query?: {
                /** @description What is to be shown of what is free. */
                include?: components["parameters"]["DataCenterInclude"];
            };
            header?: never;
            path: {
                /**
                 * @description The data center's id.
                 * @example EU-RO-1
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The data center. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DataCenter"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listPublicTemplates: {
        parameters: {
            query?: {
                /** @description Who answers for them. */
                source?: components["parameters"]["TemplateSource"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description At most 100 templates. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublicTemplateList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listNetworkVolumes: {
        parameters: {
            query?: {
                /** @description The nextCursor of the page before; without it, the list begins with its first page. A cursor is good for the caller, the operation and the parameters that gave it; limit may differ. */
                cursor?: components["parameters"]["Cursor"];
                /** @description How many a page has at most; 1000 without it. */
                limit?: components["parameters"]["Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The network volumes. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NetworkVolumeList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    createNetworkVolume: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateNetworkVolumeRequest"];
            };
        };
        responses: {
            /** @description The network volume. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NetworkVolume"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    getNetworkVolume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The network volume's id.
                 * @example agv6w2qcg7
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The network volume. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NetworkVolume"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    deleteNetworkVolume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The network volume's id.
                 * @example agv6w2qcg7
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    updateNetworkVolume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The network volume's id.
                 * @example agv6w2qcg7
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateNetworkVolumeRequest"];
            };
        };
        responses: {
            /** @description The network volume. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NetworkVolume"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listGlobalVolumes: {
        parameters: {
            query?: {
                /** @description The nextCursor of the page before; without it, the list begins with its first page. A cursor is good for the caller, the operation and the parameters that gave it; limit may differ. */
                cursor?: components["parameters"]["Cursor"];
                /** @description How many a page has at most; 1000 without it. */
                limit?: components["parameters"]["Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The global volumes. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GlobalVolumeList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    createGlobalVolume: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateGlobalVolumeRequest"];
            };
        };
        responses: {
            /** @description The global volume. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GlobalVolume"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    getGlobalVolume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The global volume's id.
                 * @example agv6w2qcg7
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The global volume. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GlobalVolume"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    deleteGlobalVolume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The global volume's id.
                 * @example agv6w2qcg7
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    updateGlobalVolume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The global volume's id.
                 * @example agv6w2qcg7
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateGlobalVolumeRequest"];
            };
        };
        responses: {
            /** @description The global volume. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GlobalVolume"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listRegistries: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The credentials. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegistryList"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    createRegistry: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateRegistryRequest"];
            };
        };
        responses: {
            /** @description The credential. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registry"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    getRegistry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The credential's id.
                 * @example clzdaifot0001l90809257ynb
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The credential. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registry"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    deleteRegistry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The credential's id.
                 * @example clzdaifot0001l90809257ynb
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listDelegations: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delegations. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DelegationList"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    createDelegation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateDelegationRequest"];
            };
        };
        responses: {
            /** @description The delegation. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EcrDelegation"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    revokeDelegation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The delegation's id.
                 * @example del_8f3k2m
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoked. */
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listTemplates: {
        parameters: {
            query?: {
                /** @description The nextCursor of the page before; without it, the list begins with its first page. A cursor is good for the caller, the operation and the parameters that gave it; limit may differ. */
                cursor?: components["parameters"]["Cursor"];
                /** @description How many a page has at most; 1000 without it. */
                limit?: components["parameters"]["Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The templates. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TemplateList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    createTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTemplateRequest"];
            };
        };
        responses: {
            /** @description The template. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    getTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The template's id.
                 * @example 30zmvf89kd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The template. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    deleteTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The template's id.
                 * @example 30zmvf89kd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    updateTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The template's id.
                 * @example 30zmvf89kd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateTemplateRequest"];
            };
        };
        responses: {
            /** @description The template. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listSecrets: {
        parameters: {
            query?: {
                /**
                 * @description Only the secret of this name, whatever its case.
                 * @example hf_token
                 */
                name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The secrets. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretList"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    createSecret: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSecretRequest"];
            };
        };
        responses: {
            /** @description The secret. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Secret"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["NameTaken"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    getSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The secret's id.
                 * @example s8x2k4m1q9z7ab
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The secret. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Secret"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    deleteSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The secret's id.
                 * @example s8x2k4m1q9z7ab
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    updateSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The secret's id.
                 * @example s8x2k4m1q9z7ab
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateSecretRequest"];
            };
        };
        responses: {
            /** @description The secret. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Secret"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    getSshKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The keys. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SshKeys"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    updateSshKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateSshKeysRequest"];
            };
        };
        responses: {
            /** @description The keys. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SshKeys"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listClusters: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The clusters. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClusterList"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    createCluster: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateClusterRequest"];
            };
        };
        responses: {
            /** @description The cluster. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cluster"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            402: components["responses"]["OverSpend"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    getCluster: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The cluster's id.
                 * @example c7h2p9x4s1
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The cluster. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cluster"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    deleteCluster: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The cluster's id.
                 * @example c7h2p9x4s1
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    updateCluster: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The cluster's id.
                 * @example c7h2p9x4s1
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateClusterRequest"];
            };
        };
        responses: {
            /** @description The cluster. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cluster"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listClusterPods: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The cluster's id.
                 * @example c7h2p9x4s1
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pods. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClusterPodList"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listEndpoints: {
        parameters: {
            query?: {
                /** @description The nextCursor of the page before; without it, the list begins with its first page. A cursor is good for the caller, the operation and the parameters that gave it; limit may differ. */
                cursor?: components["parameters"]["Cursor"];
                /** @description How many a page has at most; 1000 without it. */
                limit?: components["parameters"]["Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoints. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    createEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateEndpointRequest"];
            };
        };
        responses: {
            /** @description The endpoint. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Endpoint"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    getEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Endpoint"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    deleteEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    updateEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateEndpointRequest"];
            };
        };
        responses: {
            /** @description The endpoint. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Endpoint"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Declared"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listEndpointWorkers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workers. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    getWorkerLogs: {
        parameters: {
            query?: {
                /** @description Only lines of this source; absent, those of both. */
                source?: components["parameters"]["LogSourceParam"];
                /** @description How many of the last lines it begins with; 0, with none. */
                tail?: components["parameters"]["LogTail"];
                /** @description It begins with the lines from this time on, however many; tail does not count then. */
                since?: components["parameters"]["LogSince"];
            };
            header?: {
                /** @description It begins after the line of this id; neither tail nor since count then. */
                "Last-Event-ID"?: components["parameters"]["LogLastEventID"];
            };
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                id: string;
                /**
                 * @description The worker's id.
                 * @example w5j8d2f7h4
                 */
                workerId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The lines. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Cache-Control": components["headers"]["No-Cache"];
                    "X-Accel-Buffering": components["headers"]["No-Buffering"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listEndpointBuilds: {
        parameters: {
            query?: {
                /** @description The nextCursor of the page before; without it, the list begins with its first page. A cursor is good for the caller, the operation and the parameters that gave it; limit may differ. */
                cursor?: components["parameters"]["Cursor"];
                /** @description How many a page has at most; 100 without it. */
                limit?: components["parameters"]["LimitBuilds"];
            };
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The builds. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BuildList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    getEndpointBuild: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                id: string;
                /**
                 * @description The build's id.
                 * @example b5j8d2f7h4k1m9
                 */
                buildId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The build. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Build"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    getBuildLogs: {
        parameters: {
            query?: {
                /** @description Only lines of this source; absent, those of both. */
                source?: components["parameters"]["LogSourceParam"];
                /** @description How many of the last lines it begins with; 0, with none. */
                tail?: components["parameters"]["LogTail"];
                /** @description It begins with the lines from this time on, however many; tail does not count then. */
                since?: components["parameters"]["LogSince"];
            };
            header?: {
                /** @description It begins after the line of this id; neither tail nor since count then. */
                "Last-Event-ID"?: components["parameters"]["LogLastEventID"];
            };
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                id: string;
                /**
                 * @description The build's id.
                 * @example b5j8d2f7h4k1m9
                 */
                buildId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The lines. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Cache-Control": components["headers"]["No-Cache"];
                    "X-Accel-Buffering": components["headers"]["No-Buffering"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listEndpointReleases: {
        parameters: {
            query?: {
                /** @description The nextCursor of the page before; without it, the list begins with its first page. A cursor is good for the caller, the operation and the parameters that gave it; limit may differ. */
                cursor?: components["parameters"]["Cursor"];
                /** @description How many a page has at most; 1000 without it. */
                limit?: components["parameters"]["Limit"];
            };
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The releases. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReleaseList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listBilling: {
        parameters: {
            query?: {
                /** @description Brought back to the beginning of its bucket; 30 days before endTime without it. */
                startTime?: components["parameters"]["BillingStartTime"];
                /** @description Brought forward to the end of its bucket, which is not included; now without it. */
                endTime?: components["parameters"]["BillingEndTime"];
                /** @description What a record is for, in UTC; weeks begin on Monday. */
                bucketSize?: components["parameters"]["BillingBucketSize"];
                /** @description The last buckets, the present one included, in place of startTime and endTime. */
                lastN?: components["parameters"]["BillingLastN"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bill, newest records first. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BillingList"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listPodBilling: {
        parameters: {
            query?: {
                /** @description Brought back to the beginning of its bucket; 30 days before endTime without it. */
                startTime?: components["parameters"]["BillingStartTime"];
                /** @description Brought forward to the end of its bucket, which is not included; now without it. */
                endTime?: components["parameters"]["BillingEndTime"];
                /** @description What a record is for, in UTC; weeks begin on Monday. */
                bucketSize?: components["parameters"]["BillingBucketSize"];
                /** @description The last buckets, the present one included, in place of startTime and endTime. */
                lastN?: components["parameters"]["BillingLastN"];
                /** @description That pod alone. */
                podId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bill, newest records first. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PodBillingList"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listServerlessBilling: {
        parameters: {
            query?: {
                /** @description Brought back to the beginning of its bucket; 30 days before endTime without it. */
                startTime?: components["parameters"]["BillingStartTime"];
                /** @description Brought forward to the end of its bucket, which is not included; now without it. */
                endTime?: components["parameters"]["BillingEndTime"];
                /** @description What a record is for, in UTC; weeks begin on Monday. */
                bucketSize?: components["parameters"]["BillingBucketSize"];
                /** @description The last buckets, the present one included, in place of startTime and endTime. */
                lastN?: components["parameters"]["BillingLastN"];
                /** @description That endpoint alone. */
                serverlessId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bill, newest records first. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerlessBillingList"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listEndpointBilling: {
        parameters: {
            query?: {
                /** @description Brought back to the beginning of its bucket; 30 days before endTime without it. */
                startTime?: components["parameters"]["BillingStartTime"];
                /** @description Brought forward to the end of its bucket, which is not included; now without it. */
                endTime?: components["parameters"]["BillingEndTime"];
                /** @description What a record is for, in UTC; weeks begin on Monday. */
                bucketSize?: components["parameters"]["BillingBucketSize"];
                /** @description The last buckets, the present one included, in place of startTime and endTime. */
                lastN?: components["parameters"]["BillingLastN"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bill, newest records first. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointBillingList"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listNetworkVolumeBilling: {
        parameters: {
            query?: {
                /** @description Brought back to the beginning of its bucket; 30 days before endTime without it. */
                startTime?: components["parameters"]["BillingStartTime"];
                /** @description Brought forward to the end of its bucket, which is not included; now without it. */
                endTime?: components["parameters"]["BillingEndTime"];
                /** @description What a record is for, in UTC; weeks begin on Monday. */
                bucketSize?: components["parameters"]["BillingBucketSize"];
                /** @description The last buckets, the present one included, in place of startTime and endTime. */
                lastN?: components["parameters"]["BillingLastN"];
                /** @description That network volume alone. */
                networkVolumeId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bill, newest records first. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NetworkVolumeBillingList"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    listClusterBilling: {
        parameters: {
            query?: {
                /** @description Brought back to the beginning of its bucket; 30 days before endTime without it. */
                startTime?: components["parameters"]["BillingStartTime"];
                /** @description Brought forward to the end of its bucket, which is not included; now without it. */
                endTime?: components["parameters"]["BillingEndTime"];
                /** @description What a record is for, in UTC; weeks begin on Monday. */
                bucketSize?: components["parameters"]["BillingBucketSize"];
                /** @description The last buckets, the present one included, in place of startTime and endTime. */
                lastN?: components["parameters"]["BillingLastN"];
                /** @description That cluster alone. */
                clusterId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bill, newest records first. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClusterBillingList"];
                };
            };
            400: components["responses"]["Rejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
}
