-- Who was refused: one row for each client, interface, key and reason in a minute. at: the beginning of the minute; times: how often.
CREATE TABLE refusals (
  seq       INTEGER PRIMARY KEY,
  at        INTEGER NOT NULL,
  interface TEXT NOT NULL,
  reason    TEXT NOT NULL,
  client    TEXT NOT NULL,
  key_id    TEXT NOT NULL,
  user_id   TEXT NOT NULL,
  times     INTEGER NOT NULL,
  UNIQUE (at, client, interface, reason, key_id, user_id)
) STRICT;
