-- The template that a cluster was made from ('': none), and of which type the cluster of a pod is ('': it belongs to none).
ALTER TABLE clusters ADD COLUMN template_id TEXT NOT NULL DEFAULT '';
ALTER TABLE pods ADD COLUMN cluster_type TEXT NOT NULL DEFAULT '';
UPDATE pods SET cluster_type = (SELECT type FROM clusters WHERE clusters.id = pods.cluster_id) WHERE cluster_id IN (SELECT id FROM clusters);
