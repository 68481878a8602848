-- The edition of the contract that the requests of a key are of, unless they name one; '': that of the server.
ALTER TABLE keys ADD COLUMN contract TEXT NOT NULL DEFAULT '';
