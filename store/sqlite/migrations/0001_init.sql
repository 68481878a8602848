-- Times are milliseconds since 1970 UTC, NULL for none; durations are milliseconds. JSON that berth only carries is a
-- BLOB, so that it comes back byte for byte; maps and lists of our own are JSON text. seq is the order of insertion.

CREATE TABLE pods (
  seq               INTEGER PRIMARY KEY,
  id                TEXT NOT NULL UNIQUE,
  user_id           TEXT NOT NULL,
  name              TEXT NOT NULL,
  image             TEXT NOT NULL,
  args              TEXT NOT NULL,
  disk_gb           INTEGER NOT NULL,
  ports             TEXT NOT NULL,    -- JSON
  env               TEXT NOT NULL,    -- JSON
  registry_id       TEXT NOT NULL,    -- '': none
  persistent_gb     INTEGER,          -- NULL: no persistent mount
  persistent_path   TEXT,
  network_volume_id TEXT,             -- NULL: no network mount
  network_path      TEXT,
  gpu_id            TEXT,             -- NULL: no GPU
  gpu_count         INTEGER,
  cpu_id            TEXT,             -- NULL: no CPU
  cpu_vcpus         INTEGER,
  cpu_memory_gb     INTEGER,
  cloud             TEXT NOT NULL,
  data_center_id    TEXT NOT NULL,    -- '': not placed
  host_id           TEXT NOT NULL,    -- '': not placed; with an active status, what the pod holds
  template_id       TEXT NOT NULL,    -- '': none
  cluster_id        TEXT NOT NULL,    -- '': none
  devices           TEXT NOT NULL,    -- JSON: of the GPUs on the host
  network_address   INTEGER NOT NULL, -- 0: none
  global_networking INTEGER NOT NULL, -- from the next start on
  locked            INTEGER NOT NULL,
  cost_per_hour     REAL NOT NULL,    -- USD
  status            TEXT NOT NULL,    -- in no index, so that a move writes none
  gone              INTEGER NOT NULL, -- 1 when TERMINATED
  reason            TEXT NOT NULL,
  version           INTEGER NOT NULL, -- guards the moves
  created_at        INTEGER,
  started_at        INTEGER,
  restart_at        INTEGER,
  moved_at          INTEGER
) STRICT;

CREATE INDEX pods_of_user ON pods (user_id, created_at) WHERE gone = 0;
CREATE UNIQUE INDEX pods_by_address ON pods (network_address) WHERE network_address > 0 AND gone = 0;

CREATE TABLE endpoints (
  seq             INTEGER PRIMARY KEY,
  id              TEXT NOT NULL UNIQUE,
  user_id         TEXT NOT NULL,
  name            TEXT NOT NULL,
  type            TEXT NOT NULL,
  declared        INTEGER NOT NULL,
  image           TEXT NOT NULL,
  args            TEXT NOT NULL,
  disk_gb         INTEGER NOT NULL,
  ports           TEXT NOT NULL,    -- JSON
  env             TEXT NOT NULL,    -- JSON
  registry_id     TEXT NOT NULL,    -- '': none
  gpu_pools       TEXT,             -- JSON; NULL: no GPU
  gpu_excluded    TEXT,             -- JSON
  gpu_count       INTEGER,
  cuda_versions   TEXT,             -- JSON
  least_cuda      TEXT,
  cpus            TEXT NOT NULL,    -- JSON, each "flavor vcpus memory"
  data_center_ids TEXT NOT NULL,    -- JSON
  volume_ids      TEXT NOT NULL,    -- JSON
  template_id     TEXT NOT NULL,    -- '': none
  workers_min     INTEGER NOT NULL,
  workers_max     INTEGER NOT NULL,
  idle_timeout    INTEGER NOT NULL,
  scaler          TEXT NOT NULL,
  scaler_value    REAL NOT NULL,
  timeout         INTEGER NOT NULL,
  flashboot       TEXT NOT NULL,
  version         INTEGER NOT NULL, -- of the latest release
  created_at      INTEGER,
  deleted_at      INTEGER           -- NULL: it lasts
) STRICT;

CREATE UNIQUE INDEX endpoints_declared ON endpoints (user_id, name) WHERE declared;
CREATE INDEX endpoints_of_user ON endpoints (user_id, created_at) WHERE deleted_at IS NULL;

CREATE TABLE releases (
  seq         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  endpoint_id TEXT NOT NULL,
  version     INTEGER NOT NULL,
  created_by  TEXT NOT NULL, -- '': the operator
  fields      TEXT NOT NULL, -- JSON, those that changed
  old_values  TEXT NOT NULL, -- JSON, the JSON text of each
  new_values  TEXT NOT NULL, -- JSON, the JSON text of each
  created_at  INTEGER,
  UNIQUE (endpoint_id, version)
) STRICT;

