// Generated from spec/controls.yaml by types.mjs.
export interface paths {
    "/_berth/clock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the clock
         * @description With whether it stands still and how many requests are held.
         */
        get: operations["getClock"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/clock/auto": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have the clock go to what is due by itself
         * @description From now on, whenever everything waits, the clock goes to the next thing that is due, which is then done, in the order of time. Everything waits when no request is worked at but those that are held or sleep, when no worker that berth does not play itself starts, has a job or serves a request, and when no request came for a moment, so that who was answered can ask for more. Meanwhile the clock stands still; it runs while such a worker is at work. Freeze and resume end it.
         */
        post: operations["autoClock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/clock/freeze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make the clock stand still
         * @description What waits for the clock waits until it is advanced or resumed.
         */
        post: operations["freezeClock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/clock/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make the clock run again from where it stands
         * @description What was advanced stays advanced.
         */
        post: operations["resumeClock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/clock/advance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set the clock forward
         * @description Goes from one thing that is due to the next, does each at its own time, and answers when all are done.
         */
        post: operations["advanceClock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/clock/sleep": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Wait on the clock
         * @description Answers when the clock has moved on by so much, however it came there. With a clock that goes by itself, a test waits like everybody else, and what it does then is done at that time.
         */
        post: operations["sleepClock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/clock/step": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have the time of day of the machine step
         * @description As when somebody sets the clock of the machine, or it is corrected. What people read steps; nothing falls due by it.
         */
        post: operations["stepClock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Forget everything but keys and endpoints
         * @description Keys, declared endpoints and the clock stay. Quotas, faults, the storage and the fleet go back to what the server was started with; the journal is empty. What the server's seed has is there again.
         */
        post: operations["resetState"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the keys
         * @description Of all users, the oldest first, without those of workers, for keys with the scope admin. What was revoked or has expired stays listed for a while.
         */
        get: operations["listKeys"];
        put?: never;
        /**
         * Make a key
         * @description With any scopes that the role of its user allows, for any user, which is made if there is none of the name; it may expire and be exempt from rate limits.
         */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/keys/{keyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a key
         * @description It gives 401 from then on.
         */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the users
         * @description The oldest first, for keys with the scope admin.
         */
        get: operations["listUsers"];
        put?: never;
        /**
         * Make a user
         * @description It has no key yet. A key that is made for a user that there is not makes it, too, as a member, or as an admin if the key has the scope admin.
         */
        post: operations["createUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/users/{userName}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the user.
                 * @example auditor
                 */
                userName: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a user
         * @description Its keys are revoked with it. One that has resources is not deleted, unless these are to stay as they are without a user.
         */
        delete: operations["deleteUser"];
        options?: never;
        head?: never;
        /**
         * Give a user another role, or disable or enable it
         * @description Its keys permit what they permit then from the next request on.
         */
        patch: operations["changeUser"];
        trace?: never;
    };
    "/_berth/quotas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set how many requests a user may make
         * @description The counts of the present windows start anew.
         */
        put: operations["setQuotas"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/faults": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the faults
         * @description In their order, with their counts.
         */
        get: operations["getFaults"];
        /**
         * Script what operations do wrong
         * @description Replaces all faults. A call meets one at most, the first in the list that it matches and whose turn it is; one before the operation comes first. A document of GraphQL may meet one before each of its fields.
         */
        put: operations["setFaults"];
        /**
         * Script one more fault
         * @description After those that there are.
         */
        post: operations["addFault"];
        /**
         * Take all faults back
         * @description A call that met one already goes on as it was scripted. A reset does it too.
         */
        delete: operations["clearFaults"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/faults/{faultId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Take one fault back
         * @description A call that met it already goes on as it was scripted.
         */
        delete: operations["deleteFault"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/endpoints/{endpointId}/script": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the endpoint.
                 * @example endpoint-id
                 */
                endpointId: string;
            };
            cookie?: never;
        };
        /**
         * Read the script of an endpoint
         * @description As it was set, with how often its answers were used.
         */
        get: operations["getScript"];
        /**
         * Script what the workers of an endpoint do
         * @description In place of a handler, and of the script that there was; the counts begin anew. Workers that run go on by it, coldStart is for those that start from now on, and jobs that a worker has end as the script said when they were taken. A reset and the end of the endpoint take it back.
         */
        put: operations["setScript"];
        post?: never;
        /**
         * Take the script of an endpoint back
         * @description Jobs that a worker has end as it said. An endpoint without one is no error.
         */
        delete: operations["deleteScript"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/states": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the saved states
         * @description By name. They are files below states of the data directory, of the server that answers.
         */
        get: operations["listStates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/states/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the state.
                 * @example before-upgrade
                 */
                name: string;
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Save everything under a name
         * @description All that is stored, as it is at one time, in place of what was saved under the name before. 409 where there are 100 states, or more in the server than one may have.
         */
        put: operations["saveState"];
        post?: never;
        /**
         * Delete a saved state
         * @description What the server has stays as it is.
         */
        delete: operations["deleteState"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/states/{name}/load": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the state.
                 * @example the-day-before
                 */
                name: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Go back to a saved state
         * @description As if the server were started again on what the state has, whatever version of berth saved it up to this one: requests that are held are answered, others wait. The key of the test controls stays; faults and the journal are empty, quotas are those of the settings. What falls due goes on from where it was. 409 where it cannot be loaded: a newer berth saved it, another secret key sealed what is in it, servers share the database, or the runtime is not the simulated one.
         */
        post: operations["loadState"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/journal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the requests that came
         * @description Those of the published interfaces that have been answered and that every filter matches, in the order in which they ended. The first after afterNumber, or without it the last.
         */
        get: operations["listJournal"];
        put?: never;
        post?: never;
        /**
         * Forget the requests that came
         * @description Numbers go on from where they were; dropped is 0 again. A reset does it too.
         */
        delete: operations["clearJournal"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/journal/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one request that came
         * @description As long as the journal keeps it.
         */
        get: operations["getJournalEntry"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/journal.har": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the requests that came as HAR
         * @description As HAR 1.2, which browsers and proxies read, with the same filters as the list. A body in base64 has its encoding in `_encoding`.
         */
        get: operations["exportJournal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/journal/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hold the requests that came against expectations
         * @description An expectation counts the entries that match all of its members. Those that do not hold are in failures, each with the entry that matches most of its members.
         */
        post: operations["verifyJournal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/costs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what would have been paid
         * @description For pods, clusters, endpoints and network volumes of all users, those that were deleted too, at the prices of the catalog and on the clock of the server: since its first start, or the last reset. What goes on costs up to now. Spans of time that meet come to exactly as much as the one that they make. A day that was summed, see `--charge-retention`, counts where it begins, in UTC.
         */
        get: operations["getCosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the log of webhooks
         * @description Deliveries stay in the log for a day after they are over.
         */
        get: operations["getWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/webhooks/{number}/deliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deliver a webhook again
         * @description One more delivery of the job's document, as it is now, to where the one of that number went. The log has it as an entry of its own.
         */
        post: operations["deliverWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/inbox/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive a webhook
         * @description An address for webhooks, of any name and without a key: what comes is in the journal, as requests of receiveWebhook with the name as their resource, where it is read and verified. Faults of receiveWebhook make a receiver that fails.
         */
        post: operations["receiveWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/fleet": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set how the simulated fleet behaves
         * @description It holds for pods that are created or started from now on.
         */
        put: operations["setFleet"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/interrupt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Interrupt pods or workers
         * @description As when somebody else gets their room: they get SIGTERM, and SIGKILL five seconds later. Pods are EXITED then, and can be started again; the jobs of workers go back to the queue. Without a member, every pod that is interruptible.
         */
        post: operations["interruptWork"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/hosts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the hosts of the fleet
         * @description In the order of the fleet, with what nobody holds of each.
         */
        get: operations["listHosts"];
        put?: never;
        /**
         * Add a host to the fleet
         * @description Pods and workers are placed on it from then on, also after the server was started again.
         */
        post: operations["addHost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/hosts/{hostId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the host in the fleet.
                 * @example box-7
                 */
                hostId: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Take a host out of the fleet
         * @description Pods that run there become ERROR, and workers end; their jobs go back to the queue. The persistent storage of stopped pods is theirs again when the host comes back.
         */
        delete: operations["removeHost"];
        options?: never;
        head?: never;
        /**
         * Drain a host, or have it used again
         * @description Nothing more is placed on a host that is draining; what is on it stays.
         */
        patch: operations["changeHost"];
        trace?: never;
    };
    "/_berth/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow what changes
         * @description Server-sent events, each with what changed and how, and never with what it is now: that is to be read. What happens to a thing within 100 milliseconds is one event. A key sees what it may read: pods, clusters, endpoints, workers, volumes, templates, registries and secrets of its user with rest:read, jobs of the endpoints whose queues it may call, a pod that it is for, hosts and keys with admin, and everything of all users with that of the test controls. The stream begins with the id of where it stands, so that lists that are read from then on lack nothing, and goes on after Last-Event-ID where the server still knows what came since. An event reset says that it does not, or that everything is another: whoever meets it reads everything again. A comment comes after 15 seconds without an event. The stream ends with the server, and with the key.
         */
        get: operations["getEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/v1/pod/{podId}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the logs of a pod or a worker
         * @description Where clients look for logs that call the address before `/v1` the API of hosts: the lines that there are of a pod or of a worker, each after its time. With stream=true they come, and those that are written from then on, as at `/v2/pods/{id}/logs`. For keys with the scope rest:read, and the key of the pod.
         */
        get: operations["getLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who changed what
         * @description One entry for each thing that a request changed, newest first: which key of whom changed what, when, from where and by which operation, never to what. A key with the scope rest:read sees what the keys of its account did; one with the scope admin, and that of the test controls, see all.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/audit/refusals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who was refused
         * @description How often a key that was missing, wrong, expired, revoked or not permitted was refused, one entry for each client, interface, key and reason in a minute, newest first. Never the key itself. It takes the scope admin, or the key of the test controls.
         */
        get: operations["listRefusals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List and search jobs
         * @description Those of the caller's endpoints that every filter matches, the one that was submitted last first, without input and output. A page looks at 10000 jobs at most: it may have fewer than limit, or none, and hasNextPage says whether more may follow.
         */
        get: operations["listJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/jobs/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read all that is known of a job
         * @description With the beginning of its input and of its output. As long as the job is kept.
         */
        get: operations["getJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/jobs/{jobId}/why": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ask why a job does not go on
         * @description One reason, for keys that may read the job.
         */
        get: operations["whyJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/endpoints/{endpointId}/why": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ask why the workers of an endpoint do not take up its jobs
         * @description One reason, for keys with the scope rest:read.
         */
        get: operations["whyEndpoint"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/endpoints/{endpointId}/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See how the workers of an endpoint that balances load are
         * @description Where each listens, and whether it gets requests; for keys with the scope rest:read.
         */
        get: operations["getBalancedWorkers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/pods/{podId}/why": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ask why a pod does not run
         * @description One reason, for keys that may read the pod.
         */
        get: operations["whyPod"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ask who one is
         * @description The key that asks, what it may do, and what the server is. For every key.
         */
        get: operations["getSession"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read how everything stood
         * @description Of all users, for keys with the scope admin.
         */
        get: operations["getHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/endpoints/{endpointId}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read how an endpoint stood
         * @description Its jobs and its workers, for keys with the scope rest:read. One whose workers answer requests themselves has no samples.
         */
        get: operations["getEndpointHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/pods/{podId}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what a pod used
         * @description While it was RUNNING and its runtime measured it, for keys with the scope rest:read, and those of the pod.
         */
        get: operations["getPodHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/pods/{podId}/exec": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Run a command in a pod
         * @description The answer is a websocket of the subprotocol berth.exec.v1, which the request must name. Every message is binary, and its first byte is the channel: 0 is what the command reads, 1 and 2 what it writes to its standard output and error, 5 says that it has nothing more to read, and 4 that the terminal has another size, as JSON with width and height. 3 is the last message of the server, JSON with exitCode, or with error where the command did not run or did not end by itself. Who can send no Authorization, as a page in a browser, shows its key as a second subprotocol, berth.key. and the key in base64url without padding. A request of a page of another origin is refused. The command ends when the connection does.
         */
        get: operations["execPod"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/endpoints/{endpointId}/workers/{workerId}/exec": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Run a command in a worker
         * @description As in a pod, for keys that may change the endpoint.
         */
        get: operations["execWorker"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/_berth/storage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set whether the storage takes writes
         * @description While it does not, what would write is refused as by a disk that is full, that fails, or whose database another program keeps locked.
         */
        put: operations["setStorage"];
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
        Clock: {
            /**
             * Format: date-time
             * @description The time of day.
             */
            now: string;
            /**
             * Format: int64
             * @description How far the time by which things fall due is behind it; it changes by steps and by pauses of the server.
             */
            lag: number;
            mode: components["schemas"]["ClockMode"];
            /**
             * Format: date-time
             * @description The time of day at which a clock that goes by itself stops; absent: nowhere, or it does not.
             */
            until?: string;
            /** @description The mode is frozen. */
            frozen: boolean;
            /** @description Requests that are held now: takes, stop polls, waits, reads of streams. */
            held: number;
        };
        /**
         * @description It runs with that of the machine, stands still, or goes by itself to what is due.
         * @enum {string}
         */
        ClockMode: "running" | "frozen" | "auto";
        AutoClock: {
            /** @description How far it goes, at most a year: then it stands still. Absent: on and on, as long as there is something due. */
            milliseconds?: number;
            /**
             * @description How long, in milliseconds of the machine's time, no request comes before it goes on.
             * @default 20
             */
            settle: number;
        };
        Advance: {
            /** @description At most a year. */
            milliseconds: number;
        };
        Step: {
            /** @description At most a year; less than 0 is back. */
            milliseconds: number;
        };
        NewKey: {
            name?: string;
            /** @description Whose it is; absent is the owner of the server. */
            user?: string;
            scopes: string[];
            /**
             * @description From rate limits.
             * @default false
             */
            exempt: boolean;
            /**
             * @description USD an hour: nothing is made or started by its requests that brings what the pods of its user cost over this; 0: there is none.
             * @default 0
             */
            spendLimit: number;
            /** @description Milliseconds; absent is never. */
            expiresIn?: number;
            /** @description The edition of the contract that its requests are of, unless they name one; absent is that of the server. */
            contract?: string;
        };
        Key: {
            id: string;
            key: string;
        };
        NewHost: {
            /** @description Unique in the fleet. */
            id: string;
            /** @description Of the catalog. */
            dataCenterId: string;
            /**
             * @default SECURE
             * @enum {string}
             */
            cloud: "SECURE" | "COMMUNITY";
            /** @description Address of the container engine of the host, like tcp://10.0.0.7:2376, ssh://user@box or unix:///run/docker.sock; absent: that of the server's settings. Of a host with one and without vcpus, what it has is found out by asking it, except for diskGb. */
            engine?: string;
            /** @description Its GPU type, of the catalog; absent: it has none. */
            gpu?: string;
            /**
             * Format: int64
             * @default 0
             */
            gpuCount: number;
            /** @description The ids of its GPUs, as the tools of their vendor give them; absent: 0, 1, 2 and so on. */
            gpuDevices?: string[];
            /** @description Like 12.8; absent: none. */
            cudaVersion?: string;
            /** @description The flavors of the CPU pods that it takes. */
            cpus?: string[];
            /**
             * Format: int64
             * @default 0
             */
            vcpus: number;
            /**
             * Format: int64
             * @default 0
             */
            memoryGb: number;
            /**
             * Format: int64
             * @default 0
             */
            diskGb: number;
            /**
             * @description Whether it has an address that everybody reaches.
             * @default true
             */
            publicIp: boolean;
            /**
             * Format: int64
             * @description 0: not known.
             * @default 0
             */
            downloadMbps: number;
            /**
             * Format: int64
             * @description 0: not known.
             * @default 0
             */
            uploadMbps: number;
        };
        Host: {
            id: string;
            dataCenterId: string;
            /** @enum {string} */
            cloud: "SECURE" | "COMMUNITY";
            gpu?: string;
            /** Format: int64 */
            gpuCount: number;
            gpuDevices: string[];
            cudaVersion?: string;
            cpus: string[];
            /** Format: int64 */
            vcpus: number;
            /** Format: int64 */
            memoryGb: number;
            /** Format: int64 */
            diskGb: number;
            publicIp: boolean;
            /** Format: int64 */
            downloadMbps: number;
            /** Format: int64 */
            uploadMbps: number;
            /** @description Nothing more is placed on it. */
            draining: boolean;
            /** @description Address of its container engine; absent: that of the server's settings. */
            engine?: string;
            /** @description Why nothing is placed on it now: its engine does not answer, or what is to end there has not. Absent: it is in use. */
            away?: string;
            free: components["schemas"]["Free"];
        };
        /** @description What nobody holds. It can be less than nothing of a host that became smaller. */
        Free: {
            /** Format: int64 */
            gpus: number;
            /** Format: int64 */
            vcpus: number;
            /** Format: int64 */
            memoryGb: number;
            /** Format: int64 */
            diskGb: number;
        };
        HostList: {
            hosts: components["schemas"]["Host"][];
        };
        Pagination: {
            /** @description The cursor of the next page; null if there is none. */
            nextCursor: string | null;
            /** @description Whether more may follow: a page may have fewer than limit, or none. */
            hasNextPage: boolean;
        };
        JobList: {
            jobs: components["schemas"]["ListedJob"][];
            pagination: components["schemas"]["Pagination"];
        };
        ListedJob: {
            id: string;
            endpointId: string;
            /** @enum {string} */
            status: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED" | "FAILED" | "CANCELLED" | "TIMED_OUT";
            /** Format: date-time */
            submittedAt: string;
            /**
             * Format: date-time
             * @description When its worker took it; absent: nobody has it, or had it.
             */
            startedAt?: string;
            /**
             * Format: date-time
             * @description When it ended; absent: it has not.
             */
            finishedAt?: string;
            /** @description How often it was taken, since it was submitted or last retried. */
            attempts: number;
            /** @description Who has it or had it last. */
            workerId?: string;
            /**
             * Format: int64
             * @description Milliseconds for which it waited before it was taken; absent: nobody took it.
             */
            delayTime?: number;
            /**
             * Format: int64
             * @description Milliseconds from then to its end; absent: it has not ended.
             */
            executionTime?: number;
            /** @description The first 300 characters of its error. */
            error?: string;
        };
        JobDetail: {
            id: string;
            endpointId: string;
            /** @enum {string} */
            status: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED" | "FAILED" | "CANCELLED" | "TIMED_OUT";
            /** Format: date-time */
            submittedAt: string;
            /**
             * Format: date-time
             * @description When it last began to wait.
             */
            queuedAt: string;
            /**
             * Format: date-time
             * @description When its worker took it; absent: nobody has it, or had it.
             */
            startedAt?: string;
            /**
             * Format: date-time
             * @description When it ended; absent: it has not.
             */
            finishedAt?: string;
            /**
             * Format: date-time
             * @description When its time to live is over; of one that has ended, when it is forgotten.
             */
            expiresAt: string;
            /** @description How often it was taken, since it was submitted or last retried. */
            attempts: number;
            /** @description How often a worker lost it. */
            retries: number;
            /** @description Who has it or had it last. */
            workerId?: string;
            /**
             * Format: int64
             * @description Milliseconds for which it waited before it was taken; absent: nobody took it.
             */
            delayTime?: number;
            /**
             * Format: int64
             * @description Milliseconds from then to its end; absent: it has not ended.
             */
            executionTime?: number;
            /** @description The first 65536 bytes of its error. */
            error?: string;
            /** @description It was submitted by runsync. */
            sync: boolean;
            lowPriority: boolean;
            /**
             * Format: int64
             * @description Milliseconds that it may run.
             */
            executionTimeout: number;
            /**
             * Format: int64
             * @description Milliseconds that it had to live when it was submitted.
             */
            ttl: number;
            /** @description Where its end is reported; absent: nowhere. */
            webhook?: string;
            input: components["schemas"]["JobText"];
            output: components["schemas"]["JobText"];
        };
        AuditList: {
            entries: components["schemas"]["AuditEntry"][];
            pagination: components["schemas"]["Pagination"];
        };
        AuditEntry: {
            /**
             * Format: int64
             * @description Ascending.
             */
            number: number;
            /** Format: date-time */
            at: string;
            /** @description Whose key it was done with; absent: it was done without one. */
            user?: string;
            /** @description The id of the key, never the key itself, or the fingerprint of one of SSH; absent: it was done without one. */
            key?: string;
            /** @description The X-Request-Id of the answer; absent: it was no request. */
            request?: string;
            /** @description That was asked for: an operation of the documents, a mutation of GraphQL, a session by http or ssh, or a command of the program. */
            operation: string;
            /** @description The address that it came from; absent: it is not known. */
            client?: string;
            kind: components["schemas"]["AuditKind"];
            /** @description Of what was changed; absent: there is one of the kind. */
            id?: string;
            /**
             * @description What was done with it; opened is a session in it.
             * @enum {string}
             */
            change: "created" | "changed" | "deleted" | "opened";
            /** @description The names of what changed of it. */
            fields: string[];
        };
        RefusalList: {
            refusals: components["schemas"]["Refusal"][];
            pagination: components["schemas"]["Pagination"];
        };
        Refusal: {
            /**
             * Format: int64
             * @description Ascending.
             */
            number: number;
            /**
             * Format: date-time
             * @description The beginning of the minute.
             */
            minute: string;
            /**
             * @description What was asked: workers ask the queue, and the console signs in at the controls.
             * @enum {string}
             */
            interface: "rest" | "queue" | "graphql" | "controls" | "ssh";
            /**
             * @description Why: there was no key, it was none, nobody has it, it was not good any more, or it was good and did not permit that, by its scopes or by the role of its user, or its user is disabled.
             * @enum {string}
             */
            reason: "missing" | "malformed" | "unknown" | "expired" | "revoked" | "scope" | "role" | "disabled";
            /** @description The address that it came from; absent: of many. */
            client?: string;
            /** @description The id of the key, which it has after its prefix, never the key itself, or the fingerprint of one of SSH; absent: it has none, or of many. */
            key?: string;
            /** @description Whose key it is; absent: nobody's that is known, or of many. */
            user?: string;
            /**
             * Format: int64
             * @description How often.
             */
            count: number;
        };
        Logs: {
            /** @description What the container wrote. */
            container: string[];
            /** @description What was done with it. */
            system: string[];
        };
        /**
         * @description What it is. Everything: a reset.
         * @enum {string}
         */
        AuditKind: "build" | "cluster" | "delegation" | "endpoint" | "everything" | "flash-app" | "flash-build" | "flash-environment" | "host" | "key" | "login" | "pod" | "registry" | "script" | "secret" | "ssh-keys" | "template" | "user" | "volume" | "worker";
        KeyList: {
            keys: components["schemas"]["ListedKey"][];
        };
        ListedKey: {
            id: string;
            name: string;
            /** @description Whose it is. */
            user: string;
            scopes: string[];
            /** @description From rate limits. */
            exempt: boolean;
            /** @description USD an hour; absent: there is none. */
            spendLimit?: number;
            /** @description The edition of the contract that its requests are of; absent: that of the server. */
            contract?: string;
            /**
             * Format: date-time
             * @description Absent: it is that of a pod, and comes and goes with it.
             */
            createdAt?: string;
            /**
             * Format: date-time
             * @description Absent: never.
             */
            expiresAt?: string;
            /**
             * Format: date-time
             * @description Absent: it was not.
             */
            revokedAt?: string;
        };
        UserList: {
            users: components["schemas"]["User"][];
        };
        User: {
            /** @description As it is in the user of its keys. */
            name: string;
            role: components["schemas"]["UserRole"];
            /** @description None of its keys is good for anything. */
            disabled: boolean;
            /**
             * Format: date-time
             * @description Absent: it is not known.
             */
            createdAt?: string;
        };
        /**
         * @description What its keys permit at most. admin: everything; member: everything but the scope admin; reader: rest:read and graphql:read.
         * @enum {string}
         */
        UserRole: "admin" | "member" | "reader";
        NewUser: {
            /** @description Unique. */
            name: string;
            /**
             * @description What its keys permit at most.
             * @default member
             * @enum {string}
             */
            role: "admin" | "member" | "reader";
        };
        UserChange: {
            /**
             * @description What its keys permit at most.
             * @enum {string}
             */
            role?: "admin" | "member" | "reader";
            /** @description None of its keys is good for anything. */
            disabled?: boolean;
        };
        Session: {
            key: components["schemas"]["ListedKey"];
            may: components["schemas"]["SessionRights"];
            /**
             * @description Of its user; absent: no role bounds the key.
             * @enum {string}
             */
            role?: "admin" | "member" | "reader";
            /** @description Of the server. */
            version: string;
            /** @description The edition of the contract that its answers are of. */
            contract: string;
            /** @description What pods and workers run on. */
            runtime: string;
            /** @description Nothing really runs. */
            simulated: boolean;
            /** @description There are test controls, for their key. */
            testControls: boolean;
            /** @description Where HTTP ports of pods are reached, with {podId} and {port} in the place of those. */
            podAddress: string;
        };
        /** @description What the key may do, by its scopes and the role of its user. */
        SessionRights: {
            /** @description Read over REST. */
            read: boolean;
            /** @description Change over REST. */
            write: boolean;
            /** @description Call the queue of some endpoint. */
            invoke: boolean;
            /** @description Read over GraphQL. */
            graphql: boolean;
            /** @description Read and change the hosts of the fleet and the users, and list keys. */
            hosts: boolean;
            /** @description Use the test controls. */
            controls: boolean;
        };
        FleetHistory: {
            /**
             * Format: int64
             * @description Milliseconds between two samples. One that is as the one before is left out: each holds until the next, and the last until now.
             */
            interval: number;
            /** @description At most 360, the oldest first. */
            samples: components["schemas"]["FleetSample"][];
        };
        FleetSample: {
            /** Format: date-time */
            at: string;
            /**
             * Format: int64
             * @description That are RUNNING.
             */
            pods: number;
            /**
             * Format: int64
             * @description That have a queue.
             */
            endpoints: number;
            /** Format: int64 */
            workers: number;
            /**
             * Format: int64
             * @description Jobs.
             */
            waiting: number;
            /**
             * Format: int64
             * @description Jobs.
             */
            inProgress: number;
            /**
             * Format: int64
             * @description Jobs that have COMPLETED since the server was started.
             */
            completed: number;
            /**
             * Format: int64
             * @description Jobs that are FAILED or TIMED_OUT since then.
             */
            failed: number;
        };
        EndpointHistory: {
            /**
             * Format: int64
             * @description Milliseconds between two samples. One that is as the one before is left out: each holds until the next, and the last until now.
             */
            interval: number;
            /** @description At most 360, the oldest first. */
            samples: components["schemas"]["EndpointSample"][];
        };
        EndpointSample: {
            /** Format: date-time */
            at: string;
            /**
             * Format: int64
             * @description Jobs.
             */
            waiting: number;
            /**
             * Format: int64
             * @description Jobs.
             */
            inProgress: number;
            /**
             * Format: int64
             * @description Workers.
             */
            initializing: number;
            /**
             * Format: int64
             * @description Workers.
             */
            idle: number;
            /**
             * Format: int64
             * @description Workers.
             */
            running: number;
            /**
             * Format: int64
             * @description Workers.
             */
            throttled: number;
            /**
             * Format: int64
             * @description Workers.
             */
            unhealthy: number;
            /**
             * Format: int64
             * @description Jobs that have COMPLETED since the server was started.
             */
            completed: number;
            /**
             * Format: int64
             * @description Jobs that are FAILED or TIMED_OUT since then.
             */
            failed: number;
        };
        PodHistory: {
            /**
             * Format: int64
             * @description Milliseconds between two samples. One that is as the one before is left out: each holds until the next, and the last until now.
             */
            interval: number;
            /** @description At most 360, the oldest first. */
            samples: components["schemas"]["PodSample"][];
        };
        PodSample: {
            /** Format: date-time */
            at: string;
            /** @description Of the vCPUs that it may use; absent: not measured. */
            cpuPercent?: number;
            /** @description Of the memory that it may use. */
            memoryPercent?: number;
            /** @description Of each GPU. */
            gpus: components["schemas"]["GpuSample"][];
        };
        GpuSample: {
            /** @description Of the time in which it worked. */
            percent: number;
            /** @description Of its memory. */
            memoryPercent: number;
        };
        /** @enum {string} */
        FollowedKind: "pod" | "cluster" | "endpoint" | "job" | "worker" | "volume" | "template" | "registry" | "secret" | "key" | "webhook" | "host" | "clock" | "fault" | "journal";
        /** @description The data of an event. */
        Event: {
            /** @enum {string} */
            kind: "pod" | "cluster" | "endpoint" | "job" | "worker" | "volume" | "template" | "registry" | "secret" | "key" | "webhook" | "host" | "clock" | "fault" | "journal" | "reset";
            /** @description Of the thing; of a webhook that of its job. Empty where there is one of the kind. */
            id: string;
            /** @enum {string} */
            change: "created" | "changed" | "deleted";
            /** @description Of pods and jobs: the last one. */
            status?: string;
            /** @description Of jobs and workers. */
            endpointId?: string;
        };
        Why: {
            /** @description Something has to happen before it goes on. */
            waits: boolean;
            /**
             * @description Of a job: finished, expired (its time to live or to run was over), in_progress, silent (its worker is not heard of). Of a job that waits and of the workers of an endpoint: no_workers (it may have none), no_room (nothing can hold one now), never_room (no host could ever), starting, crash_loop (they end by themselves or cannot be started), undeclared (the settings of the server do not say what they are), busy (all have jobs), not_asking (one is up and asks for no job), lost (the one that asks may still run the job), low_priority (such a job starts none), unhealthy, scaling (one is about to be started); ready and resting (nothing to do) of an endpoint for which no job waits. Of a pod: starting, running, behind (what is to be done with it fails and is tried again), host_silent, host_lost, interrupted, stopped (by a user), timed_stop, exited (by itself), not_started (its container could not be), failed.
             * @enum {string}
             */
            reason: "finished" | "expired" | "in_progress" | "silent" | "no_workers" | "no_room" | "never_room" | "starting" | "crash_loop" | "undeclared" | "busy" | "not_asking" | "lost" | "low_priority" | "unhealthy" | "scaling" | "ready" | "resting" | "running" | "behind" | "host_silent" | "host_lost" | "interrupted" | "stopped" | "timed_stop" | "exited" | "not_started" | "failed";
            /** @description The reason in a sentence, with figures. */
            because: string;
            /**
             * Format: date-time
             * @description Since when it is so; absent: nobody knows.
             */
            since?: string;
            /** @description What would help; absent: nothing need be done. */
            helps?: string;
            details: components["schemas"]["WhyDetails"];
        };
        BalancedWorkers: {
            /** @description Where workers listen for requests, by the variable PORT. */
            port: number;
            /** @description Where they are asked how they are, by PORT_HEALTH. */
            healthPort: number;
            /** @description What they are asked, by HEALTH_CHECK_PATH. */
            healthPath: string;
            workers: components["schemas"]["BalancedWorker"][];
        };
        BalancedWorker: {
            id: string;
            /**
             * @description healthy: it gets requests. starting: it is not up yet, or says so. unhealthy: its health check fails. leaving: it ends once its last request is answered.
             * @enum {string}
             */
            health: "healthy" | "starting" | "unhealthy" | "leaving";
            /** @description Why it is not healthy; absent: it is, or nobody knows. */
            because?: string;
            /** @description That it has now. */
            requests: number;
            /** @description Host and port at which the server reaches it; absent: nobody knows it yet, or nothing listens since workers are simulated. */
            address?: string;
        };
        WhyDetails: {
            /** @description The last lines of a log: that of the system for a pod, what the last worker wrote for workers that end by themselves. */
            lines: string[];
            /**
             * Format: int64
             * @description Of the worker that ended last.
             */
            exitCode?: number;
            /** @description How often the job was taken. */
            attempts?: number;
            /** @description The worker that it is about. */
            workerId?: string;
            /** @description The host that it is about. */
            hostId?: string;
            /** @description Jobs that are handed out before this one. */
            ahead?: number;
            /**
             * Format: date-time
             * @description When the next worker is tried.
             */
            nextAt?: string;
            /** @description Where the HTTP ports of a pod that is RUNNING are reached, in their order; absent: it has none, or is not. */
            addresses?: string[];
        };
        JobText: {
            /** @description The JSON as it was sent; of a long one its first 65536 bytes. Empty if there is none. */
            text: string;
            /** @description Bytes of all of it. */
            length: number;
            truncated: boolean;
        };
        HostChange: {
            draining: boolean;
        };
        Quotas: {
            /** Format: int64 */
            minute: number;
            /** Format: int64 */
            hour: number;
            /** Format: int64 */
            day: number;
            /**
             * @description The limits on requests of the queue; absent leaves them.
             * @enum {string}
             */
            queue?: "none" | "published";
        };
        Faults: {
            faults: components["schemas"]["Fault"][];
        };
        /** @description What goes wrong, and for which calls. It needs latency, status, drop, half, garbage or bytesPerSecond. Members that make no sense together are refused by name. */
        Fault: {
            /** @description Unique among the faults; absent: the server gives it one. */
            id?: string;
            /** @description An operationId of any document, graphql. with a field of Query or Mutation, or proxyPod or proxyEndpoint; * is every operation but these controls. */
            operation: string;
            /**
             * @description before: instead of the operation, or before it. after: the operation is done and its effect is kept, then the fault becomes of its answer. What the operation refuses meets no fault after, and counts as no call; nor does a stream of events, which has no end to wait for.
             * @default before
             * @enum {string}
             */
            when: "before" | "after";
            /** @description Calls with this id in the path alone; not for GraphQL. */
            resource?: string;
            /** @description Calls with the key of this id alone. */
            keyId?: string;
            /** @description Calls whose JSON body has all of these values alone, of 1 MiB at most; of GraphQL, it has query and variables. */
            body?: components["schemas"]["BodyExpectation"][];
            /**
             * Format: int64
             * @description Calls that are let through first.
             * @default 0
             */
            after: number;
            /**
             * Format: int64
             * @description Only the nth call that it matches, from 1. It stands without after, every, times and probability.
             */
            nth?: number;
            /**
             * Format: int64
             * @description Only each nth call that it matches.
             */
            every?: number;
            /**
             * Format: int64
             * @description How often it is met; absent is always.
             */
            times?: number;
            /** @description How likely a call that it matches and whose turn it is meets it; absent is always. */
            probability?: number;
            /**
             * Format: int64
             * @description What probability, latencyMax and garbage are drawn from; 0 if it is absent. The same calls in the same order meet the same.
             */
            seed?: number;
            /** @description Milliseconds on the clock of the server before anything else. */
            latency?: number;
            /** @description Beside latency: the milliseconds are drawn evenly between the two. */
            latencyMax?: number;
            /** @description Answered with a problem in place of the answer of the operation. */
            status?: number;
            /** @description Beside status: seconds of the header Retry-After; absent: 1 with 429 and 503, and else none. */
            retryAfter?: number;
            /**
             * @description The connection is cut without an answer.
             * @default false
             */
            drop: boolean;
            /** @description After alone: so many percent of the body of the answer are sent, 1 MiB at most, then the connection is cut. Content-Length is that of the whole. */
            half?: number;
            /**
             * @description After alone: in place of the body as many bytes that are no JSON, with the status and the headers of the answer.
             * @default false
             */
            garbage: boolean;
            /**
             * Format: int64
             * @description After alone: the body of the answer is sent so fast, on the clock of the server.
             */
            bytesPerSecond?: number;
        };
        FaultList: {
            faults: components["schemas"]["ShownFault"][];
        };
        ShownFault: {
            id: string;
            operation: string;
            /** @enum {string} */
            when: "before" | "after";
            resource?: string;
            keyId?: string;
            body?: components["schemas"]["BodyExpectation"][];
            after: number;
            /** Format: int64 */
            nth?: number;
            /** Format: int64 */
            every?: number;
            times?: number;
            probability?: number;
            /** Format: int64 */
            seed?: number;
            latency?: number;
            latencyMax?: number;
            status?: number;
            retryAfter?: number;
            drop: boolean;
            half?: number;
            garbage: boolean;
            /** Format: int64 */
            bytesPerSecond?: number;
            /** @description Calls that it matched. */
            calls: number;
            /** @description How many of them met it. */
            shown: number;
        };
        /** @description What the simulated workers of an endpoint do: the first of the answers is played that a job matches and that may be used. What is drawn comes from the seed and from the number of the job or worker, so that the same jobs in the same order take as long. */
        Script: {
            /** @description In their order. A job that none matches fails, and its error names the closest. */
            answers: components["schemas"]["ScriptAnswer"][];
            /**
             * @description How many jobs a worker has at a time.
             * @default 1
             */
            concurrency: number;
            /**
             * Format: int64
             * @description What delays and FlashBoot are drawn from.
             * @default 0
             */
            seed: number;
            coldStart?: components["schemas"]["ColdStart"];
        };
        /** @description How long a worker takes from its start to its first job, in milliseconds on the clock of the server: pull until its container is up, and then init, load and warm, one after the other. A worker that is not ready within 7 minutes is given up, as any that sends no request. Without coldStart it is ready when its container is up. */
        ColdStart: {
            /**
             * Format: int64
             * @description The image is pulled and the container started.
             * @default 0
             */
            pull: number;
            /**
             * Format: int64
             * @description The program starts.
             * @default 0
             */
            init: number;
            /**
             * Format: int64
             * @description The model is loaded.
             * @default 0
             */
            load: number;
            /**
             * Format: int64
             * @description The model is warmed up.
             * @default 0
             */
            warm: number;
            flashBoot?: components["schemas"]["ScriptedFlashBoot"];
        };
        /** @description How likely a worker comes back from a saved state, and how long all of its start takes then. */
        ScriptedFlashBoot: {
            /** @description How likely it is. */
            chance: number;
            /**
             * Format: int64
             * @description Milliseconds in place of pull, init, load and warm.
             */
            warm: number;
        };
        /** @description What a worker does with a job: it waits for the delay and reports the progress meanwhile, yields the chunks, and ends the job with one of output, error, crash and refreshWorker. With chunks all four may be absent: the output is the list of the chunks then, as a handler with return_aggregate_stream gives it; one without that gives an empty list. Texts in values, output and error may have templates: {{/a/b}} is that member of the input, {{input}} all of it, {{job.id}}, {{worker.id}} and {{attempt}} are those of the job. A text that is one template alone has the type of the member. */
        ScriptAnswer: {
            /** @description Jobs whose input has all of these values alone, of 1 MiB at most; the pointers begin in the input. Absent: every job. */
            match?: components["schemas"]["BodyExpectation"][];
            /**
             * Format: int64
             * @description How often it may be used; absent is always.
             */
            times?: number;
            delay?: components["schemas"]["ScriptDelay"];
            /** @description Shown as the output of the job, one after the other from the taking of the job on, while the delay passes. */
            progress?: components["schemas"]["ScriptStep"][];
            /** @description Streamed one after the other, as what a handler yields. */
            chunks?: components["schemas"]["ScriptStep"][];
            /** @description The job is COMPLETED with it. */
            output?: unknown;
            /** @description The job is FAILED with it, as by a handler that fails. */
            error?: string;
            crash?: components["schemas"]["ScriptCrash"];
            refreshWorker?: components["schemas"]["ScriptRefresh"];
        };
        /** @description One of four: milliseconds on the clock of the server. What is drawn below 0 is 0, and what is above a day is a day. */
        ScriptDelay: {
            /**
             * Format: int64
             * @description Always the same.
             */
            fixed?: number;
            uniform?: components["schemas"]["UniformDelay"];
            normal?: components["schemas"]["NormalDelay"];
            exponential?: components["schemas"]["ExponentialDelay"];
        };
        /** @description Each as likely as the others. */
        UniformDelay: {
            /** Format: int64 */
            least: number;
            /** Format: int64 */
            most: number;
        };
        /** @description Around a mean. */
        NormalDelay: {
            /** Format: int64 */
            mean: number;
            /**
             * Format: int64
             * @description The standard deviation.
             */
            deviation: number;
        };
        /** @description Mostly short, and long now and then. */
        ExponentialDelay: {
            /** Format: int64 */
            mean: number;
        };
        ScriptStep: {
            /**
             * Format: int64
             * @description Milliseconds since what came before it.
             * @default 0
             */
            after: number;
            /** @description Any JSON. */
            value: unknown;
        };
        /** @description The worker ends by itself, and what becomes of its jobs is as for every worker: they are tried again, until their attempts are spent. */
        ScriptCrash: {
            /**
             * @description Of its process.
             * @default 1
             */
            exitCode: number;
            /**
             * Format: int64
             * @description Milliseconds since what came before it.
             * @default 0
             */
            after: number;
        };
        /** @description The job is COMPLETED, and its worker replaced, as by a handler with refresh_worker. */
        ScriptRefresh: {
            /** @description Of the job. */
            output?: unknown;
        };
        ShownScript: {
            script: components["schemas"]["Script"];
            /**
             * Format: int64
             * @description How many jobs were taken by it, those tried again too.
             */
            jobs: number;
            /**
             * Format: int64
             * @description How many workers were started by it.
             */
            workers: number;
            /** @description How often each of the answers was used, in their order. */
            used: number[];
        };
        Journal: {
            entries: components["schemas"]["JournalEntry"][];
            /**
             * Format: int64
             * @description Entries that were forgotten for newer ones, since the journal was cleared.
             */
            dropped: number;
        };
        JournalEntry: {
            /**
             * Format: int64
             * @description In the order in which the requests ended.
             */
            number: number;
            /**
             * Format: date-time
             * @description When it came, by the clock of the server.
             */
            time: string;
            /**
             * Format: int64
             * @description Milliseconds until its answer ended, by the clock of the server.
             */
            duration: number;
            method: string;
            /** @description As it was sent. */
            path: string;
            /** @description As it was sent, without the question mark. */
            query: string;
            /** @description Its operationId; graphql, proxyPod or proxyEndpoint for what went to a pod or an endpoint that balances load, or unknown where no operation answers. */
            operation: string;
            graphql?: components["schemas"]["JournalDocument"];
            /** @description The ids in its path, each by what it is of: pod, endpoint, job, worker and so on. */
            resources: {
                [key: string]: string;
            };
            /** @description The id of its key; empty if none was taken. */
            keyId: string;
            /** @description Whose key it is; empty if none was taken. */
            user: string;
            request: components["schemas"]["JournalMessage"];
            /** @description 0 is no answer. */
            status: number;
            response: components["schemas"]["JournalMessage"];
            fault?: components["schemas"]["JournalFault"];
        };
        /** @description Of a document of GraphQL that can be read. */
        JournalDocument: {
            /** @description The name of its operation; empty if it has none. */
            name: string;
            /** @description The fields of Query or Mutation that it asks for. */
            fields: string[];
        };
        JournalMessage: {
            /** @description By their names. A value that is secret is `***`. */
            headers: components["schemas"]["JournalHeader"][];
            body: components["schemas"]["JournalBody"];
        };
        JournalHeader: {
            name: string;
            value: string;
        };
        JournalBody: {
            /** @description At most the first 65536 bytes. What is secret in it is `***`. */
            text: string;
            /** @description The text is the body in base64; it is no UTF-8. */
            base64: boolean;
            /**
             * Format: int64
             * @description Bytes that were sent; of a request that was not read those that it announced.
             */
            length: number;
            /** @description The body went on after what is kept here. */
            truncated: boolean;
        };
        /** @description The scripted fault that it met. */
        JournalFault: {
            id: string;
            /** @description As it was scripted. */
            operation: string;
            /** @enum {string} */
            when: "before" | "after";
            /**
             * Format: int64
             * @description Milliseconds, as they were drawn.
             */
            latency?: number;
            status?: number;
            drop: boolean;
            /** @description Percent of the body that were sent. */
            half?: number;
            garbage?: boolean;
            /** Format: int64 */
            bytesPerSecond?: number;
        };
        Verification: {
            expectations: components["schemas"]["Expectation"][];
            /**
             * @description The requests that the expectations are about came one after the other.
             * @default false
             */
            inOrder: boolean;
        };
        /** @description Every member that is there must match, as the filter of that name does. */
        Expectation: {
            operation?: string;
            method?: string;
            pathPrefix?: string;
            keyId?: string;
            resource?: string;
            status?: string;
            /** Format: date-time */
            since?: string;
            /** Format: date-time */
            until?: string;
            /** Format: int64 */
            afterNumber?: number;
            /** @description Headers of the request. Names match in any case. */
            headers?: components["schemas"]["JournalHeader"][];
            body?: components["schemas"]["BodyExpectation"][];
            times?: components["schemas"]["ExpectedTimes"];
        };
        /** @description What the JSON body of the request has at a place. */
        BodyExpectation: {
            /** @description A JSON Pointer, such as /input/n; empty is the whole body. */
            pointer: string;
            /** @description The value there, whatever the order of members and the form of numbers. */
            equals: unknown;
        };
        /** @description How many entries match; at least one without a member. Exactly stands alone. */
        ExpectedTimes: {
            /** Format: int64 */
            exactly?: number;
            /** Format: int64 */
            atLeast?: number;
            /** Format: int64 */
            atMost?: number;
        };
        VerificationResult: {
            ok: boolean;
            failures: components["schemas"]["VerificationFailure"][];
            /**
             * Format: int64
             * @description Entries that were forgotten and are not counted: while there are such, an expectation of exactly or atMost so many holds only if its afterNumber or since leaves them out.
             */
            dropped: number;
        };
        VerificationFailure: {
            /** @description Its place in the list, from 0. */
            expectation: number;
            /** @description In a sentence, what was expected and what was found. */
            says: string;
            nearest?: components["schemas"]["NearMiss"];
        };
        /** @description The entry that matches most members of the expectation, and not all; of several the last. */
        NearMiss: {
            /**
             * Format: int64
             * @description Of the entry.
             */
            number: number;
            differences: components["schemas"]["Difference"][];
        };
        Difference: {
            /** @description A member of the expectation, such as status, header Accept or body /input/n. */
            member: string;
            expected: string;
            found: string;
        };
        Har: {
            log: components["schemas"]["HarLog"];
        };
        HarLog: {
            /** @constant */
            version: "1.2";
            creator: components["schemas"]["HarCreator"];
            entries: components["schemas"]["HarEntry"][];
        };
        HarCreator: {
            name: string;
            version: string;
        };
        HarEntry: {
            /** Format: date-time */
            startedDateTime: string;
            /** Format: int64 */
            time: number;
            request: components["schemas"]["HarRequest"];
            response: components["schemas"]["HarResponse"];
            cache: components["schemas"]["HarCache"];
            timings: components["schemas"]["HarTimings"];
            /** @description Number, operation and key of the entry. */
            comment: string;
        };
        HarRequest: {
            method: string;
            url: string;
            httpVersion: string;
            cookies: components["schemas"]["JournalHeader"][];
            headers: components["schemas"]["JournalHeader"][];
            queryString: components["schemas"]["JournalHeader"][];
            postData?: components["schemas"]["HarPostData"];
            /** Format: int64 */
            headersSize: number;
            /** Format: int64 */
            bodySize: number;
        };
        HarPostData: {
            mimeType: string;
            text: string;
            /**
             * @description HAR has no place for it.
             * @constant
             */
            _encoding?: "base64";
        };
        HarResponse: {
            status: number;
            statusText: string;
            httpVersion: string;
            cookies: components["schemas"]["JournalHeader"][];
            headers: components["schemas"]["JournalHeader"][];
            content: components["schemas"]["HarContent"];
            redirectURL: string;
            /** Format: int64 */
            headersSize: number;
            /** Format: int64 */
            bodySize: number;
        };
        HarContent: {
            /** Format: int64 */
            size: number;
            mimeType: string;
            text: string;
            /** @constant */
            encoding?: "base64";
        };
        /** @description HAR asks for it; there is none. */
        HarCache: Record<string, never>;
        HarTimings: {
            /** Format: int64 */
            send: number;
            /** Format: int64 */
            wait: number;
            /** Format: int64 */
            receive: number;
        };
        Costs: {
            /**
             * Format: date-time
             * @description The time up to which they are, by the clock of the server: the since of a span that follows.
             */
            until: string;
            /** @description USD, in whole billionths, as all amounts. */
            total: number;
            /**
             * Format: int64
             * @description How many costs there are, over the limit too.
             */
            count: number;
            /** @description The highest first. */
            costs: components["schemas"]["Cost"][];
        };
        Cost: {
            kind?: components["schemas"]["CostKind"];
            /** @description By resource: its id. */
            id?: string;
            /** @description By resource and by user: who would have paid. */
            user?: string;
            /** @description USD. */
            amount: number;
            /**
             * Format: int64
             * @description How long it ran, or was there: of several pods or workers the sum.
             */
            milliseconds: number;
        };
        /**
         * @description By resource and by kind. What the pods of a cluster cost is that of the cluster, and what workers cost that of their endpoint.
         * @enum {string}
         */
        CostKind: "pod" | "cluster" | "endpoint" | "volume";
        WebhookList: {
            webhooks: components["schemas"]["Webhook"][];
        };
        Webhook: {
            /**
             * Format: int64
             * @description Its place in the log: less than 2^53, so that every client reads it exactly.
             */
            number: number;
            job: string;
            url: string;
            tries: number;
            /**
             * Format: date-time
             * @description Of the next try; null when it is over.
             */
            nextAt: string | null;
            /** @description HTTP status of the last try; 0 when there was no answer. */
            status: number;
            /** @description Why the last try failed, empty if it did not. */
            error: string;
            /** Format: date-time */
            createdAt: string;
        };
        StateList: {
            states: components["schemas"]["State"][];
        };
        State: {
            name: string;
            /**
             * Format: date-time
             * @description By the clock of the machine.
             */
            savedAt: string;
            /** Format: int64 */
            bytes: number;
        };
        /** @description Any document. */
        ReceivedWebhook: {
            [key: string]: unknown;
        };
        Storage: {
            /** @enum {string} */
            state: "writable" | "full" | "failing" | "locked";
        };
        FleetSettings: {
            /** @description Milliseconds that an interruptible pod that is started from now on runs on average until it is interrupted; 0: until interruptWork is asked for. */
            interruptAfter?: number;
            /**
             * Format: int64
             * @description The same seed draws the same times again, one pod after the other.
             * @default 0
             */
            interruptSeed: number;
            /** @description Milliseconds until a pod that is started from now on is up. */
            boot?: number;
            /** @description One host for each item. Of the GPU types and CPU flavors that are named here the fleet has these hosts alone, of all others what it was started with; an empty list takes back what was set. Pods keep what they hold. */
            capacity?: components["schemas"]["Capacity"][];
        };
        Interrupt: {
            /** @description This pod. */
            pod?: string;
            /** @description This worker, which the server has started. */
            worker?: string;
            /** @description All workers of the endpoint that the server has started. */
            endpoint?: string;
        };
        Interrupted: {
            pods: number;
            workers: number;
        };
        Capacity: {
            /** @description GPU type id. Exactly one of gpu and cpu must be set. */
            gpu?: string;
            /** @description CPU flavor id. */
            cpu?: string;
            dataCenterId: string;
            /** @description GPUs, or vCPUs. */
            count: number;
            /**
             * @default SECURE
             * @enum {string}
             */
            cloud: "SECURE" | "COMMUNITY";
            /** @description None if it is absent. */
            cudaVersion?: string;
            /** @description GB; plenty if it is absent. */
            disk?: number;
            /**
             * @description Whether the host has an address that everybody reaches.
             * @default true
             */
            publicIp: boolean;
            /** @default 10000 */
            downloadMbps: number;
            /** @default 10000 */
            uploadMbps: number;
        };
        Problem: {
            title: string;
            status: number;
            detail: string;
            errors?: string[];
        };
    };
    responses: {
        /** @description Refused. */
        Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description The nextCursor of the page before; without it, the list begins with its first page. A cursor is good for the caller and the parameters that gave it; limit may differ. */
        Cursor: string;
        /** @description How many a page has at most; 1000 without it. */
        Limit: number;
        /** @description Whether what the user has stays as it is. Nobody reaches it then, until there is a user of that name again. */
        KeepResources: boolean;
        /** @description These kinds alone, and reset; all without it. */
        EventKinds: components["schemas"]["FollowedKind"][];
        /** @description It goes on after the event of this id. */
        EventsAfter: string;
        /**
         * @description The id of the job.
         * @example 0198c0de-0000-7000-8000-000000000000
         */
        JobID: string;
        /** @description The endpoint whose jobs they are; without it, all. */
        JobsEndpoint: string;
        /** @description The status of the jobs. */
        JobsStatus: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED" | "FAILED" | "CANCELLED" | "TIMED_OUT";
        /** @description The time at which a job was submitted at the earliest. */
        JobsFrom: string;
        /** @description The time before which a job was submitted. */
        JobsTo: string;
        /** @description A text that the error of the job contains, in its first 65536 characters. The letters A to Z count as a to z. */
        JobsError: string;
        /** @description The time at which it was done at the earliest. */
        AuditSince: string;
        /** @description The time before which it was done. */
        AuditUntil: string;
        /** @description Whose key it was done with. */
        AuditUser: string;
        /** @description The id of the key that it was done with, or the fingerprint of one of SSH. */
        AuditKey: string;
        /** @description The kind of what was changed. */
        AuditKind: components["schemas"]["AuditKind"];
        /** @description The id of what was changed. */
        AuditID: string;
        /** @description The operation that was asked for, as an entry has it. */
        AuditOperation: string;
        /** @description The beginning of the first minute. */
        RefusalsSince: string;
        /** @description The time before which the last minute begins. */
        RefusalsUntil: string;
        /** @description The address that it came from. */
        RefusalsClient: string;
        /** @description The id of the key, or the fingerprint of one of SSH. */
        RefusalsKey: string;
        /** @description Whose key it was. */
        RefusalsUser: string;
        /** @description What each cost is of: a resource, all resources of a kind, or all of a user. */
        CostsBy: "resource" | "kind" | "user";
        /** @description The user whose costs alone are meant; all without it. */
        CostsUser: string;
        /** @description The time from which on costs are counted. */
        CostsSince: string;
        /** @description The time up to which costs are counted. */
        CostsUntil: string;
        /** @description How many costs there are at most, the highest; count and total are of all. */
        CostsLimit: number;
        /** @description An operationId of any document, graphql for every document of GraphQL, graphql. with a field of Query or Mutation, or unknown for what no operation answers. */
        JournalOperation: string;
        /** @description The method, in capitals. */
        JournalMethod: string;
        /** @description What the path begins with. */
        JournalPathPrefix: string;
        /** @description The id of the key that the request was sent with. */
        JournalKeyID: string;
        /** @description An id in the path. */
        JournalResource: string;
        /** @description A status, or a class of them such as 4xx; 0 is no answer. */
        JournalStatus: string;
        /** @description The time at which a request came at the earliest. */
        JournalSince: string;
        /** @description The time before which a request came. */
        JournalUntil: string;
        /** @description The number after which the entries begin. */
        JournalAfterNumber: number;
        /** @description How many entries there are at most; all without it. */
        JournalLimit: number;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getClock: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The clock. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Clock"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    autoClock: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AutoClock"];
            };
        };
        responses: {
            /** @description The clock. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Clock"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    freezeClock: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The clock. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Clock"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    resumeClock: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The clock. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Clock"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    advanceClock: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Advance"];
            };
        };
        responses: {
            /** @description The clock. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Clock"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    sleepClock: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Advance"];
            };
        };
        responses: {
            /** @description The clock. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Clock"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    stepClock: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Step"];
            };
        };
        responses: {
            /** @description The clock. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Clock"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    resetState: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The keys, without what they are sent as. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyList"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewKey"];
            };
        };
        responses: {
            /** @description The key; it cannot be had again. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that the key was made with.
                 * @example key_7d2f9h4k
                 */
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listUsers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The users. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserList"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewUser"];
            };
        };
        responses: {
            /** @description The user. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deleteUser: {
        parameters: {
            query?: {
                /** @description Whether what the user has stays as it is. Nobody reaches it then, until there is a user of that name again. */
                keepResources?: components["parameters"]["KeepResources"];
            };
            header?: never;
            path: {
                /**
                 * @description The name of the user.
                 * @example auditor
                 */
                userName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    changeUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the user.
                 * @example auditor
                 */
                userName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserChange"];
            };
        };
        responses: {
            /** @description The user. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    setQuotas: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Quotas"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getFaults: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The faults, with how often each was shown. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FaultList"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    setFaults: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Faults"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    addFault: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Fault"];
            };
        };
        responses: {
            /** @description The fault, with its id. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShownFault"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    clearFaults: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deleteFault: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the fault.
                 * @example fault-1
                 */
                faultId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getScript: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the endpoint.
                 * @example endpoint-id
                 */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The script, and its counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShownScript"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    setScript: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the endpoint.
                 * @example endpoint-id
                 */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Script"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deleteScript: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the endpoint.
                 * @example endpoint-id
                 */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listStates: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The states. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StateList"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    saveState: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the state.
                 * @example before-upgrade
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deleteState: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the state.
                 * @example before-upgrade
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    loadState: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the state.
                 * @example the-day-before
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listJournal: {
        parameters: {
            query?: {
                /** @description An operationId of any document, graphql for every document of GraphQL, graphql. with a field of Query or Mutation, or unknown for what no operation answers. */
                operation?: components["parameters"]["JournalOperation"];
                /** @description The method, in capitals. */
                method?: components["parameters"]["JournalMethod"];
                /** @description What the path begins with. */
                pathPrefix?: components["parameters"]["JournalPathPrefix"];
                /** @description The id of the key that the request was sent with. */
                keyId?: components["parameters"]["JournalKeyID"];
                /** @description An id in the path. */
                resource?: components["parameters"]["JournalResource"];
                /** @description A status, or a class of them such as 4xx; 0 is no answer. */
                status?: components["parameters"]["JournalStatus"];
                /** @description The time at which a request came at the earliest. */
                since?: components["parameters"]["JournalSince"];
                /** @description The time before which a request came. */
                until?: components["parameters"]["JournalUntil"];
                /** @description The number after which the entries begin. */
                afterNumber?: components["parameters"]["JournalAfterNumber"];
                /** @description How many entries there are at most; all without it. */
                limit?: components["parameters"]["JournalLimit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Journal"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    clearJournal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getJournalEntry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The number of the entry.
                 * @example 12
                 */
                number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entry. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JournalEntry"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    exportJournal: {
        parameters: {
            query?: {
                /** @description An operationId of any document, graphql for every document of GraphQL, graphql. with a field of Query or Mutation, or unknown for what no operation answers. */
                operation?: components["parameters"]["JournalOperation"];
                /** @description The method, in capitals. */
                method?: components["parameters"]["JournalMethod"];
                /** @description What the path begins with. */
                pathPrefix?: components["parameters"]["JournalPathPrefix"];
                /** @description The id of the key that the request was sent with. */
                keyId?: components["parameters"]["JournalKeyID"];
                /** @description An id in the path. */
                resource?: components["parameters"]["JournalResource"];
                /** @description A status, or a class of them such as 4xx; 0 is no answer. */
                status?: components["parameters"]["JournalStatus"];
                /** @description The time at which a request came at the earliest. */
                since?: components["parameters"]["JournalSince"];
                /** @description The time before which a request came. */
                until?: components["parameters"]["JournalUntil"];
                /** @description The number after which the entries begin. */
                afterNumber?: components["parameters"]["JournalAfterNumber"];
                /** @description How many entries there are at most; all without it. */
                limit?: components["parameters"]["JournalLimit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The archive. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Har"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    verifyJournal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Verification"];
            };
        };
        responses: {
            /** @description Whether all expectations hold, and what is wrong with those that do not. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerificationResult"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getCosts: {
        parameters: {
            query?: {
                /** @description What each cost is of: a resource, all resources of a kind, or all of a user. */
                by?: components["parameters"]["CostsBy"];
                /** @description The user whose costs alone are meant; all without it. */
                user?: components["parameters"]["CostsUser"];
                /** @description The time from which on costs are counted. */
                since?: components["parameters"]["CostsSince"];
                /** @description The time up to which costs are counted. */
                until?: components["parameters"]["CostsUntil"];
                /** @description How many costs there are at most, the highest; count and total are of all. */
                limit?: components["parameters"]["CostsLimit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The costs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Costs"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The last 1000 deliveries, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookList"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deliverWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The number of the delivery in the log.
                 * @example 1
                 */
                number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is delivered. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    receiveWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Any name, such as that of the test.
                 * @example orders
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReceivedWebhook"];
            };
        };
        responses: {
            /** @description It was received. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    setFleet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FleetSettings"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    interruptWork: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Interrupt"];
            };
        };
        responses: {
            /** @description How many were interrupted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Interrupted"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listHosts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The hosts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostList"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    addHost: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewHost"];
            };
        };
        responses: {
            /** @description The host. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Host"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    removeHost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the host in the fleet.
                 * @example box-7
                 */
                hostId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    changeHost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the host in the fleet.
                 * @example box-7
                 */
                hostId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HostChange"];
            };
        };
        responses: {
            /** @description The host. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Host"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getEvents: {
        parameters: {
            query?: {
                /** @description These kinds alone, and reset; all without it. */
                kinds?: components["parameters"]["EventKinds"];
            };
            header?: {
                /** @description It goes on after the event of this id. */
                "Last-Event-ID"?: components["parameters"]["EventsAfter"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events. The id of an event is that of Last-Event-ID, its name is the kind, and its data a JSON object, as the schema Event describes it. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getLogs: {
        parameters: {
            query?: {
                /** @description Only lines of this source. */
                type?: "all" | "container" | "system";
                /** @description Answer with a stream of server-sent events. */
                stream?: boolean;
                /** @description With how many of the last lines it begins; absent, 100 of a stream, and else 1000. */
                tail?: number;
                /** @description It begins with the lines from this time on, however many; tail does not count then. */
                since?: string;
            };
            header?: {
                /** @description It begins after the line of this id; neither tail nor since count then. */
                "Last-Event-ID"?: string;
            };
            path: {
                /**
                 * @description The id of the pod, or of the worker.
                 * @example k3v9x2m1q8w7rt
                 */
                podId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The lines, at most 1 MB of the last ones, or the stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Logs"];
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description The time at which it was done at the earliest. */
                since?: components["parameters"]["AuditSince"];
                /** @description The time before which it was done. */
                until?: components["parameters"]["AuditUntil"];
                /** @description Whose key it was done with. */
                user?: components["parameters"]["AuditUser"];
                /** @description The id of the key that it was done with, or the fingerprint of one of SSH. */
                key?: components["parameters"]["AuditKey"];
                /** @description The kind of what was changed. */
                kind?: components["parameters"]["AuditKind"];
                /** @description The id of what was changed. */
                id?: components["parameters"]["AuditID"];
                /** @description The operation that was asked for, as an entry has it. */
                operation?: components["parameters"]["AuditOperation"];
                /** @description The nextCursor of the page before; without it, the list begins with its first page. A cursor is good for the caller and the parameters that gave it; limit may differ. */
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
            /** @description The entries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditList"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listRefusals: {
        parameters: {
            query?: {
                /** @description The beginning of the first minute. */
                since?: components["parameters"]["RefusalsSince"];
                /** @description The time before which the last minute begins. */
                until?: components["parameters"]["RefusalsUntil"];
                /** @description The address that it came from. */
                client?: components["parameters"]["RefusalsClient"];
                /** @description The id of the key, or the fingerprint of one of SSH. */
                key?: components["parameters"]["RefusalsKey"];
                /** @description Whose key it was. */
                user?: components["parameters"]["RefusalsUser"];
                /** @description The nextCursor of the page before; without it, the list begins with its first page. A cursor is good for the caller and the parameters that gave it; limit may differ. */
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
            /** @description The entries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RefusalList"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listJobs: {
        parameters: {
            query?: {
                /** @description The endpoint whose jobs they are; without it, all. */
                endpointId?: components["parameters"]["JobsEndpoint"];
                /** @description The status of the jobs. */
                status?: components["parameters"]["JobsStatus"];
                /** @description The time at which a job was submitted at the earliest. */
                from?: components["parameters"]["JobsFrom"];
                /** @description The time before which a job was submitted. */
                to?: components["parameters"]["JobsTo"];
                /** @description A text that the error of the job contains, in its first 65536 characters. The letters A to Z count as a to z. */
                error?: components["parameters"]["JobsError"];
                /** @description The nextCursor of the page before; without it, the list begins with its first page. A cursor is good for the caller and the parameters that gave it; limit may differ. */
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
            /** @description The jobs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobList"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the job.
                 * @example 0198c0de-0000-7000-8000-000000000000
                 */
                jobId: components["parameters"]["JobID"];
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
                    "application/json": components["schemas"]["JobDetail"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    whyJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the job.
                 * @example 0198c0de-0000-7000-8000-000000000000
                 */
                jobId: components["parameters"]["JobID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The reason. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Why"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    whyEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the endpoint.
                 * @example k3v9x2m1q8w7rt
                 */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The reason. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Why"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getBalancedWorkers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the endpoint, whose type is LOAD_BALANCER.
                 * @example k3v9x2m1q8w7rt
                 */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workers that there are, by their ids. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BalancedWorkers"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    whyPod: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the pod.
                 * @example k3v9x2m1q8w7rt
                 */
                podId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The reason. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Why"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key and the server. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            401: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getHistory: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The samples of the last hour. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FleetHistory"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getEndpointHistory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the endpoint.
                 * @example k3v9x2m1q8w7rt
                 */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The samples of the last hour. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointHistory"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getPodHistory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the pod.
                 * @example k3v9x2m1q8w7rt
                 */
                podId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The samples of the last hour. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PodHistory"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    execPod: {
        parameters: {
            query?: {
                /** @description The program and its arguments, one after another. The program is looked for in the PATH of the image. Without it a shell runs: bash if the image has it, or else sh. */
                command?: string[];
                /** @description Whether the client says something on channel 0. */
                stdin?: boolean;
                /** @description Whether the command has a terminal. What it writes then comes on channel 1 alone. */
                tty?: boolean;
                /** @description Of the terminal, in characters. */
                width?: number;
                /** @description Of the terminal, in lines. */
                height?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The id of the pod, which must be RUNNING.
                 * @example k3v9x2m1q8w7rt
                 */
                podId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A websocket. */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    execWorker: {
        parameters: {
            query?: {
                /** @description The program and its arguments, one after another. The program is looked for in the PATH of the image. Without it a shell runs: bash if the image has it, or else sh. */
                command?: string[];
                /** @description Whether the client says something on channel 0. */
                stdin?: boolean;
                /** @description Whether the command has a terminal. What it writes then comes on channel 1 alone. */
                tty?: boolean;
                /** @description Of the terminal, in characters. */
                width?: number;
                /** @description Of the terminal, in lines. */
                height?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The id of the endpoint.
                 * @example k3v9x2m1q8w7rt
                 */
                endpointId: string;
                /**
                 * @description The id of the worker.
                 * @example w3v9x2m1q8w7rt
                 */
                workerId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A websocket. */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    setStorage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Storage"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
}
