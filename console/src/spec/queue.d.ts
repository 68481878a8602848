// Generated from spec/queue.yaml by types.mjs.
export interface paths {
    "/v2/{endpointId}/run": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit a job
         * @description Answers once the job is on disk. The body is limited to 10 MB (10^6 bytes each).
         */
        post: operations["run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/{endpointId}/runsync": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit a job and wait for its end
         * @description When the wait ends first, the answer carries the id and the current status. The body is limited to 20 MB.
         */
        post: operations["runSync"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/{endpointId}/status/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
                /**
                 * @description The job's id, as /run or /runsync gave it.
                 * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
                 */
                jobId: components["parameters"]["jobId"];
            };
            cookie?: never;
        };
        /**
         * Read a job
         * @description The status document. A job is found until the retention of its result is over.
         */
        get: operations["status"];
        put?: never;
        /**
         * Read a job
         * @description The status document. A job is found until the retention of its result is over.
         */
        post: operations["statusPost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/{endpointId}/status-sync/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
                /**
                 * @description The job's id, as /run or /runsync gave it.
                 * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
                 */
                jobId: components["parameters"]["jobId"];
            };
            cookie?: never;
        };
        /**
         * Wait for a job's end
         * @description The status document, held until the job ends or the wait is over.
         */
        get: operations["statusSync"];
        put?: never;
        /**
         * Wait for a job's end
         * @description The status document, held until the job ends or the wait is over.
         */
        post: operations["statusSyncPost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/{endpointId}/stream/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
                /**
                 * @description The job's id, as /run or /runsync gave it.
                 * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
                 */
                jobId: components["parameters"]["jobId"];
            };
            cookie?: never;
        };
        /**
         * Read the next chunks of a job's output
         * @description The chunks that no read was given before, held for the first one until the wait is over. The last chunks come with the final status. The answer is an object when the key comes after Bearer and Accept is not exactly application/json, otherwise the bare array.
         */
        get: operations["stream"];
        put?: never;
        /**
         * Read the next chunks of a job's output
         * @description The chunks that no read was given before, held for the first one until the wait is over. The last chunks come with the final status. The answer is an object when the key comes after Bearer and Accept is not exactly application/json, otherwise the bare array.
         */
        post: operations["streamPost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/{endpointId}/retry/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
                /**
                 * @description The job's id, as /run or /runsync gave it.
                 * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
                 */
                jobId: components["parameters"]["jobId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a failed or timed out job again
         * @description Under its id, with its input and without its output, as long as its result has not expired.
         */
        post: operations["retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/{endpointId}/purge-queue": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel every waiting job
         * @description Jobs in progress go on.
         */
        post: operations["purgeQueue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/{endpointId}/cancel/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
                /**
                 * @description The job's id, as /run or /runsync gave it.
                 * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
                 */
                jobId: components["parameters"]["jobId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a job
         * @description A waiting job never starts, a job in progress is stopped, a finished job keeps its status.
         */
        post: operations["cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/{endpointId}/health": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        /**
         * Count jobs and workers
         * @description How many jobs and workers of the endpoint are in which state.
         */
        get: operations["health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/{endpointId}/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        /**
         * Count workers and name those that are ready
         * @description The workers as health counts them, and the ids of those that would take a job now.
         */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/{endpointId}/openai/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have a worker that speaks the OpenAI API answer
         * @description The call becomes a job whose input has the path below /openai as openai_route and the body as openai_input. Without stream the answer is the worker's JSON object, with stream true its server-sent events as they come. The job is cancelled when the caller hangs up, and when nothing comes from it for 300 s. Query parameters are ignored. The body is limited to 20 MB.
         */
        post: operations["openAIChatCompletions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/{endpointId}/openai/v1/completions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have a worker that speaks the OpenAI API answer
         * @description The call becomes a job whose input has the path below /openai as openai_route and the body as openai_input. Without stream the answer is the worker's JSON object, with stream true its server-sent events as they come. The job is cancelled when the caller hangs up, and when nothing comes from it for 300 s. Query parameters are ignored. The body is limited to 20 MB.
         */
        post: operations["openAICompletions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/{endpointId}/openai/v1/responses": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have a worker that speaks the OpenAI API answer
         * @description The call becomes a job whose input has the path below /openai as openai_route and the body as openai_input. Without stream the answer is the worker's JSON object, with stream true its server-sent events as they come. The job is cancelled when the caller hangs up, and when nothing comes from it for 300 s. Query parameters are ignored. The body is limited to 20 MB.
         */
        post: operations["openAIResponses"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/{endpointId}/openai/v1/messages": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have a worker that speaks the OpenAI API answer
         * @description The call becomes a job whose input has the path below /openai as openai_route and the body as openai_input. Without stream the answer is the worker's JSON object, with stream true its server-sent events as they come. The job is cancelled when the caller hangs up, and when nothing comes from it for 300 s. Query parameters are ignored. The body is limited to 20 MB.
         */
        post: operations["openAIMessages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/{endpointId}/openai/v1/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have a worker that speaks the OpenAI API answer
         * @description The call becomes a job whose input has the path below /openai as openai_route and the body as openai_input. Without stream the answer is the worker's JSON object, with stream true its server-sent events as they come. The job is cancelled when the caller hangs up, and when nothing comes from it for 300 s. Query parameters are ignored. The body is limited to 20 MB.
         */
        post: operations["openAIEmbeddings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/{endpointId}/openai/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        /**
         * Have a worker that speaks the OpenAI API list its models
         * @description The input of the job has openai_route alone.
         */
        get: operations["openAIModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/{endpointId}/openai/v1/{route}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
                /**
                 * @description The path below v1, slashes too, such as models/a/b, rerank, audio/speech or images/generations.
                 * @example rerank
                 */
                route: components["parameters"]["route"];
            };
            cookie?: never;
        };
        /**
         * Have a worker that speaks the OpenAI API answer any other route without a body
         * @description The input of the job has openai_route alone.
         */
        get: operations["openAIRouteGet"];
        put?: never;
        /**
         * Have a worker that speaks the OpenAI API answer any other route
         * @description The call becomes a job whose input has the path below /openai as openai_route and the body as openai_input. Without stream the answer is the worker's JSON object, with stream true its server-sent events as they come. The job is cancelled when the caller hangs up, and when nothing comes from it for 300 s. Query parameters are ignored. The body is limited to 20 MB.
         */
        post: operations["openAIRoute"];
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
        /** @description What went wrong, as application/problem+json. There is no integer status member: a client that reads status from any body would poll on. */
        Problem: {
            /** @description Short summary. */
            title: string;
            /** @description Explanation. */
            detail: string;
            /** @description The same text as detail. */
            error: string;
            /** @description One line for each violation, beginning with a JSON Pointer or the parameter's name. */
            errors?: string[];
        };
        /** @description Any JSON object; it is carried as it was sent. */
        OpenAIRequest: {
            /** @description Whether the answer is to come as server-sent events. */
            stream?: boolean | null;
        } & {
            [key: string]: unknown;
        };
        /** @description The worker's JSON object, carried. */
        OpenAIAnswer: Record<string, never>;
        /** @description What went wrong, as application/problem+json whose error member is the error object of the OpenAI API. */
        OpenAIProblem: {
            /** @description Short summary. */
            title: string;
            /** @description Explanation. */
            detail: string;
            /** @description message, type and code; or the error object of the worker, carried. */
            error: {
                [key: string]: unknown;
            };
            /** @description One line for each violation, beginning with a JSON Pointer or the parameter's name. */
            errors?: string[];
        };
        Submission: {
            /** @description What the handler gets; carried as it was sent. */
            input: {
                [key: string]: unknown;
            };
            /**
             * Format: uri
             * @description Where the status document is posted when the job ends. http or https, in whatever case, with a host.
             */
            webhook?: string;
            policy?: components["schemas"]["Policy"];
            /** @description Handed to the worker, never shown again. */
            s3Config?: {
                [key: string]: unknown;
            };
        };
        Policy: {
            /** @description Milliseconds in progress. By default it is the timeout of the endpoint, which is 300,000, or 600,000 where the settings of the server declare the endpoint, unless it is set. */
            executionTimeout?: number;
            /**
             * @description Milliseconds from submission.
             * @default 86400000
             */
            ttl: number;
            /**
             * @description Served after the others; starts no worker.
             * @default false
             */
            lowPriority: boolean;
        };
        /** @enum {string} */
        JobStatus: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED" | "FAILED" | "CANCELLED" | "TIMED_OUT";
        Job: {
            id: string;
            status: components["schemas"]["JobStatus"];
            /** @description What the handler returned, or its latest progress. */
            output?: unknown;
            error?: string;
            /** @description Milliseconds from submission to the take. */
            delayTime?: number;
            /** @description Milliseconds from the take to the end. */
            executionTime?: number;
            workerId?: string;
            retries?: number;
        };
        Chunk: {
            /** @description What the handler yielded. */
            output: unknown;
            /** @description What the worker measured for it, if it did. */
            metrics?: unknown;
        };
        Chunks: components["schemas"]["Chunk"][];
        Stream: {
            status: components["schemas"]["JobStatus"];
            stream: components["schemas"]["Chunks"];
        };
        Purged: {
            removed: number;
            /** @constant */
            status: "completed";
        };
        Health: {
            jobs: components["schemas"]["JobCounts"];
            workers: components["schemas"]["WorkerCounts"];
        };
        Metrics: {
            /** @description Ids of the workers that are ready, in their order. */
            readyWorkers: string[];
            workers: components["schemas"]["WorkerCounts"];
        };
        JobCounts: {
            completed: number;
            failed: number;
            inProgress: number;
            inQueue: number;
            retried: number;
        };
        WorkerCounts: {
            idle: number;
            initializing: number;
            ready: number;
            running: number;
            throttled: number;
            unhealthy: number;
        };
    };
    responses: {
        /** @description What went wrong. */
        Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A rate limit is exceeded; only a server that is set to has one. */
        TooMany: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description What went wrong, in the words of the OpenAI API too. */
        OpenAIProblem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["OpenAIProblem"];
            };
        };
        /** @description A rate limit is exceeded; only a server that is set to has one. */
        OpenAITooMany: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["OpenAIProblem"];
            };
        };
    };
    parameters: {
        /**
         * @description The endpoint's id.
         * @example q8z3v6t1n5rk2d
         */
        endpointId: string;
        /**
         * @description The path below v1, slashes too, such as models/a/b, rerank, audio/speech or images/generations.
         * @example rerank
         */
        route: string;
        /**
         * @description The job's id, as /run or /runsync gave it.
         * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
         */
        jobId: string;
        /** @description How long to wait for the end, in milliseconds. */
        wait: number;
    };
    requestBodies: never;
    headers: {
        /** @description Seconds after which the limit is a fresh one. */
        "Retry-After": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Submission"];
            };
        };
        responses: {
            /** @description The job, IN_QUEUE. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    runSync: {
        parameters: {
            query?: {
                /** @description How long to wait for the end, in milliseconds. */
                wait?: components["parameters"]["wait"];
            };
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Submission"];
            };
        };
        responses: {
            /** @description The job. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    status: {
        parameters: {
            query?: {
                /** @description Sets the job's remaining time to live, in milliseconds from now, to 7 days at most. The result of an ended job is kept for no longer than that. */
                ttl?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
                /**
                 * @description The job's id, as /run or /runsync gave it.
                 * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
                 */
                jobId: components["parameters"]["jobId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    statusPost: {
        parameters: {
            query?: {
                /** @description Sets the job's remaining time to live, in milliseconds from now, to 7 days at most. The result of an ended job is kept for no longer than that. */
                ttl?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
                /**
                 * @description The job's id, as /run or /runsync gave it.
                 * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
                 */
                jobId: components["parameters"]["jobId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    statusSync: {
        parameters: {
            query?: {
                /** @description How long to wait for the end, in milliseconds. */
                wait?: components["parameters"]["wait"];
            };
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
                /**
                 * @description The job's id, as /run or /runsync gave it.
                 * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
                 */
                jobId: components["parameters"]["jobId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    statusSyncPost: {
        parameters: {
            query?: {
                /** @description How long to wait for the end, in milliseconds. */
                wait?: components["parameters"]["wait"];
            };
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
                /**
                 * @description The job's id, as /run or /runsync gave it.
                 * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
                 */
                jobId: components["parameters"]["jobId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    stream: {
        parameters: {
            query?: {
                /** @description How long to wait for the first chunk, in milliseconds. */
                wait?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
                /**
                 * @description The job's id, as /run or /runsync gave it.
                 * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
                 */
                jobId: components["parameters"]["jobId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The chunks. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Chunks"] | components["schemas"]["Stream"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    streamPost: {
        parameters: {
            query?: {
                /** @description How long to wait for the first chunk, in milliseconds. */
                wait?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
                /**
                 * @description The job's id, as /run or /runsync gave it.
                 * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
                 */
                jobId: components["parameters"]["jobId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The chunks. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Chunks"] | components["schemas"]["Stream"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    retry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
                /**
                 * @description The job's id, as /run or /runsync gave it.
                 * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
                 */
                jobId: components["parameters"]["jobId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    purgeQueue: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How many there were. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Purged"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
                /**
                 * @description The job's id, as /run or /runsync gave it.
                 * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
                 */
                jobId: components["parameters"]["jobId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    health: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    metrics: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts and the ids. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Metrics"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    openAIChatCompletions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenAIRequest"];
            };
        };
        responses: {
            /** @description What the worker answered. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIAnswer"];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["OpenAIProblem"];
            401: components["responses"]["OpenAIProblem"];
            403: components["responses"]["OpenAIProblem"];
            404: components["responses"]["OpenAIProblem"];
            409: components["responses"]["OpenAIProblem"];
            413: components["responses"]["OpenAIProblem"];
            415: components["responses"]["OpenAIProblem"];
            422: components["responses"]["OpenAIProblem"];
            429: components["responses"]["OpenAITooMany"];
            500: components["responses"]["OpenAIProblem"];
            502: components["responses"]["OpenAIProblem"];
            504: components["responses"]["OpenAIProblem"];
            default: components["responses"]["OpenAIProblem"];
        };
    };
    openAICompletions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenAIRequest"];
            };
        };
        responses: {
            /** @description What the worker answered. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIAnswer"];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["OpenAIProblem"];
            401: components["responses"]["OpenAIProblem"];
            403: components["responses"]["OpenAIProblem"];
            404: components["responses"]["OpenAIProblem"];
            409: components["responses"]["OpenAIProblem"];
            413: components["responses"]["OpenAIProblem"];
            415: components["responses"]["OpenAIProblem"];
            422: components["responses"]["OpenAIProblem"];
            429: components["responses"]["OpenAITooMany"];
            500: components["responses"]["OpenAIProblem"];
            502: components["responses"]["OpenAIProblem"];
            504: components["responses"]["OpenAIProblem"];
            default: components["responses"]["OpenAIProblem"];
        };
    };
    openAIResponses: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenAIRequest"];
            };
        };
        responses: {
            /** @description What the worker answered. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIAnswer"];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["OpenAIProblem"];
            401: components["responses"]["OpenAIProblem"];
            403: components["responses"]["OpenAIProblem"];
            404: components["responses"]["OpenAIProblem"];
            409: components["responses"]["OpenAIProblem"];
            413: components["responses"]["OpenAIProblem"];
            415: components["responses"]["OpenAIProblem"];
            422: components["responses"]["OpenAIProblem"];
            429: components["responses"]["OpenAITooMany"];
            500: components["responses"]["OpenAIProblem"];
            502: components["responses"]["OpenAIProblem"];
            504: components["responses"]["OpenAIProblem"];
            default: components["responses"]["OpenAIProblem"];
        };
    };
    openAIMessages: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenAIRequest"];
            };
        };
        responses: {
            /** @description What the worker answered. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIAnswer"];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["OpenAIProblem"];
            401: components["responses"]["OpenAIProblem"];
            403: components["responses"]["OpenAIProblem"];
            404: components["responses"]["OpenAIProblem"];
            409: components["responses"]["OpenAIProblem"];
            413: components["responses"]["OpenAIProblem"];
            415: components["responses"]["OpenAIProblem"];
            422: components["responses"]["OpenAIProblem"];
            429: components["responses"]["OpenAITooMany"];
            500: components["responses"]["OpenAIProblem"];
            502: components["responses"]["OpenAIProblem"];
            504: components["responses"]["OpenAIProblem"];
            default: components["responses"]["OpenAIProblem"];
        };
    };
    openAIEmbeddings: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenAIRequest"];
            };
        };
        responses: {
            /** @description What the worker answered. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIAnswer"];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["OpenAIProblem"];
            401: components["responses"]["OpenAIProblem"];
            403: components["responses"]["OpenAIProblem"];
            404: components["responses"]["OpenAIProblem"];
            409: components["responses"]["OpenAIProblem"];
            413: components["responses"]["OpenAIProblem"];
            415: components["responses"]["OpenAIProblem"];
            422: components["responses"]["OpenAIProblem"];
            429: components["responses"]["OpenAITooMany"];
            500: components["responses"]["OpenAIProblem"];
            502: components["responses"]["OpenAIProblem"];
            504: components["responses"]["OpenAIProblem"];
            default: components["responses"]["OpenAIProblem"];
        };
    };
    openAIModels: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What the worker answered. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIAnswer"];
                };
            };
            401: components["responses"]["OpenAIProblem"];
            403: components["responses"]["OpenAIProblem"];
            404: components["responses"]["OpenAIProblem"];
            409: components["responses"]["OpenAIProblem"];
            422: components["responses"]["OpenAIProblem"];
            429: components["responses"]["OpenAITooMany"];
            500: components["responses"]["OpenAIProblem"];
            502: components["responses"]["OpenAIProblem"];
            504: components["responses"]["OpenAIProblem"];
            default: components["responses"]["OpenAIProblem"];
        };
    };
    openAIRouteGet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
                /**
                 * @description The path below v1, slashes too, such as models/a/b, rerank, audio/speech or images/generations.
                 * @example rerank
                 */
                route: components["parameters"]["route"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What the worker answered. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIAnswer"];
                };
            };
            401: components["responses"]["OpenAIProblem"];
            403: components["responses"]["OpenAIProblem"];
            404: components["responses"]["OpenAIProblem"];
            409: components["responses"]["OpenAIProblem"];
            422: components["responses"]["OpenAIProblem"];
            429: components["responses"]["OpenAITooMany"];
            500: components["responses"]["OpenAIProblem"];
            502: components["responses"]["OpenAIProblem"];
            504: components["responses"]["OpenAIProblem"];
            default: components["responses"]["OpenAIProblem"];
        };
    };
    openAIRoute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The endpoint's id.
                 * @example q8z3v6t1n5rk2d
                 */
                endpointId: components["parameters"]["endpointId"];
                /**
                 * @description The path below v1, slashes too, such as models/a/b, rerank, audio/speech or images/generations.
                 * @example rerank
                 */
                route: components["parameters"]["route"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenAIRequest"];
            };
        };
        responses: {
            /** @description What the worker answered. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAIAnswer"];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["OpenAIProblem"];
            401: components["responses"]["OpenAIProblem"];
            403: components["responses"]["OpenAIProblem"];
            404: components["responses"]["OpenAIProblem"];
            409: components["responses"]["OpenAIProblem"];
            413: components["responses"]["OpenAIProblem"];
            415: components["responses"]["OpenAIProblem"];
            422: components["responses"]["OpenAIProblem"];
            429: components["responses"]["OpenAITooMany"];
            500: components["responses"]["OpenAIProblem"];
            502: components["responses"]["OpenAIProblem"];
            504: components["responses"]["OpenAIProblem"];
            default: components["responses"]["OpenAIProblem"];
        };
    };
}
