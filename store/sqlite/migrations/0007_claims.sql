-- What pods and workers hold of hosts. Of a claim, part 0 has the amounts, and each further part a device, which brings its share of the
-- host's vCPUs and memory.

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

-- No device is ever given away twice.
CREATE UNIQUE INDEX claims_of_device ON claims (host_id, device) WHERE device IS NOT NULL;

-- The sums of the claims on each host, written with them: a pod is placed without adding up what all others hold.
CREATE TABLE claim_sums (
  host_id   TEXT PRIMARY KEY NOT NULL,
  gpus      INTEGER NOT NULL,
  vcpus     INTEGER NOT NULL,
  memory_gb INTEGER NOT NULL,
  disk_gb   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO claims (holder_id, kept, part, host_id, vcpus, memory_gb, disk_gb)
SELECT id, 0, 0, host_id, coalesce(cpu_vcpus, 0), coalesce(cpu_memory_gb, 0), disk_gb
FROM pods WHERE host_id <> '' AND status IN ('PROVISIONING', 'STARTING', 'RUNNING');

INSERT INTO claims (holder_id, kept, part, host_id, vcpus, memory_gb, disk_gb)
SELECT id, 1, 0, host_id, 0, 0, persistent_gb FROM pods WHERE host_id <> '' AND gone = 0 AND persistent_gb IS NOT NULL;

INSERT INTO claims (holder_id, kept, part, host_id, vcpus, memory_gb, disk_gb)
SELECT id, 0, 0, host_id, coalesce(cpu_vcpus, 0), coalesce(cpu_memory_gb, 0), disk_gb FROM workers WHERE host_id <> '';

-- Should two have one device, it stays the older one's.
INSERT OR IGNORE INTO claims (holder_id, kept, part, host_id, device, vcpus, memory_gb, disk_gb)
SELECT pods.id, 0, each.key + 1, host_id, each.value, 0, 0, 0 FROM pods, json_each(devices) AS each
WHERE host_id <> '' AND status IN ('PROVISIONING', 'STARTING', 'RUNNING') AND each.value IS NOT NULL ORDER BY seq;

INSERT OR IGNORE INTO claims (holder_id, kept, part, host_id, device, vcpus, memory_gb, disk_gb)
SELECT workers.id, 0, each.key + 1, host_id, each.value, 0, 0, 0 FROM workers, json_each(devices) AS each
WHERE host_id <> '' AND each.value IS NOT NULL ORDER BY seq;

INSERT INTO claim_sums (host_id, gpus, vcpus, memory_gb, disk_gb)
SELECT host_id, count(device), sum(vcpus), sum(memory_gb), sum(disk_gb) FROM claims GROUP BY host_id;
