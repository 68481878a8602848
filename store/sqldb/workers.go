package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	workerColumns = all(columns[compute.Worker]{
		text("id", func(w *compute.Worker) *compute.WorkerID { return &w.ID }),
		text("endpoint_id", func(w *compute.Worker) *compute.EndpointID { return &w.EndpointID }),
		whole("version", func(w *compute.Worker) *int64 { return &w.Version }),
		text("image", func(w *compute.Worker) *string { return &w.Image }),
		whole("disk_gb", func(w *compute.Worker) *int64 { return &w.DiskGB }),
		text("data_center_id", func(w *compute.Worker) *string { return &w.DataCenterID }),
		text("host_id", func(w *compute.Worker) *string { return &w.HostID }),
		words("devices", func(w *compute.Worker) *[]string { return &w.Devices }),
		real("cost_per_hour", func(w *compute.Worker) *float64 { return &w.CostPerHour }),
		instant("created_at", func(w *compute.Worker) *time.Time { return &w.CreatedAt }),
		instant("started_at", func(w *compute.Worker) *time.Time { return &w.StartedAt }),
	},
		optional(func(w *compute.Worker) **compute.GPU { return &w.GPU }, gpuColumns),
		optional(func(w *compute.Worker) **compute.CPU { return &w.CPU }, cpuColumns))

	insertWorker      = workerColumns.insert("workers")
	selectFromWorkers = `SELECT ` + workerColumns.list() + ` FROM workers `
	selectWorkers     = selectFromWorkers + `ORDER BY seq`
	selectWorker      = selectFromWorkers + `WHERE id = ?`
	selectWorkersOf   = selectFromWorkers + `WHERE endpoint_id = ? ORDER BY seq`
)

const (
	startWorker  = `UPDATE workers SET started_at = ? WHERE id = ?`
	deleteWorker = `DELETE FROM workers WHERE id = ?`
)

// InsertWorker stores a new worker. Conflict when the id is taken.
func (tx *Tx) InsertWorker(w compute.Worker) error {
	_, err := tx.exec("insert worker "+string(w.ID), insertWorker, workerColumns.values(tx.args(), &w)...)
	return err
}

// Worker gives one worker. NotFound for an unknown id.
func (tx *Tx) Worker(id compute.WorkerID) (compute.Worker, error) {
	w, found, err := get(tx, "read worker "+string(id), workerColumns, selectWorker, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "worker %q does not exist", id)
	}
	return w, err
}

// ListWorkers gives all workers, oldest first.
func (tx *Tx) ListWorkers() ([]compute.Worker, error) {
	return list(tx, "list workers", workerColumns, selectWorkers)
}

// ListWorkersOf gives the endpoint's workers, oldest first.
func (tx *Tx) ListWorkersOf(id compute.EndpointID) ([]compute.Worker, error) {
	return list(tx, "list workers of "+string(id), workerColumns, selectWorkersOf, string(id))
}

// SetWorkerStarted writes when the worker's container came up; it reports whether there is such a worker.
func (tx *Tx) SetWorkerStarted(id compute.WorkerID, at time.Time) (bool, error) {
	return tx.changed("start worker "+string(id), startWorker, millis(at), string(id))
}

// DeleteWorker removes the worker, known or not.
func (tx *Tx) DeleteWorker(id compute.WorkerID) error {
	_, err := tx.exec("delete worker "+string(id), deleteWorker, string(id))
	return err
}
