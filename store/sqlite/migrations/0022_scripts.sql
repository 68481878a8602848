-- What the workers of an endpoint do that has no handler: JSON, and what was done by it so far.
CREATE TABLE scripts (
  endpoint_id TEXT PRIMARY KEY NOT NULL,
  document    TEXT NOT NULL,
  counts      TEXT NOT NULL
) STRICT;
