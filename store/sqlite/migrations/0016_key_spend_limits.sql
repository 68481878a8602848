-- How much a user may spend by the requests of a key, USD an hour; 0: any.
ALTER TABLE keys ADD COLUMN spend_limit REAL NOT NULL DEFAULT 0;