CREATE TABLE workers (
  seq            INTEGER PRIMARY KEY,
  id             TEXT NOT NULL UNIQUE,
  endpoint_id    TEXT NOT NULL,
  version        INTEGER NOT NULL,
  image          TEXT NOT NULL,
  gpu_id         TEXT,             -- NULL: no GPU
  gpu_count      INTEGER,
  cpu_id         TEXT,             -- NULL: no CPU
  cpu_vcpus      INTEGER,
  cpu_memory_gb  INTEGER,
  disk_gb        INTEGER NOT NULL,
  data_center_id TEXT NOT NULL,    -- '': holds no host
  host_id        TEXT NOT NULL,    -- '': holds no host
  devices        TEXT NOT NULL,    -- JSON
  cost_per_hour  REAL NOT NULL,    -- USD
  created_at     INTEGER,
  started_at     INTEGER           -- NULL: not up yet
) STRICT;

CREATE INDEX workers_of_endpoint ON workers (endpoint_id);

-- output stands last, so that the other columns are read without passing over it.
CREATE TABLE jobs (
  seq               INTEGER PRIMARY KEY, -- from the id, and so ordered by time: inserts stay at the end
  id                TEXT NOT NULL,
  endpoint_id       TEXT NOT NULL,
  status            TEXT NOT NULL,
  sync              INTEGER NOT NULL,
  low_priority      INTEGER NOT NULL,
  worker_id         TEXT NOT NULL,        -- '': none
  attempt           INTEGER NOT NULL,
  retries           INTEGER NOT NULL,
  execution_timeout INTEGER NOT NULL,
  ttl               INTEGER NOT NULL,
  retention         INTEGER NOT NULL,
  created_at        INTEGER,
  queued_at         INTEGER,
  taken_at          INTEGER,
  ended_at          INTEGER,
  expires_at        INTEGER,
  webhook           TEXT NOT NULL,
  error             TEXT NOT NULL,
  final_reads       INTEGER NOT NULL DEFAULT 0, -- reads of its stream since it ended
  s3_config         BLOB,
  output            BLOB
) STRICT;

-- Read at the start alone. By ended_at, not by status, so that a take leaves it as it is.
CREATE INDEX jobs_open ON jobs (queued_at) WHERE ended_at IS NULL; -- then by seq, as every index
CREATE INDEX jobs_expiring ON jobs (expires_at) WHERE expires_at IS NOT NULL;

-- Inputs are up to 20 MB: apart from the jobs, so that no move rewrites one.
CREATE TABLE job_inputs (
  seq  INTEGER PRIMARY KEY REFERENCES jobs (seq) ON DELETE CASCADE,
  body BLOB
) STRICT;

CREATE TABLE chunks (
  job_seq INTEGER NOT NULL REFERENCES jobs (seq) ON DELETE CASCADE,
  n       INTEGER NOT NULL, -- from 1, in the order of arrival
  output  BLOB,
  metrics BLOB,
  PRIMARY KEY (job_seq, n)
) STRICT;

-- Deliveries to be made, and for a while those that were. They do not hang on their job, which may be deleted before.
CREATE TABLE webhooks (
  seq        INTEGER PRIMARY KEY,
  job_id     TEXT NOT NULL,
  url        TEXT NOT NULL,
  body       BLOB,             -- NULL: over
  tries      INTEGER NOT NULL,
  next_at    INTEGER,          -- NULL: over
  status     INTEGER NOT NULL, -- HTTP; 0: no answer
  error      TEXT NOT NULL,
  created_at INTEGER
) STRICT;

CREATE INDEX webhooks_due ON webhooks (next_at) WHERE next_at IS NOT NULL;

-- Kept beside the jobs, in the same transactions, because counting a million rows takes too long and deleted jobs count.
CREATE TABLE job_counts (
  endpoint_id TEXT PRIMARY KEY NOT NULL,
  in_queue    INTEGER NOT NULL,
  in_progress INTEGER NOT NULL,
  completed   INTEGER NOT NULL, -- deleted ones too
  failed      INTEGER NOT NULL, -- deleted ones too, retried ones not
  retried     INTEGER NOT NULL  -- takes lost to a silent worker
) STRICT;

CREATE TABLE keys (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  user_id    TEXT NOT NULL,
  name       TEXT NOT NULL,
  scopes     TEXT NOT NULL, -- JSON
  hash       BLOB NOT NULL, -- SHA-256 of the whole token
  worker_id  TEXT NOT NULL, -- '': not a worker's
  exempt     INTEGER NOT NULL, -- from rate limits
  created_at INTEGER,
  expires_at INTEGER,       -- NULL: never
  revoked_at INTEGER        -- NULL: not revoked
) STRICT;

