-- The last workers of each endpoint that have ended: why they did, and the end of what they wrote. They go with their endpoint.

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
