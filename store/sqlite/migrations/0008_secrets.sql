-- What the environment of pods, endpoints and templates refers to by name. The value, which is large and read by itself, comes last.

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

CREATE INDEX secrets_of_user ON secrets (user_id, created_at);

-- Names differ, also where case is ignored.
CREATE UNIQUE INDEX secrets_by_name ON secrets (user_id, lower(name));