-- How many requests a user made in the current window; window_start shows whether a count is over.
CREATE TABLE request_counts (
  user_id      TEXT NOT NULL,
  window_name  TEXT NOT NULL,
  window_start INTEGER NOT NULL,
  requests     INTEGER NOT NULL,
  PRIMARY KEY (user_id, window_name)
) STRICT;

CREATE TABLE volumes (
  seq            INTEGER PRIMARY KEY,
  id             TEXT NOT NULL UNIQUE,
  user_id        TEXT NOT NULL,
  name           TEXT NOT NULL,
  size_gb        INTEGER NOT NULL,
  data_center_id TEXT NOT NULL,
  type           TEXT NOT NULL,
  created_at     INTEGER
) STRICT;

CREATE INDEX volumes_of_user ON volumes (user_id, created_at);
CREATE INDEX pods_of_volume ON pods (network_volume_id) WHERE network_volume_id IS NOT NULL AND gone = 0;

CREATE TABLE registries (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  user_id    TEXT NOT NULL,
  name       TEXT NOT NULL,
  login      BLOB, -- sealed
  created_at INTEGER
) STRICT;

CREATE INDEX registries_of_user ON registries (user_id, created_at);
CREATE INDEX pods_of_registry ON pods (registry_id) WHERE registry_id <> '' AND gone = 0;

CREATE TABLE delegations (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  user_id    TEXT NOT NULL,
  name       TEXT NOT NULL, -- '': none
  account    TEXT NOT NULL,
  region     TEXT NOT NULL,
  repository TEXT NOT NULL,
  tag        TEXT NOT NULL,
  created_at INTEGER
) STRICT;

CREATE INDEX delegations_of_user ON delegations (user_id, created_at);

CREATE TABLE templates (
  seq             INTEGER PRIMARY KEY,
  id              TEXT NOT NULL UNIQUE,
  user_id         TEXT NOT NULL,
  name            TEXT NOT NULL,
  image           TEXT NOT NULL,
  args            TEXT NOT NULL,
  disk_gb         INTEGER NOT NULL,
  ports           TEXT NOT NULL,    -- JSON
  env             TEXT NOT NULL,    -- JSON
  registry_id     TEXT NOT NULL,    -- '': none
  persistent_gb   INTEGER,          -- NULL: no persistent mount
  persistent_path TEXT,
  category        TEXT NOT NULL,
  public          INTEGER NOT NULL,
  serverless      INTEGER NOT NULL,
  start_ssh       INTEGER NOT NULL,
  start_jupyter   INTEGER NOT NULL,
  cuda_versions   TEXT NOT NULL,    -- JSON
  readme          TEXT NOT NULL,
  created_at      INTEGER
) STRICT;

CREATE INDEX templates_of_user ON templates (user_id, created_at);
CREATE INDEX templates_of_registry ON templates (registry_id) WHERE registry_id <> '';
CREATE INDEX pods_of_template ON pods (template_id) WHERE template_id <> '' AND gone = 0;

CREATE TABLE ssh_keys (
  user_id TEXT PRIMARY KEY NOT NULL,
  lines   TEXT NOT NULL -- JSON
) STRICT;

CREATE TABLE clusters (
  seq            INTEGER PRIMARY KEY,
  id             TEXT NOT NULL UNIQUE,
  user_id        TEXT NOT NULL,
  name           TEXT NOT NULL,
  type           TEXT NOT NULL,
  gpu_id         TEXT NOT NULL,
  gpu_count      INTEGER NOT NULL, -- of each pod
  pod_count      INTEGER NOT NULL,
  data_center_id TEXT NOT NULL,
  created_at     INTEGER
) STRICT;

CREATE INDEX clusters_of_user ON clusters (user_id, created_at);
CREATE INDEX pods_of_cluster ON pods (cluster_id) WHERE cluster_id <> '' AND gone = 0;

-- What berth itself says in the logs of pods.
CREATE TABLE system_lines (
  id       TEXT NOT NULL,    -- of the pod or worker
  position INTEGER NOT NULL, -- nanoseconds since 1970
  text     TEXT NOT NULL,
  PRIMARY KEY (id, position)
) STRICT, WITHOUT ROWID;
-- What is billed: rows are written with the change that begins or ends them, and are kept.
CREATE TABLE charges (
  seq         INTEGER PRIMARY KEY,
  user_id     TEXT NOT NULL,
  item        TEXT NOT NULL,
  resource_id TEXT NOT NULL,    -- what it is billed to
  holder_id   TEXT NOT NULL,    -- what ran
  rate        INTEGER NOT NULL, -- billionths of a USD an hour
  began_at    INTEGER NOT NULL,
  seen_at     INTEGER,          -- NULL: its end is always written
  ended_at    INTEGER           -- NULL: open
) STRICT;

CREATE UNIQUE INDEX charges_open ON charges (holder_id) WHERE ended_at IS NULL;
CREATE INDEX charges_of_user ON charges (user_id, item, ended_at);
