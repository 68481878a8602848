-- The making of images for endpoints. The log, which is large and read by itself, comes last.

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

-- The build that made it; '': somebody changed the endpoint.
ALTER TABLE releases ADD COLUMN build_id TEXT NOT NULL DEFAULT '';
