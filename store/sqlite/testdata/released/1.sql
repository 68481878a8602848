-- A database that was released, with rows of every kind. Never change it.

PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
PRAGMA user_version = 1;

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

CREATE TABLE chunks (
  job_seq INTEGER NOT NULL REFERENCES jobs (seq) ON DELETE CASCADE,
  n       INTEGER NOT NULL, -- from 1, in the order of arrival
  output  BLOB,
  metrics BLOB,
  PRIMARY KEY (job_seq, n)
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

CREATE TABLE job_counts (
  endpoint_id TEXT PRIMARY KEY NOT NULL,
  in_queue    INTEGER NOT NULL,
  in_progress INTEGER NOT NULL,
  completed   INTEGER NOT NULL, -- deleted ones too
  failed      INTEGER NOT NULL, -- deleted ones too, retried ones not
  retried     INTEGER NOT NULL  -- takes lost to a silent worker
) STRICT;

CREATE TABLE job_inputs (
  seq  INTEGER PRIMARY KEY REFERENCES jobs (seq) ON DELETE CASCADE,
  body BLOB
) STRICT;

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

CREATE TABLE registries (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  user_id    TEXT NOT NULL,
  name       TEXT NOT NULL,
  login      BLOB, -- sealed
  created_at INTEGER
) STRICT;

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

CREATE TABLE request_counts (
  user_id      TEXT NOT NULL,
  window_name  TEXT NOT NULL,
  window_start INTEGER NOT NULL,
  requests     INTEGER NOT NULL,
  PRIMARY KEY (user_id, window_name)
) STRICT;

CREATE TABLE ssh_keys (
  user_id TEXT PRIMARY KEY NOT NULL,
  lines   TEXT NOT NULL -- JSON
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

CREATE INDEX charges_of_user ON charges (user_id, item, ended_at);

CREATE UNIQUE INDEX charges_open ON charges (holder_id) WHERE ended_at IS NULL;

CREATE INDEX clusters_of_user ON clusters (user_id, created_at);

CREATE INDEX delegations_of_user ON delegations (user_id, created_at);

CREATE UNIQUE INDEX endpoints_declared ON endpoints (user_id, name) WHERE declared;

CREATE INDEX endpoints_of_user ON endpoints (user_id, created_at) WHERE deleted_at IS NULL;

CREATE INDEX jobs_expiring ON jobs (expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX jobs_open ON jobs (queued_at) WHERE ended_at IS NULL;

CREATE UNIQUE INDEX pods_by_address ON pods (network_address) WHERE network_address > 0 AND gone = 0;

CREATE INDEX pods_of_cluster ON pods (cluster_id) WHERE cluster_id <> '' AND gone = 0;

CREATE INDEX pods_of_registry ON pods (registry_id) WHERE registry_id <> '' AND gone = 0;

CREATE INDEX pods_of_template ON pods (template_id) WHERE template_id <> '' AND gone = 0;

CREATE INDEX pods_of_user ON pods (user_id, created_at) WHERE gone = 0;

CREATE INDEX pods_of_volume ON pods (network_volume_id) WHERE network_volume_id IS NOT NULL AND gone = 0;

CREATE INDEX registries_of_user ON registries (user_id, created_at);

CREATE INDEX templates_of_registry ON templates (registry_id) WHERE registry_id <> '';

CREATE INDEX templates_of_user ON templates (user_id, created_at);

CREATE INDEX volumes_of_user ON volumes (user_id, created_at);

CREATE INDEX webhooks_due ON webhooks (next_at) WHERE next_at IS NOT NULL;

CREATE INDEX workers_of_endpoint ON workers (endpoint_id);

INSERT INTO charges (seq, user_id, item, resource_id, holder_id, rate, began_at, seen_at, ended_at)
VALUES (1, 'owner', 'POD_GPU', 'k3m9x2m4p6q8r1', 'k3m9x2m4p6q8r1', 780000000, 1772367120000, NULL, 1772367180000);
INSERT INTO charges (seq, user_id, item, resource_id, holder_id, rate, began_at, seen_at, ended_at)
VALUES (2, 'owner', 'STORAGE_STANDARD', 'k3m9x2m4p6q8v1', 'k3m9x2m4p6q8v1', 9589041, 1772367120000, NULL, NULL);
INSERT INTO charges (seq, user_id, item, resource_id, holder_id, rate, began_at, seen_at, ended_at)
VALUES (3, 'owner', 'SERVERLESS_GPU', 'k3m9x2m4p6q8e1', 'k3m9x2m4p6q8w1', 430000000, 1772367120000, 1772367180000, NULL);
INSERT INTO chunks (job_seq, n, output, metrics)
VALUES (7134711956639744, 1, X'226122', X'7B226E223A20317D');
INSERT INTO chunks (job_seq, n, output, metrics)
VALUES (7134711956639744, 2, X'3232', NULL);
INSERT INTO clusters (seq, id, user_id, name, type, gpu_id, gpu_count, pod_count, data_center_id, created_at)
VALUES (1, 'k3m9x2m4p6q8c1', 'owner', 'ring', 'TRAINING', 'NVIDIA L4', 2, 1, 'EU-RO-1', 1772366460000);
INSERT INTO delegations (seq, id, user_id, name, account, region, repository, tag, created_at)
VALUES (1, 'k3m9x2m4p6q8d1', 'owner', 'mirror', '123456789012', 'eu-central-1', 'team/app', 'v1', 1772366460000);
INSERT INTO endpoints (seq, id, user_id, name, type, declared, image, args, disk_gb, ports, env, registry_id, gpu_pools, gpu_excluded, gpu_count, cuda_versions, least_cuda, cpus, data_center_ids, volume_ids, template_id, workers_min, workers_max, idle_timeout, scaler, scaler_value, timeout, flashboot, version, created_at, deleted_at)
VALUES (1, 'k3m9x2m4p6q8e1', 'owner', 'words', 'QUEUE', 0, 'img:1', '-x', 5, '["80/http"]', '{"A":"1"}', 'j3k9x2m4p6q8r1', '["AMPERE_24"]', '["NVIDIA A30"]', 1, '["12.4"]', '12.1', 'null', '["EU-RO-1"]', '["k3m9x2m4p6q8v1"]', 'k3m9x2m4p6q8t1', 0, 3, 1500, 'QUEUE_DELAY', 0.5, 60000, 'FLASHBOOT', 2, 1772366460000, NULL);
INSERT INTO endpoints (seq, id, user_id, name, type, declared, image, args, disk_gb, ports, env, registry_id, gpu_pools, gpu_excluded, gpu_count, cuda_versions, least_cuda, cpus, data_center_ids, volume_ids, template_id, workers_min, workers_max, idle_timeout, scaler, scaler_value, timeout, flashboot, version, created_at, deleted_at)
VALUES (2, 'k3m9x2m4p6q8e2', 'owner', 'declared', 'QUEUE', 1, 'declared', '', 0, '[]', '{}', '', NULL, NULL, NULL, NULL, NULL, '["cpu3g 2 8"]', '[]', '[]', '', 0, 0, 10000, 'REQUEST_COUNT', 4.0, 0, 'OFF', 1, 1772366520000, NULL);
INSERT INTO job_counts (endpoint_id, in_queue, in_progress, completed, failed, retried)
VALUES ('k3m9x2m4p6q8e1', 1, 1, 1, 1, 0);
INSERT INTO job_counts (endpoint_id, in_queue, in_progress, completed, failed, retried)
VALUES ('k3m9x2m4p6q8e2', 1, 0, 0, 0, 0);
INSERT INTO job_inputs (seq, body)
VALUES (7134711956635648, X'7B226E223A2020317D');
INSERT INTO job_inputs (seq, body)
VALUES (7134711956639744, X'7B226E223A20327D');
INSERT INTO job_inputs (seq, body)
VALUES (7134711956639745, X'7B7D');
INSERT INTO job_inputs (seq, body)
VALUES (7134711956647935, X'7B2274657874223A202269742773227D');
INSERT INTO job_inputs (seq, body)
VALUES (7134711956647936, X'7B7D');
INSERT INTO jobs (seq, id, endpoint_id, status, sync, low_priority, worker_id, attempt, retries, execution_timeout, ttl, retention, created_at, queued_at, taken_at, ended_at, expires_at, webhook, error, final_reads, s3_config, output)
VALUES (7134711956635648, '01958fb9-3c00-7000-9abc-000000000001', 'k3m9x2m4p6q8e1', 'IN_QUEUE', 0, 1, '', 0, 1, 600000, 86400000, 1800000, 1772366760000, 1772366760000, NULL, NULL, 1772453160000, '', '', 0, NULL, NULL);
INSERT INTO jobs (seq, id, endpoint_id, status, sync, low_priority, worker_id, attempt, retries, execution_timeout, ttl, retention, created_at, queued_at, taken_at, ended_at, expires_at, webhook, error, final_reads, s3_config, output)
VALUES (7134711956639744, '01958fb9-3c01-7000-9abc-000000000002', 'k3m9x2m4p6q8e1', 'IN_PROGRESS', 0, 0, 'k3m9x2m4p6q8w1', 1, 0, 600000, 86400000, 1800000, 1772366760000, 1772366760000, 1772366820000, NULL, 1772453160000, '', '', 0, X'7B226275636B6574223A20202262227D', NULL);
INSERT INTO jobs (seq, id, endpoint_id, status, sync, low_priority, worker_id, attempt, retries, execution_timeout, ttl, retention, created_at, queued_at, taken_at, ended_at, expires_at, webhook, error, final_reads, s3_config, output)
VALUES (7134711956639745, 'sync-01958fb9-3c01-7001-9abc-000000000003', 'k3m9x2m4p6q8e1', 'COMPLETED', 1, 0, 'k3m9x2m4p6q8w1', 1, 0, 600000, 86400000, 1800000, 1772366760000, 1772366760000, 1772366820000, 1772366880000, 1772453160000, 'https://example.com/over', '', 2, NULL, X'7B2274657874223A20202248454C4C4F2C205C7530306663227D');
INSERT INTO jobs (seq, id, endpoint_id, status, sync, low_priority, worker_id, attempt, retries, execution_timeout, ttl, retention, created_at, queued_at, taken_at, ended_at, expires_at, webhook, error, final_reads, s3_config, output)
VALUES (7134711956647935, '01958fb9-3c02-7fff-9abc-000000000004', 'k3m9x2m4p6q8e1', 'FAILED', 0, 0, 'k3m9x2m4p6q8w1', 3, 2, 600000, 86400000, 1800000, 1772366760000, 1772366760000, 1772366820000, 1772366940000, 1772453160000, '', 'no luck;
-- really', 0, NULL, NULL);
INSERT INTO jobs (seq, id, endpoint_id, status, sync, low_priority, worker_id, attempt, retries, execution_timeout, ttl, retention, created_at, queued_at, taken_at, ended_at, expires_at, webhook, error, final_reads, s3_config, output)
VALUES (7134711956647936, '01958fb9-3c03-7000-9abc-000000000005', 'k3m9x2m4p6q8e2', 'IN_QUEUE', 0, 0, '', 0, 0, 600000, 86400000, 1800000, 1772366760000, 1772366760000, NULL, NULL, 1772453160000, '', '', 0, NULL, NULL);
INSERT INTO keys (seq, id, user_id, name, scopes, hash, worker_id, exempt, created_at, expires_at, revoked_at)
VALUES (1, 'releasedke', 'owner', 'first key', '["all"]', X'9056DC81BEC1F0C5D675BA6B04D5007CFA8E673DCBDE461E21750CD95CC9C09C', '', 0, 1772366400000, NULL, NULL);
INSERT INTO keys (seq, id, user_id, name, scopes, hash, worker_id, exempt, created_at, expires_at, revoked_at)
VALUES (2, 'workerskey', 'owner', 'of a ''worker''', '["queue:k3m9x2m4p6q8e1:invoke","queue:k3m9x2m4p6q8e1:work"]', X'AE448AC86C4E8E4DEC645729708EF41873AE79C6DFF84EFF73360989487F08E5', 'k3m9x2m4p6q8w1', 1, 1772366460000, 1772426400000, 1772366520000);
INSERT INTO pods (seq, id, user_id, name, image, args, disk_gb, ports, env, registry_id, persistent_gb, persistent_path, network_volume_id, network_path, gpu_id, gpu_count, cpu_id, cpu_vcpus, cpu_memory_gb, cloud, data_center_id, host_id, template_id, cluster_id, devices, network_address, global_networking, locked, cost_per_hour, status, gone, reason, version, created_at, started_at, restart_at, moved_at)
VALUES (1, 'k3m9x2m4p6q8r1', 'owner', 'a ''name''', 'img:1', '-x "y"', 20, '["80/http","22/tcp"]', '{"A":"1","Ü":"line\nline"}', 'j3k9x2m4p6q8r1', NULL, NULL, 'k3m9x2m4p6q8v1', '/n', 'NVIDIA L4', 2, NULL, NULL, NULL, 'SECURE', 'EU-RO-1', 'EU-RO-1-secure', 'k3m9x2m4p6q8t1', 'k3m9x2m4p6q8c1', '["GPU-1","1"]', 4098, 1, 1, 0.78, 'RUNNING', 0, '', 7, 1772366460000, 1772366520001, 1772366580000, 1772366520000);
INSERT INTO pods (seq, id, user_id, name, image, args, disk_gb, ports, env, registry_id, persistent_gb, persistent_path, network_volume_id, network_path, gpu_id, gpu_count, cpu_id, cpu_vcpus, cpu_memory_gb, cloud, data_center_id, host_id, template_id, cluster_id, devices, network_address, global_networking, locked, cost_per_hour, status, gone, reason, version, created_at, started_at, restart_at, moved_at)
VALUES (2, 'k3m9x2m4p6q8p2', 'owner', 'stopped', 'img:2', '', 1, '[]', '{}', '', 10, '/p', NULL, NULL, 'NVIDIA L4', 1, NULL, NULL, NULL, 'COMMUNITY', 'EU-RO-1', 'EU-RO-1-community', '', '', 'null', 0, 0, 0, 0.39, 'EXITED', 0, 'it ended with 0', 3, 1772366520000, 1772366520000, NULL, 1772366640000);
INSERT INTO pods (seq, id, user_id, name, image, args, disk_gb, ports, env, registry_id, persistent_gb, persistent_path, network_volume_id, network_path, gpu_id, gpu_count, cpu_id, cpu_vcpus, cpu_memory_gb, cloud, data_center_id, host_id, template_id, cluster_id, devices, network_address, global_networking, locked, cost_per_hour, status, gone, reason, version, created_at, started_at, restart_at, moved_at)
VALUES (3, 'k3m9x2m4p6q8p3', 'owner', 'on CPUs', 'img:3', '', 5, '[]', '{}', '', NULL, NULL, NULL, NULL, NULL, NULL, 'cpu3g', 2, 8, 'SECURE', 'EU-RO-1', 'EU-RO-1-secure', '', '', 'null', 0, 0, 0, 0.08, 'ERROR', 0, 'it ended with 1', 2, 1772366580000, NULL, NULL, 1772366580000);
INSERT INTO pods (seq, id, user_id, name, image, args, disk_gb, ports, env, registry_id, persistent_gb, persistent_path, network_volume_id, network_path, gpu_id, gpu_count, cpu_id, cpu_vcpus, cpu_memory_gb, cloud, data_center_id, host_id, template_id, cluster_id, devices, network_address, global_networking, locked, cost_per_hour, status, gone, reason, version, created_at, started_at, restart_at, moved_at)
VALUES (4, 'k3m9x2m4p6q8p4', 'owner', 'gone', 'img:4', '--token hidden', 5, '[]', '{"TOKEN":"hidden"}', '', NULL, NULL, NULL, NULL, NULL, NULL, 'cpu3g', 2, 8, 'SECURE', '', '', '', '', 'null', 0, 0, 0, 0.0, 'TERMINATED', 1, '', 9, 1772366640000, NULL, NULL, 1772366700000);
INSERT INTO registries (seq, id, user_id, name, login, created_at)
VALUES (1, 'j3k9x2m4p6q8r1', 'owner', 'ghcr', X'9BA2EFA2E38787C43B41EFFD2F422A3CFA44C9E4F48597BF59D46AD2448B38128F08073F9DB623138E952BC98F234761A60E241BE3D497CDCE4FF15A3CFF17ED296F128A092D98E2E4ED69DD66C63033C2E6A598D73D33', 1772366460000);
INSERT INTO releases (seq, id, endpoint_id, version, created_by, fields, old_values, new_values, created_at)
VALUES (1, 'k3m9x2m4p6q8s2', 'k3m9x2m4p6q8e1', 2, 'owner', '["image","env"]', '["\"old:1\"","{}"]', '["\"img:1\"","{\"A\": \"1\"}"]', 1772366580000);
INSERT INTO releases (seq, id, endpoint_id, version, created_by, fields, old_values, new_values, created_at)
VALUES (2, 'k3m9x2m4p6q8s1', 'k3m9x2m4p6q8e1', 1, '', '[]', '[]', '[]', 1772366460000);
INSERT INTO request_counts (user_id, window_name, window_start, requests)
VALUES ('owner', 'day', 1772323200000, 7);
INSERT INTO request_counts (user_id, window_name, window_start, requests)
VALUES ('owner', 'hour', 1772366400000, 5);
INSERT INTO ssh_keys (user_id, lines)
VALUES ('owner', '["ssh-ed25519 AAAA me@home","ssh-rsa BBBB"]');
INSERT INTO system_lines (id, position, text)
VALUES ('k3m9x2m4p6q8r1', 1772367120000500000, 'placed');
INSERT INTO system_lines (id, position, text)
VALUES ('k3m9x2m4p6q8r1', 1772367120000500001, 'it''s up; -- and more');
INSERT INTO templates (seq, id, user_id, name, image, args, disk_gb, ports, env, registry_id, persistent_gb, persistent_path, category, public, serverless, start_ssh, start_jupyter, cuda_versions, readme, created_at)
VALUES (1, 'k3m9x2m4p6q8t1', 'owner', 'trainer', 'img:1', '-x "y"', 20, '["80/http"]', '{"A":"1"}', 'j3k9x2m4p6q8r1', 10, '/w', 'NVIDIA', 1, 1, 1, 1, '["12.4"]', '# words

for people; really', 1772366460000);
INSERT INTO volumes (seq, id, user_id, name, size_gb, data_center_id, type, created_at)
VALUES (1, 'k3m9x2m4p6q8v1', 'owner', 'datasets', 100, 'EU-RO-1', 'STANDARD', 1772366460000);
INSERT INTO webhooks (seq, job_id, url, body, tries, next_at, status, error, created_at)
VALUES (1, '01958fb9-3c01-7000-9abc-000000000002', 'https://example.com/due', X'7B226964223A2022C3BC227D', 1, 1772367000000, 0, '', 1772366880000);
INSERT INTO webhooks (seq, job_id, url, body, tries, next_at, status, error, created_at)
VALUES (2, '01958fb9-3c01-7001-9abc-000000000003', 'https://example.com/over', NULL, 3, NULL, 500, 'it answered 500', 1772366940000);
INSERT INTO workers (seq, id, endpoint_id, version, image, gpu_id, gpu_count, cpu_id, cpu_vcpus, cpu_memory_gb, disk_gb, data_center_id, host_id, devices, cost_per_hour, created_at, started_at)
VALUES (1, 'k3m9x2m4p6q8w1', 'k3m9x2m4p6q8e1', 2, 'img:1', 'NVIDIA L4', 1, NULL, NULL, NULL, 5, 'EU-RO-1', 'h', '["0"]', 0.43, 1772366640000, 1772366700000);
INSERT INTO workers (seq, id, endpoint_id, version, image, gpu_id, gpu_count, cpu_id, cpu_vcpus, cpu_memory_gb, disk_gb, data_center_id, host_id, devices, cost_per_hour, created_at, started_at)
VALUES (2, 'k3m9x2m4p6q8w2', 'k3m9x2m4p6q8e2', 1, 'img:2', NULL, NULL, 'cpu3g', 2, 8, 0, '', '', 'null', 0.0, 1772366640000, NULL);
