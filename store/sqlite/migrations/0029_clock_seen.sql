ALTER TABLE clock ADD COLUMN seen_at INTEGER; -- the time of day when the server was seen last; NULL: it never was
