-- The time of day after which a pod is stopped, or terminated; NULL: none.
ALTER TABLE pods ADD COLUMN stop_after INTEGER;
ALTER TABLE pods ADD COLUMN terminate_after INTEGER;
CREATE INDEX pods_by_timer ON pods (seq) WHERE (stop_after IS NOT NULL OR terminate_after IS NOT NULL) AND gone = 0;
