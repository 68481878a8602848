-- Storage that the workers of endpoints mount in whatever data center they are.

CREATE TABLE global_volumes (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  user_id    TEXT NOT NULL,
  name       TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX global_volumes_of_user ON global_volumes (user_id, created_at);

-- The one that its workers mount; '': none.
ALTER TABLE endpoints ADD COLUMN global_volume_id TEXT NOT NULL DEFAULT '';
