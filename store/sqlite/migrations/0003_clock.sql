-- How far the time that decides (jobs.queued_at, taken_at, ended_at, expires_at, webhooks.next_at) is behind the time of day, which
-- all other times are.
CREATE TABLE clock (
  one INTEGER PRIMARY KEY CHECK (one = 1), -- there is no other row
  lag INTEGER NOT NULL                     -- milliseconds
) STRICT;
