-- The jobs of an endpoint in the order of their submission, and apart those that have not ended or that failed, so that a search for these
-- reads no others. Neither index has a column that a take changes.
CREATE INDEX jobs_of_endpoint ON jobs (endpoint_id, created_at);
CREATE INDEX jobs_open_or_failed ON jobs (endpoint_id, created_at) WHERE (ended_at IS NULL OR error <> '');
