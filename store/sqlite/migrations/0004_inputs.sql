-- What GraphQL takes of endpoints and templates, and REST does not know.
ALTER TABLE endpoints ADD COLUMN compliance TEXT NOT NULL DEFAULT '[]'; -- JSON list of the standards that data centers of workers meet
ALTER TABLE templates ADD COLUMN port_names TEXT NOT NULL DEFAULT '{}'; -- JSON object: number of a port, its name
