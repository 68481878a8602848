-- What a pod asks of each host that it is placed on, also when it starts again: versions of CUDA (JSON; null: any), the least one ('': none),
-- and what comes with each GPU at least.
ALTER TABLE pods ADD COLUMN cuda_versions TEXT NOT NULL DEFAULT 'null';
ALTER TABLE pods ADD COLUMN least_cuda TEXT NOT NULL DEFAULT '';
ALTER TABLE pods ADD COLUMN gpu_vcpus INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pods ADD COLUMN gpu_memory_gb INTEGER NOT NULL DEFAULT 0;
