package sqldb

import (
	"github.com/berthdev/berth/impl/compute"
)

const clusterColumns = `id, user_id, name, type, gpu_id, gpu_count, pod_count, data_center_id, created_at`

const (
	insertCluster     = `INSERT INTO clusters (` + clusterColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectCluster     = `SELECT ` + clusterColumns + ` FROM clusters WHERE id = ?`
	selectClusters    = `SELECT ` + clusterColumns + ` FROM clusters WHERE user_id = ? ORDER BY created_at DESC, seq DESC`
	renameCluster     = `UPDATE clusters SET name = ? WHERE id = ?`
	deleteCluster     = `DELETE FROM clusters WHERE id = ?`
	selectClusterPods = `SELECT ` + podFields + ` FROM pods WHERE cluster_id = ? AND cluster_id <> '' AND gone = 0 ORDER BY seq`
)

// InsertCluster stores a new cluster. Conflict when the id is taken.
func (tx *Tx) InsertCluster(c compute.Cluster) error {
	_, err := tx.exec("insert cluster "+string(c.ID), insertCluster, string(c.ID), string(c.UserID), c.Name, string(c.Type), c.GPU.ID,
		c.GPU.Count, c.PodCount, c.DataCenterID, millis(c.CreatedAt))
	return err
}

func scanCluster(row scanner) (c compute.Cluster, err error) {
	err = row.Scan(&c.ID, &c.UserID, &c.Name, &c.Type, &c.GPU.ID, &c.GPU.Count, &c.PodCount, &c.DataCenterID, instant{&c.CreatedAt})
	return c, err
}

// Cluster gives one cluster. NotFound for an unknown id.
func (tx *Tx) Cluster(id compute.ClusterID) (c compute.Cluster, err error) {
	found, err := tx.one("read cluster "+string(id), func(row scanner) (err error) {
		c, err = scanCluster(row)
		return err
	}, selectCluster, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "cluster %q does not exist", id)
	}
	return c, err
}

// ListClusters gives the user's clusters, newest first.
func (tx *Tx) ListClusters(user compute.UserID) ([]compute.Cluster, error) {
	return list(tx, "list clusters", scanCluster, selectClusters, string(user))
}

// RenameCluster gives the cluster another name. NotFound for an unknown id.
func (tx *Tx) RenameCluster(id compute.ClusterID, name string) error {
	ok, err := tx.changed("rename cluster "+string(id), renameCluster, name, string(id))
	if err == nil && !ok {
		err = compute.Errorf(compute.NotFound, "cluster %q does not exist", id)
	}
	return err
}

// DeleteCluster removes the cluster, known or not, and leaves its pods.
func (tx *Tx) DeleteCluster(id compute.ClusterID) error {
	_, err := tx.exec("delete cluster "+string(id), deleteCluster, string(id))
	return err
}

// ClusterPods gives the cluster's pods that are not TERMINATED, in the order of their insertion.
func (tx *Tx) ClusterPods(id compute.ClusterID) ([]compute.Pod, error) {
	return list(tx, "list pods of cluster "+string(id), scanPod, selectClusterPods, string(id))
}
