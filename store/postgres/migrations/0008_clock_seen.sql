ALTER TABLE clock ADD COLUMN seen_at bigint; -- the time of day when the server was seen last; NULL: it never was
