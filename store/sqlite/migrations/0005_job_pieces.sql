-- Long inputs and outputs, apart from their jobs and in pieces, so that what is read of them is no more than a client takes.

CREATE TABLE job_pieces (
  job_seq INTEGER NOT NULL REFERENCES jobs (seq) ON DELETE CASCADE,
  of      TEXT NOT NULL,    -- input or output
  n       INTEGER NOT NULL, -- from 0
  body    BLOB NOT NULL,
  PRIMARY KEY (job_seq, of, n)
) STRICT;

-- Of what is in pieces, in bytes; 0: it is in output, in body.
ALTER TABLE jobs ADD COLUMN output_size INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_inputs ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
