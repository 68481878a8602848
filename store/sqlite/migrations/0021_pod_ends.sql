-- What ended the last run of a pod ('': it has not ended, or nobody noted it).
ALTER TABLE pods ADD COLUMN ended_by TEXT NOT NULL DEFAULT '';
