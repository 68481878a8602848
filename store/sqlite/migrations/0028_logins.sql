-- Requests of clients without a key to log in, which somebody approves who has one.
CREATE TABLE logins (
  hash       TEXT NOT NULL PRIMARY KEY, -- of its id, in hexadecimal digits
  name       TEXT NOT NULL,             -- '': none was asked for
  challenge  TEXT NOT NULL,             -- '': none was sent
  client     TEXT NOT NULL,             -- address
  origin     TEXT NOT NULL,             -- for which it counts
  agent      TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  status     TEXT NOT NULL,
  approver   TEXT NOT NULL,             -- id of a key; '': it was not approved
  user_id    TEXT NOT NULL,             -- '': likewise
  key_id     TEXT NOT NULL              -- '': no key was made
) STRICT, WITHOUT ROWID;

CREATE INDEX logins_expire ON logins (expires_at);
CREATE INDEX logins_pending ON logins (expires_at, origin) WHERE status = 'PENDING';
