package sqldb

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// The columns of an endpoint: InsertEndpoint writes all, UpdateEndpoint the settings.
var (
	endpointFixed = columns[compute.Endpoint]{
		text("id", func(e *compute.Endpoint) *compute.EndpointID { return &e.ID }),
		text("user_id", func(e *compute.Endpoint) *compute.UserID { return &e.UserID }),
		text("type", func(e *compute.Endpoint) *compute.EndpointType { return &e.Type }),
		flag("declared", func(e *compute.Endpoint) *bool { return &e.Declared }),
		instant("created_at", func(e *compute.Endpoint) *time.Time { return &e.CreatedAt }),
	}
	endpointSettings = all(columns[compute.Endpoint]{
		text("name", func(e *compute.Endpoint) *string { return &e.Name }),
		text("image", func(e *compute.Endpoint) *string { return &e.Image }),
		text("args", func(e *compute.Endpoint) *string { return &e.Args }),
		whole("disk_gb", func(e *compute.Endpoint) *int64 { return &e.DiskGB }),
		words("ports", func(e *compute.Endpoint) *[]string { return &e.Ports }),
		wordMap("env", func(e *compute.Endpoint) *map[string]string { return &e.Env }),
		text("registry_id", func(e *compute.Endpoint) *compute.RegistryID { return &e.RegistryID }),
		custom("cpus", func(e *compute.Endpoint) string { return wordsText(cpuWords(e.CPUs)) }, readCPUs),
		words("data_center_ids", func(e *compute.Endpoint) *[]string { return &e.DataCenterIDs }),
		words("compliance", func(e *compute.Endpoint) *[]string { return &e.Compliance }),
		words("volume_ids", func(e *compute.Endpoint) *[]compute.VolumeID { return &e.VolumeIDs }),
		text("global_volume_id", func(e *compute.Endpoint) *compute.VolumeID { return &e.GlobalVolumeID }),
		text("template_id", func(e *compute.Endpoint) *compute.TemplateID { return &e.TemplateID }),
		text("flash_environment_id", func(e *compute.Endpoint) *compute.FlashEnvironmentID { return &e.Environment }),
		whole("workers_min", func(e *compute.Endpoint) *int { return &e.WorkersMin }),
		whole("workers_max", func(e *compute.Endpoint) *int { return &e.WorkersMax }),
		span("idle_timeout", func(e *compute.Endpoint) *time.Duration { return &e.IdleTimeout }),
		text("scaler", func(e *compute.Endpoint) *compute.Scaler { return &e.Scaler }),
		real("scaler_value", func(e *compute.Endpoint) *float64 { return &e.ScalerValue }),
		span("timeout", func(e *compute.Endpoint) *time.Duration { return &e.Timeout }),
		text("flashboot", func(e *compute.Endpoint) *compute.FlashBoot { return &e.FlashBoot }),
		whole("version", func(e *compute.Endpoint) *int64 { return &e.Version }),
		instant("deleted_at", func(e *compute.Endpoint) *time.Time { return &e.DeletedAt }),
	}, optional(func(e *compute.Endpoint) **compute.EndpointGPU { return &e.GPU }, columns[compute.EndpointGPU]{
		words("gpu_pools", func(g *compute.EndpointGPU) *[]string { return &g.Pools }),
		words("gpu_excluded", func(g *compute.EndpointGPU) *[]string { return &g.Excluded }),
		whole("gpu_count", func(g *compute.EndpointGPU) *int64 { return &g.Count }),
		words("cuda_versions", func(g *compute.EndpointGPU) *[]string { return &g.CUDAVersions }),
		text("least_cuda", func(g *compute.EndpointGPU) *string { return &g.LeastCUDA }),
	}))
	endpointColumns  = all(endpointFixed, endpointSettings)
	endpointIDColumn = columns[compute.EndpointID]{text("id", itself[compute.EndpointID])}
)

var (
	insertEndpoint         = endpointColumns.insert("endpoints")
	selectFromEndpoints    = `SELECT ` + endpointColumns.list() + ` FROM endpoints `
	selectEndpoint         = selectFromEndpoints + `WHERE id = ?`
	selectDeclaredEndpoint = selectFromEndpoints + `WHERE declared AND user_id = ? AND name = ?`
	selectEndpoints        = selectFromEndpoints + `ORDER BY created_at, seq`
	pagesEndpoints         = pagesOf("endpoints", endpointColumns, `user_id = ? AND deleted_at IS NULL`, func(one *compute.Endpoint) string { return string(one.ID) })
	updateEndpoint         = `UPDATE endpoints SET ` + endpointSettings.set() + ` WHERE id = ?`
	selectEndpointsWith    = `SELECT ` + endpointIDColumn.list() + ` FROM endpoints WHERE deleted_at IS NULL AND (template_id = ? AND template_id <> '' OR
registry_id = ? AND registry_id <> '' OR global_volume_id = ? AND global_volume_id <> '' OR EXISTS (SELECT 1 FROM json_each(volume_ids) WHERE value = ?)) ORDER BY seq`
)

