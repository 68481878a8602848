// The words are those of spec/controls.yaml. Times are milliseconds.

export interface StartOptions {
  /** Further arguments of berth serve. It keeps nothing, unless they have --data or --store. */
  args?: string[];
  /** The program; without it $BERTH, the one inside this package, or that on the PATH. */
  program?: string;
  /** Where the directory of its database and log is made, which is removed at the end; without it where temporary files are. */
  directory?: string;
  /** What it has from the start and after a reset: a file or directory of files, or what such a file has. */
  seed?: string | Record<string, unknown>;
}

/** Starts a server, which is ready then. */
export function start(options?: StartOptions): Promise<Server>;

/** Gives the program that start would run. Throws with what to do if there is none. */
export function findProgram(chosen?: string): string;

/** The server answered with a problem. */
export class Refused extends Error {
  readonly status: number;
  readonly answer: unknown;
}

export interface Server {
  /** The base of REST and GraphQL, without a slash at the end. */
  readonly url: string;
  /** The base of the queue: jobs go to queueUrl + "/v2/<endpoint id>/run". */
  readonly queueUrl: string;
  readonly graphqlUrl: string;
  /** A key with every scope. */
  readonly key: string;
  /** The key of the test controls. */
  readonly controlsKey: string;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly journal: Journal;
  readonly scripts: Scripts;
  readonly states: States;
  readonly webhooks: Webhooks;
  readonly inbox: Inbox;
  readonly jobs: Jobs;
  readonly why: Why;
  /** Gives an endpoint of a function; without one that which an argument --endpoint declared, or a new one, without workers unless the options say so. */
  endpoint(name: string, handler?: Handler, options?: EndpointOptions): Promise<Endpoint>;
  /** Gives what would have been paid for what ran since the server's start or the last reset, in USD, on its clock: the highest first. */
  costs(filter?: CostFilter): Promise<Costs>;
  /** Makes a further key; members are name, user, exempt, spendLimit, expiresIn and contract. */
  newKey(scopes: string[], members?: Record<string, unknown>): Promise<{ id: string; key: string }>;
  /** Sends any test control: control("PUT", "/quotas", { minute: 10, hour: 100, day: 1000 }). Throws Refused. */
  control(method: string, path: string, body?: unknown): Promise<any>;
  /**
   * Forgets everything but keys, users, saved states, declared endpoints and the time; endpoints of functions end, faults and journal are empty.
   * Throws if a handler still runs, once all of it is forgotten.
   */
  reset(): Promise<void>;
  /** Gives the server's log. */
  log(): string;
  /** Ends the server and all that belongs to it. Again, it does nothing more. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface CostFilter {
  by?: "resource" | "kind" | "user";
  user?: string;
  since?: string | Date;
  until?: string | Date;
  limit?: number;
}

export interface Costs {
  /** The time up to which they are. */
  until: string;
  total: number;
  /** How many costs there are, over the limit too. */
  count: number;
  costs: Cost[];
}

export interface Cost {
  kind?: "pod" | "cluster" | "endpoint" | "volume";
  id?: string;
  user?: string;
  amount: number;
  milliseconds: number;
}

/** What a handler gets: a job as it was submitted. */
export interface Job {
  id: string;
  input: any;
  [member: string]: unknown;
}

export interface HandlerContext {
  /** Ends when the job is cancelled, or runs out of time, or the test is over. */
  signal: AbortSignal;
  /** Shows a value as the job's output until its end. */
  progress(output: unknown): Promise<void>;
}

/** Works on a job: it gives the output or a generator of streamed values, or throws what fails the job. */
export type Handler = (job: Job, context: HandlerContext) => unknown;

export interface EndpointOptions {
  /** Of a function: how many jobs are worked on at once; 1 without it. Of an endpoint without one: its workers, which follow its script. */
  workers?: number | { min?: number; max?: number; idleTimeout?: number };
  /** More members of the operation createEndpoint. */
  [member: string]: unknown;
}

/** A job as the queue answers. */
export interface JobStatus {
  id: string;
  status: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED" | "FAILED" | "CANCELLED" | "TIMED_OUT";
  output?: any;
  error?: string;
  [member: string]: unknown;
}

export interface Endpoint {
  readonly id: string;
  readonly name: string;
  /** The base of its operations: url + "/run". */
  readonly url: string;
  run(input: unknown, members?: Record<string, unknown>): Promise<JobStatus>;
  runsync(input: unknown, members?: Record<string, unknown>): Promise<JobStatus>;
  status(job: string | { id: string }): Promise<JobStatus>;
  statusSync(job: string | { id: string }): Promise<JobStatus>;
  /** Reads what a job streams, to its end. */
  stream(job: string | { id: string }): Promise<any[]>;
  cancel(job: string | { id: string }): Promise<JobStatus>;
  health(): Promise<{ jobs: Record<string, number>; workers: Record<string, number> }>;
}

/** What falls due on the way has been done when there is an answer: the time that it is then. */
export interface Clock {
  now(): Promise<Date>;
  state(): Promise<{ now: string; lag: number; mode: "running" | "frozen" | "auto"; until?: string; frozen: boolean; held: number }>;
  freeze(): Promise<Date>;
  resume(): Promise<Date>;
  advance(milliseconds: number): Promise<Date>;
  /** Has it go by itself to what is due whenever everything waits, for so long at the most. */
  auto(options?: { milliseconds?: number; settle?: number }): Promise<Date>;
  /** Waits on the clock, however it goes on. */
  sleep(milliseconds: number): Promise<Date>;
  /** Has the time of day of the machine step, back if it is less than 0. */
  step(milliseconds: number): Promise<Date>;
}

