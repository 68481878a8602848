-- Apps of flash with their environments, and their builds, whose artifacts are files. The manifest, which is large and read by itself, comes last.

CREATE TABLE flash_apps (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  user_id    TEXT NOT NULL,
  name       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (user_id, name)
) STRICT;

CREATE TABLE flash_environments (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  app_id     TEXT NOT NULL,
  name       TEXT NOT NULL,
  build_id   TEXT NOT NULL,    -- '': none was deployed
  created_at INTEGER NOT NULL,
  UNIQUE (app_id, name)
) STRICT;

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

-- The environment of the app that it is a part of; '': none.
ALTER TABLE endpoints ADD COLUMN flash_environment_id TEXT NOT NULL DEFAULT '';

-- The endpoint that brought it along, with which it goes; '': none.
ALTER TABLE templates ADD COLUMN endpoint_id TEXT NOT NULL DEFAULT '';
