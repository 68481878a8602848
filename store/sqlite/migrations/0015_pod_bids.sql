-- What is bid for each GPU, USD an hour; 0: the pod is not interruptible. When it is interrupted by itself, and when it was; NULL: not.
ALTER TABLE pods ADD COLUMN bid_per_gpu REAL NOT NULL DEFAULT 0;
ALTER TABLE pods ADD COLUMN interrupt_at INTEGER;
ALTER TABLE pods ADD COLUMN interrupted_at INTEGER;
DROP INDEX pods_by_timer;
CREATE INDEX pods_by_timer ON pods (seq) WHERE (stop_after IS NOT NULL OR terminate_after IS NOT NULL OR interrupt_at IS NOT NULL) AND gone = 0;