/** What stands at JSON Pointers of a body. */
export type Places = { pointer: string; equals: unknown }[] | Record<string, unknown>;

export interface Fault {
  operation: string;
  id?: string;
  when?: "before" | "after";
  resource?: string;
  keyId?: string;
  body?: Places;
  after?: number;
  nth?: number;
  every?: number;
  times?: number;
  probability?: number;
  seed?: number;
  latency?: number;
  latencyMax?: number;
  status?: number;
  retryAfter?: number;
  drop?: boolean;
  half?: number;
  garbage?: boolean;
  bytesPerSecond?: number;
}

/** A fault in force, with how many calls it matched and how many of them met it. */
export type ShownFault = Omit<Fault, "id"> & { id: string; calls: number; shown: number };

export interface Faults {
  add(fault: Fault): Promise<ShownFault>;
  set(faults: Fault[]): Promise<void>;
  list(): Promise<ShownFault[]>;
  delete(fault: string | { id: string }): Promise<void>;
  clear(): Promise<void>;
}

export interface JournalFilter {
  operation?: string;
  method?: string;
  pathPrefix?: string;
  keyId?: string;
  resource?: string;
  status?: string | number;
  since?: string | Date;
  until?: string | Date;
  afterNumber?: number;
}

export interface Expectation extends JournalFilter {
  headers?: { name: string; value: string }[] | Record<string, string>;
  body?: Places;
  /** A number is exactly so many; without it at least one. */
  times?: number | { exactly?: number; atLeast?: number; atMost?: number };
}

export interface Journal {
  entries(filter?: JournalFilter & { limit?: number }): Promise<JournalEntry[]>;
  har(filter?: JournalFilter & { limit?: number }): Promise<any>;
  clear(): Promise<void>;
  /** Throws AssertionError, which says what does not hold and which request comes nearest. */
  verify(expectations: Expectation | Expectation[], options?: { inOrder?: boolean }): Promise<void>;
}

/** Its id, or what has one. */
export type Identified = string | { id: string };

/** What the workers of endpoints do that have no handler. */
export interface Scripts {
  /** Sets the script, in place of the one that there was: seed, coldStart and answers. */
  set(endpoint: Identified, script: Record<string, unknown>): Promise<void>;
  /** Gives the script, with how often its answers were used. */
  get(endpoint: Identified): Promise<{ script: any; used: number[]; jobs: number; workers: number }>;
  delete(endpoint: Identified): Promise<void>;
}

/** Everything that the server has, saved under names of lower-case letters, digits, hyphens and underscores. */
export interface States {
  save(name: string): Promise<void>;
  /** Goes back to a saved state. Its keys are those of the state; endpoints of functions end. */
  load(name: string): Promise<void>;
  list(): Promise<{ name: string; [member: string]: unknown }[]>;
  delete(name: string): Promise<void>;
}

/** A delivery of a webhook. */
export interface Webhook {
  number: number;
  job: string;
  url: string;
  status: number;
  error: string;
  tries: number;
  createdAt: string;
  nextAt: string | null;
}

export interface Webhooks {
  /** The last deliveries, the newest first. */
  list(): Promise<Webhook[]>;
  /** Delivers the job's document once more to where a delivery went. */
  deliver(delivery: number | { number: number }): Promise<void>;
}

/** A receiver of webhooks, of any name: what comes is in the journal, as requests of receiveWebhook with the name as their resource. */
export interface Inbox {
  url(name: string): string;
  /**
   * The bodies that came, the oldest first; one that is no UTF-8 as a Buffer. Throws for one of more than 64 KiB, of which the journal keeps the
   * beginning, and once the journal has forgotten requests, which may have been some of them.
   */
  received(name: string): Promise<any[]>;
}

export interface JobFilter {
  endpointId?: string;
  status?: string;
  from?: string | Date;
  to?: string | Date;
  error?: string;
  limit?: number;
}

export interface Jobs {
  /** Jobs of all pages, or so many as limit says; the one that was submitted last first. */
  list(filters?: JobFilter): Promise<{ id: string; endpointId: string; status: string; [member: string]: unknown }[]>;
  /** All that is known of a job. */
  get(job: Identified): Promise<any>;
}

/** Why something does not go on; spec/controls.yaml has the reasons. */
export interface Reason {
  reason: string;
  because: string;
  helps?: string;
  waits: boolean;
  since?: string;
  details: Record<string, unknown>;
}

export interface Why {
  job(job: Identified): Promise<Reason>;
  endpoint(endpoint: Identified): Promise<Reason>;
  pod(pod: Identified): Promise<Reason>;
}

/** A request that came, without what is secret in it; spec/controls.yaml has all of its members. */
export interface JournalEntry {
  number: number;
  time: string;
  duration: number;
  method: string;
  path: string;
  query: string;
  operation: string;
  resources: Record<string, string>;
  keyId: string;
  user: string;
  request: JournalMessage;
  status: number;
  response: JournalMessage;
  [member: string]: unknown;
}

export interface JournalMessage {
  headers: { name: string; value: string }[];
  body: { text: string; base64: boolean; length: number; truncated: boolean };
}
