-- The seed whose rows the database has: '' of none, or one that was not seen through.
CREATE TABLE seeds (
  one    INTEGER PRIMARY KEY CHECK (one = 1), -- there is no other row
  digest TEXT NOT NULL                        -- of what the seed says
) STRICT;
