-- What the migrations make, and every new database has. Written by make rules: add a migration, and do not edit this.

CREATE TABLE audit (
  seq       INTEGER PRIMARY KEY,
  at        INTEGER NOT NULL,
  user_id   TEXT NOT NULL,
  key_id    TEXT NOT NULL,
  request   TEXT NOT NULL,
  operation TEXT NOT NULL,
  client    TEXT NOT NULL,
  kind      TEXT NOT NULL,
  id        TEXT NOT NULL,
  change    TEXT NOT NULL,
  fields    TEXT NOT NULL
) STRICT;

CREATE TABLE builds (
  seq         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  endpoint_id TEXT NOT NULL,
  status      TEXT NOT NULL,
  image       TEXT NOT NULL,
  error       TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  started_at  INTEGER,       -- NULL: not yet
  ended_at    INTEGER,       -- likewise
  lines       TEXT NOT NULL  -- JSON: each "position source text"
) STRICT;

CREATE INDEX builds_of_endpoint ON builds (endpoint_id, created_at);

CREATE INDEX builds_under_way ON builds (seq) WHERE ended_at IS NULL;

-- sqlite_autoindex_builds_1 ON builds;

CREATE TABLE charge_sums (
  user_id     TEXT NOT NULL,
  item        TEXT NOT NULL,
  day         INTEGER NOT NULL, -- its beginning
  resource_id TEXT NOT NULL,
  amount      INTEGER NOT NULL, -- billionths of a USD
  ran         INTEGER NOT NULL, -- milliseconds, of all that ran
  PRIMARY KEY (user_id, item, day, resource_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX charge_sums_of_day ON charge_sums (day);

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
, summed_until INTEGER) STRICT;

CREATE INDEX charges_ended ON charges (ended_at) WHERE ended_at IS NOT NULL;

CREATE INDEX charges_of_user ON charges (user_id, item, ended_at);

CREATE UNIQUE INDEX charges_open ON charges (holder_id) WHERE ended_at IS NULL;

CREATE TABLE chunks (
  job_seq INTEGER NOT NULL REFERENCES jobs (seq) ON DELETE CASCADE,
  n       INTEGER NOT NULL, -- from 1, in the order of arrival
  output  BLOB,
  metrics BLOB,
  PRIMARY KEY (job_seq, n)
) STRICT;

-- sqlite_autoindex_chunks_1 ON chunks;

CREATE TABLE claim_sums (
  host_id   TEXT PRIMARY KEY NOT NULL,
  gpus      INTEGER NOT NULL,
  vcpus     INTEGER NOT NULL,
  memory_gb INTEGER NOT NULL,
  disk_gb   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE claims (
  holder_id TEXT NOT NULL,    -- a pod or a worker
  kept      INTEGER NOT NULL, -- 1: also while the pod is stopped
  part      INTEGER NOT NULL,
  host_id   TEXT NOT NULL,
  device    TEXT,             -- NULL: part 0
  vcpus     INTEGER NOT NULL, -- beside those of the devices
  memory_gb INTEGER NOT NULL, -- likewise
  disk_gb   INTEGER NOT NULL,
  PRIMARY KEY (holder_id, kept, part)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX claims_of_device ON claims (host_id, device) WHERE device IS NOT NULL;

CREATE TABLE clock (
  one INTEGER PRIMARY KEY CHECK (one = 1), -- there is no other row
  lag INTEGER NOT NULL                     -- milliseconds
, seen_at INTEGER) STRICT;

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
, template_id TEXT NOT NULL DEFAULT '') STRICT;

CREATE INDEX clusters_of_user ON clusters (user_id, created_at);

-- sqlite_autoindex_clusters_1 ON clusters;

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

-- sqlite_autoindex_delegations_1 ON delegations;

CREATE TABLE ended_workers (
  seq         INTEGER PRIMARY KEY, -- in the order of their ends
  id          TEXT NOT NULL UNIQUE,
  endpoint_id TEXT NOT NULL,
  version     INTEGER NOT NULL,
  started_at  INTEGER,             -- NULL: it never came up
  ended_at    INTEGER NOT NULL,
  exit_code   INTEGER,             -- NULL: berth ended it, or nobody knows
  reason      TEXT NOT NULL,
  lines       TEXT NOT NULL        -- JSON
) STRICT;

CREATE INDEX ended_workers_of_endpoint ON ended_workers (endpoint_id);

-- sqlite_autoindex_ended_workers_1 ON ended_workers;

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
, compliance TEXT NOT NULL DEFAULT '[]', global_volume_id TEXT NOT NULL DEFAULT '', flash_environment_id TEXT NOT NULL DEFAULT '') STRICT;

CREATE UNIQUE INDEX endpoints_declared ON endpoints (user_id, name) WHERE declared;

CREATE INDEX endpoints_of_user ON endpoints (user_id, created_at) WHERE deleted_at IS NULL;

-- sqlite_autoindex_endpoints_1 ON endpoints;

CREATE TABLE flash_apps (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  user_id    TEXT NOT NULL,
  name       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (user_id, name)
) STRICT;

-- sqlite_autoindex_flash_apps_1 ON flash_apps;

-- sqlite_autoindex_flash_apps_2 ON flash_apps;

CREATE TABLE flash_builds (
  seq         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  app_id      TEXT NOT NULL,
  user_id     TEXT NOT NULL,
  size        INTEGER NOT NULL, -- bytes of the artifact
  prepared_at INTEGER NOT NULL,
  received_at INTEGER,          -- NULL: its artifact has not come
  created_at  INTEGER,          -- NULL: it is an upload
  manifest    BLOB              -- JSON; NULL: none
) STRICT;

CREATE INDEX flash_builds_of_app ON flash_builds (app_id);

CREATE INDEX flash_builds_of_user ON flash_builds (user_id);

CREATE INDEX flash_uploads ON flash_builds (seq) WHERE created_at IS NULL;

-- sqlite_autoindex_flash_builds_1 ON flash_builds;

CREATE TABLE flash_environments (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  app_id     TEXT NOT NULL,
  name       TEXT NOT NULL,
  build_id   TEXT NOT NULL,    -- '': none was deployed
  created_at INTEGER NOT NULL,
  UNIQUE (app_id, name)
) STRICT;

-- sqlite_autoindex_flash_environments_1 ON flash_environments;

-- sqlite_autoindex_flash_environments_2 ON flash_environments;

CREATE TABLE global_volumes (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  user_id    TEXT NOT NULL,
  name       TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX global_volumes_of_user ON global_volumes (user_id, created_at);

-- sqlite_autoindex_global_volumes_1 ON global_volumes;

CREATE TABLE host_changes (
  seq      INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,
  added    TEXT NOT NULL,
  draining INTEGER NOT NULL,
  removed  INTEGER NOT NULL
) STRICT;

-- sqlite_autoindex_host_changes_1 ON host_changes;

CREATE TABLE job_counts (
  endpoint_id TEXT PRIMARY KEY NOT NULL,
  in_queue    INTEGER NOT NULL,
  in_progress INTEGER NOT NULL,
  completed   INTEGER NOT NULL, -- deleted ones too
  failed      INTEGER NOT NULL, -- deleted ones too, retried ones not
  retried     INTEGER NOT NULL  -- takes lost to a silent worker
) STRICT;

-- sqlite_autoindex_job_counts_1 ON job_counts;

CREATE TABLE job_inputs (
  seq  INTEGER PRIMARY KEY REFERENCES jobs (seq) ON DELETE CASCADE,
  body BLOB
, size INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE job_pieces (
  job_seq INTEGER NOT NULL REFERENCES jobs (seq) ON DELETE CASCADE,
  of      TEXT NOT NULL,    -- input or output
  n       INTEGER NOT NULL, -- from 0
  body    BLOB NOT NULL,
  PRIMARY KEY (job_seq, of, n)
) STRICT;

-- sqlite_autoindex_job_pieces_1 ON job_pieces;

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
, output_size INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE INDEX jobs_expiring ON jobs (expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX jobs_of_endpoint ON jobs (endpoint_id, created_at);

CREATE INDEX jobs_open ON jobs (queued_at) WHERE ended_at IS NULL;

CREATE INDEX jobs_open_or_failed ON jobs (endpoint_id, created_at) WHERE (ended_at IS NULL OR error <> '');

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
, contract TEXT NOT NULL DEFAULT '', spend_limit REAL NOT NULL DEFAULT 0) STRICT;

-- sqlite_autoindex_keys_1 ON keys;

CREATE TABLE logins (
  hash       TEXT NOT NULL PRIMARY KEY, -- of its id, in hexadecimal digits
  name       TEXT NOT NULL,             -- '': none was asked for
  challenge  TEXT NOT NULL,             -- '': none was sent
  client     TEXT NOT NULL,             -- address
  origin     TEXT NOT NULL,             -- for which it counts
  agent      TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  status     TEXT NOT NULL,
  approver   TEXT NOT NULL,             -- id of a key; '': it was not approved
  user_id    TEXT NOT NULL,             -- '': likewise
  key_id     TEXT NOT NULL              -- '': no key was made
) STRICT, WITHOUT ROWID;

CREATE INDEX logins_expire ON logins (expires_at);

CREATE INDEX logins_pending ON logins (expires_at, origin) WHERE status = 'PENDING';

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
, cuda_versions TEXT NOT NULL DEFAULT 'null', least_cuda TEXT NOT NULL DEFAULT '', gpu_vcpus INTEGER NOT NULL DEFAULT 0, gpu_memory_gb INTEGER NOT NULL DEFAULT 0, stop_after INTEGER, terminate_after INTEGER, bid_per_gpu REAL NOT NULL DEFAULT 0, interrupt_at INTEGER, interrupted_at INTEGER, cluster_type TEXT NOT NULL DEFAULT '', ended_by TEXT NOT NULL DEFAULT '') STRICT;

CREATE UNIQUE INDEX pods_by_address ON pods (network_address) WHERE network_address > 0 AND gone = 0;

CREATE INDEX pods_by_timer ON pods (seq) WHERE (stop_after IS NOT NULL OR terminate_after IS NOT NULL OR interrupt_at IS NOT NULL) AND gone = 0;

CREATE INDEX pods_of_cluster ON pods (cluster_id) WHERE cluster_id <> '' AND gone = 0;

CREATE INDEX pods_of_registry ON pods (registry_id) WHERE registry_id <> '' AND gone = 0;

CREATE INDEX pods_of_template ON pods (template_id) WHERE template_id <> '' AND gone = 0;

CREATE INDEX pods_of_user ON pods (user_id, created_at) WHERE gone = 0;

CREATE INDEX pods_of_volume ON pods (network_volume_id) WHERE network_volume_id IS NOT NULL AND gone = 0;

-- sqlite_autoindex_pods_1 ON pods;

CREATE TABLE refusals (
  seq       INTEGER PRIMARY KEY,
  at        INTEGER NOT NULL,
  interface TEXT NOT NULL,
  reason    TEXT NOT NULL,
  client    TEXT NOT NULL,
  key_id    TEXT NOT NULL,
  user_id   TEXT NOT NULL,
  times     INTEGER NOT NULL,
  UNIQUE (at, client, interface, reason, key_id, user_id)
) STRICT;

-- sqlite_autoindex_refusals_1 ON refusals;

CREATE TABLE registries (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  user_id    TEXT NOT NULL,
  name       TEXT NOT NULL,
  login      BLOB, -- sealed
  created_at INTEGER
) STRICT;

CREATE INDEX registries_of_user ON registries (user_id, created_at);

-- sqlite_autoindex_registries_1 ON registries;

CREATE TABLE releases (
  seq         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  endpoint_id TEXT NOT NULL,
  version     INTEGER NOT NULL,
  created_by  TEXT NOT NULL, -- '': the operator
  fields      TEXT NOT NULL, -- JSON, those that changed
  old_values  TEXT NOT NULL, -- JSON, the JSON text of each
  new_values  TEXT NOT NULL, -- JSON, the JSON text of each
  created_at  INTEGER, build_id TEXT NOT NULL DEFAULT '',
  UNIQUE (endpoint_id, version)
) STRICT;

-- sqlite_autoindex_releases_1 ON releases;

-- sqlite_autoindex_releases_2 ON releases;

CREATE TABLE request_counts (
  user_id      TEXT NOT NULL,
  window_name  TEXT NOT NULL,
  window_start INTEGER NOT NULL,
  requests     INTEGER NOT NULL,
  PRIMARY KEY (user_id, window_name)
) STRICT;

-- sqlite_autoindex_request_counts_1 ON request_counts;

CREATE TABLE runtimes (
  name    TEXT NOT NULL,
  address TEXT NOT NULL,
  PRIMARY KEY (name, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE scripts (
  endpoint_id TEXT PRIMARY KEY NOT NULL,
  document    TEXT NOT NULL,
  counts      TEXT NOT NULL
) STRICT;

-- sqlite_autoindex_scripts_1 ON scripts;

CREATE TABLE secrets (
  seq         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  user_id     TEXT NOT NULL,
  name        TEXT NOT NULL,
  description TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  changed_at  INTEGER,         -- of the value; NULL: it is that of the creation
  value       BLOB NOT NULL    -- sealed
) STRICT;

CREATE UNIQUE INDEX secrets_by_name ON secrets (user_id, lower(name));

CREATE INDEX secrets_of_user ON secrets (user_id, created_at);

-- sqlite_autoindex_secrets_1 ON secrets;

CREATE TABLE seeds (
  one    INTEGER PRIMARY KEY CHECK (one = 1), -- there is no other row
  digest TEXT NOT NULL                        -- of what the seed says
) STRICT;

CREATE TABLE ssh_keys (
  user_id TEXT PRIMARY KEY NOT NULL,
  lines   TEXT NOT NULL -- JSON
) STRICT;

-- sqlite_autoindex_ssh_keys_1 ON ssh_keys;

CREATE TABLE states (
  one      INTEGER PRIMARY KEY CHECK (one = 1), -- there is no other row
  saved_at INTEGER NOT NULL,                    -- by the time that decides
  secret   TEXT NOT NULL                        -- fingerprint of the key of what is sealed
) STRICT;

CREATE TABLE system_lines (
  id       TEXT NOT NULL,    -- of the pod or worker
  position INTEGER NOT NULL, -- nanoseconds since 1970
  text     TEXT NOT NULL,
  PRIMARY KEY (id, position)
) STRICT, WITHOUT ROWID;

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
, port_names TEXT NOT NULL DEFAULT '{}', endpoint_id TEXT NOT NULL DEFAULT '') STRICT;

-- sqlite_autoindex_templates_1 ON templates;

CREATE INDEX templates_of_registry ON templates (registry_id) WHERE registry_id <> '';

CREATE INDEX templates_of_user ON templates (user_id, created_at);

CREATE TABLE users (
  name       TEXT PRIMARY KEY, -- as in user_id elsewhere
  role       TEXT NOT NULL,    -- admin, member or reader
  disabled   INTEGER NOT NULL, -- none of its keys is good
  created_at INTEGER
) STRICT;

-- sqlite_autoindex_users_1 ON users;

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

-- sqlite_autoindex_volumes_1 ON volumes;

CREATE INDEX volumes_of_user ON volumes (user_id, created_at);

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

-- sqlite_autoindex_workers_1 ON workers;

CREATE INDEX workers_of_endpoint ON workers (endpoint_id);
