-- The seed whose rows the database has: '' of none, or one that was not seen through.
CREATE TABLE seeds (
  one    INTEGER PRIMARY KEY CHECK (one = 1), -- there is no other row
  digest TEXT NOT NULL                        -- of what the seed says
) STRICT;

-- What a saved state says of itself: only its file has the row.
CREATE TABLE states (
  one      INTEGER PRIMARY KEY CHECK (one = 1), -- there is no other row
  saved_at INTEGER NOT NULL,                    -- by the time that decides
  secret   TEXT NOT NULL                        -- fingerprint of the key of what is sealed
) STRICT;
