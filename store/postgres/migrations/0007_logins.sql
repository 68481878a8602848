-- Requests of clients without a key to log in, which somebody approves who has one.
CREATE TABLE logins (
  hash       text COLLATE "C" NOT NULL PRIMARY KEY, -- of its id, in hexadecimal digits
  name       text COLLATE "C" NOT NULL,             -- '': none was asked for
  challenge  text COLLATE "C" NOT NULL,             -- '': none was sent
  client     text COLLATE "C" NOT NULL,             -- address
  origin     text COLLATE "C" NOT NULL,             -- for which it counts
  agent      text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  status     text COLLATE "C" NOT NULL,
  approver   text COLLATE "C" NOT NULL,             -- id of a key; '': it was not approved
  user_id    text COLLATE "C" NOT NULL,             -- '': likewise
  key_id     text COLLATE "C" NOT NULL              -- '': no key was made
);

CREATE INDEX logins_expire ON logins (expires_at);
CREATE INDEX logins_pending ON logins (expires_at, origin) WHERE status = 'PENDING';
