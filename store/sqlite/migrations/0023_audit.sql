-- Who changed what: one row for each thing that a request changed, in the same transaction. fields: JSON, their names.
CREATE TABLE audit (
  seq       INTEGER PRIMARY KEY,
  at        INTEGER NOT NULL,
  user_id   TEXT NOT NULL,
  key_id    TEXT NOT NULL,
  request   TEXT NOT NULL,
  operation TEXT NOT NULL,
  client    TEXT NOT NULL,
  kind      TEXT NOT NULL,
  id        TEXT NOT NULL,
  change    TEXT NOT NULL,
  fields    TEXT NOT NULL
) STRICT;
