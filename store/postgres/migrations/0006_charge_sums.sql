-- What the charges of an item of a resource came to in a day of UTC, once they ended long enough ago to be deleted.
CREATE TABLE charge_sums (
  user_id     text COLLATE "C" NOT NULL,
  item        text COLLATE "C" NOT NULL,
  day         bigint NOT NULL, -- its beginning
  resource_id text COLLATE "C" NOT NULL,
  amount      bigint NOT NULL, -- billionths of a USD
  ran         bigint NOT NULL, -- milliseconds, of all that ran
  PRIMARY KEY (user_id, item, day, resource_id)
);

CREATE INDEX charge_sums_of_day ON charge_sums (day);

ALTER TABLE charges ADD COLUMN summed_until bigint; -- up to when it is in sums; NULL: none of it is

CREATE INDEX charges_ended ON charges (ended_at) WHERE ended_at IS NOT NULL;
