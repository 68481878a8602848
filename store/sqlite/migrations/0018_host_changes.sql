-- How hosts of the fleet differ from what the operator's file has: added ('': not; else the host, JSON), draining, removed.
CREATE TABLE host_changes (
  seq      INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,
  added    TEXT NOT NULL,
  draining INTEGER NOT NULL,
  removed  INTEGER NOT NULL
) STRICT;
