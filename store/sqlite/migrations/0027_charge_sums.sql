-- What the charges of an item of a resource came to in a day of UTC, once they ended long enough ago to be deleted.
CREATE TABLE charge_sums (
  user_id     TEXT NOT NULL,
  item        TEXT NOT NULL,
  day         INTEGER NOT NULL, -- its beginning
  resource_id TEXT NOT NULL,
  amount      INTEGER NOT NULL, -- billionths of a USD
  ran         INTEGER NOT NULL, -- milliseconds, of all that ran
  PRIMARY KEY (user_id, item, day, resource_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX charge_sums_of_day ON charge_sums (day);

ALTER TABLE charges ADD COLUMN summed_until INTEGER; -- up to when it is in sums; NULL: none of it is

CREATE INDEX charges_ended ON charges (ended_at) WHERE ended_at IS NOT NULL;