const (
	deleteEndpoint = `DELETE FROM endpoints WHERE id = ?`
	deleteReleases = `DELETE FROM releases WHERE endpoint_id = ?`
)

// InsertEndpoint stores a new endpoint. Conflict when the id is taken, or a declared name.
func (tx *Tx) InsertEndpoint(e compute.Endpoint) error {
	if _, err := tx.exec("insert endpoint "+e.Name, insertEndpoint, endpointColumns.values(tx.args(), &e)...); err != nil {
		return err
	}
	_, err := tx.exec("insert counts of "+e.Name, insertCounts, countColumns.values(append(tx.args(), string(e.ID)), &compute.JobCounts{})...)
	return err
}

func readCPUs(e *compute.Endpoint, s string) error {
	cpus, err := wordsOf[string](s)
	if err == nil {
		e.CPUs, err = cpusOf(cpus)
	}
	return err
}

// cpuWords writes each CPU as "flavor vcpus memory".
func cpuWords(cpus []compute.CPU) (all []string) {
	for _, c := range cpus {
		all = append(all, fmt.Sprintf("%s %d %d", c.ID, c.VCPUCount, c.MemoryGB))
	}
	return all
}

func cpusOf(all []string) (cpus []compute.CPU, err error) {
	for _, one := range all {
		rest, memory := cutLast(one)
		id, vcpus := cutLast(rest)
		c := compute.CPU{ID: id}
		if c.VCPUCount, err = strconv.ParseInt(vcpus, 10, 64); err != nil {
			return nil, err
		}
		if c.MemoryGB, err = strconv.ParseInt(memory, 10, 64); err != nil {
			return nil, err
		}

		cpus = append(cpus, c)
	}

	return cpus, nil
}

// cutLast cuts at the last space: the id of a flavor may have some.
func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, ' ')
	return s[:max(0, i)], s[i+1:]
}

func (tx *Tx) endpoint(name, query string, args ...any) (compute.Endpoint, error) {
	e, found, err := get(tx, "read endpoint "+name, endpointColumns, query, args...)
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "endpoint %q does not exist", name)
	}
	return e, err
}

// Endpoint gives one endpoint. NotFound for an unknown id.
func (tx *Tx) Endpoint(id compute.EndpointID) (compute.Endpoint, error) {
	return tx.endpoint(string(id), selectEndpoint, string(id))
}

// DeclaredEndpoint gives the user's declared endpoint of that name. NotFound for an unknown one.
func (tx *Tx) DeclaredEndpoint(user compute.UserID, name string) (compute.Endpoint, error) {
	return tx.endpoint(name, selectDeclaredEndpoint, string(user), name)
}

// UpdateEndpoint writes all but the user, the type, whether it is declared and CreatedAt. NotFound for an unknown id,
// Conflict for a declared name that is taken.
func (tx *Tx) UpdateEndpoint(e compute.Endpoint) error {
	ok, err := tx.changed("update endpoint "+string(e.ID), updateEndpoint, endpointSettings.values(tx.args(), &e, string(e.ID))...)
	if err == nil && !ok {
		err = compute.Errorf(compute.NotFound, "endpoint %q does not exist", e.ID)
	}
	return err
}

// ListEndpoints gives all endpoints, oldest first.
func (tx *Tx) ListEndpoints() ([]compute.Endpoint, error) {
	return list(tx, "list endpoints", endpointColumns, selectEndpoints)
}

// PageEndpoints gives a page of the user's endpoints that are not being deleted, newest first, and where the next one begins.
func (tx *Tx) PageEndpoints(user compute.UserID, p compute.Page) ([]compute.Endpoint, compute.Position, error) {
	return pagesEndpoints.page(tx, "list endpoints", string(user), p)
}

// DeleteEndpoint removes the endpoint with its releases, its builds, its counts and what is kept of its workers that ended, known or not.
func (tx *Tx) DeleteEndpoint(id compute.EndpointID) error {
	for _, query := range []string{deleteReleases, deleteCounts, deleteEnded, deleteBuilds, deleteScript, deleteEndpoint} {
		if _, err := tx.exec("delete endpoint "+string(id), query, string(id)); err != nil {
			return err
		}
	}
	return nil
}

// EndpointsWith gives the endpoints that last and name the template, the credential or the volume, oldest first.
func (tx *Tx) EndpointsWith(t compute.TemplateID, r compute.RegistryID, v compute.VolumeID) ([]compute.EndpointID, error) {
	return list(tx, "list endpoints with", endpointIDColumn, selectEndpointsWith, string(t), string(r), string(v), string(v))
}
