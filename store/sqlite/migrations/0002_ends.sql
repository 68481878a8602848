-- What ends leaves nothing behind: pods that were terminated, counts of jobs, lines of logs, releases.

-- When they were terminated: the row goes after a while.
CREATE INDEX pods_gone ON pods (moved_at) WHERE gone = 1;

-- As the move to TERMINATED does it from now on.
UPDATE pods SET env = '{}', args = '' WHERE gone = 1;

-- An endpoint has counts from its beginning to its end.
DELETE FROM job_counts WHERE endpoint_id NOT IN (SELECT id FROM endpoints);
INSERT INTO job_counts (endpoint_id, in_queue, in_progress, completed, failed, retried)
SELECT id, 0, 0, 0, 0, 0 FROM endpoints WHERE id NOT IN (SELECT endpoint_id FROM job_counts);

DELETE FROM system_lines WHERE id NOT IN (SELECT id FROM pods WHERE gone = 0) AND id NOT IN (SELECT id FROM workers);
DELETE FROM releases WHERE endpoint_id NOT IN (SELECT id FROM endpoints);

-- What outlives the server may have something of ours: where to look for it.
CREATE TABLE runtimes (
  name    TEXT NOT NULL,
  address TEXT NOT NULL,
  PRIMARY KEY (name, address)
) STRICT, WITHOUT ROWID;
