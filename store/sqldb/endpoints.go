package sqldb

import (
	"github.com/berthdev/berth/impl/compute"
)

const endpointColumns = `id, user_id, name, image, env, workers_min, workers_max, idle_timeout, scaler, scaler_value, created_at`

const (
	insertEndpoint       = `INSERT INTO endpoints (` + endpointColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectEndpoint       = `SELECT ` + endpointColumns + ` FROM endpoints WHERE id = ?`
	selectEndpointByName = `SELECT ` + endpointColumns + ` FROM endpoints WHERE user_id = ? AND name = ?`
	selectEndpoints      = `SELECT ` + endpointColumns + ` FROM endpoints ORDER BY created_at, seq`
	updateEndpoint       = `UPDATE endpoints SET name = ?, image = ?, env = ?, workers_min = ?, workers_max = ?, idle_timeout = ?, scaler = ?,
scaler_value = ? WHERE id = ?`
)

// InsertEndpoint stores a new endpoint. Conflict when the user already has one of that name, or the id is taken.
func (tx *Tx) InsertEndpoint(e compute.Endpoint) error {
	_, err := tx.exec("insert endpoint "+e.Name, insertEndpoint, string(e.ID), string(e.UserID), e.Name, e.Image,
		text(e.Env), e.WorkersMin, e.WorkersMax, e.IdleTimeout.Milliseconds(), string(e.Scaler), e.ScalerValue, millis(e.CreatedAt))
	return err
}

func scanEndpoint(row scanner) (e compute.Endpoint, err error) {
	err = row.Scan(&e.ID, &e.UserID, &e.Name, &e.Image, words[map[string]string]{&e.Env}, &e.WorkersMin, &e.WorkersMax,
		span{&e.IdleTimeout}, &e.Scaler, &e.ScalerValue, instant{&e.CreatedAt})
	return e, err
}

func (tx *Tx) endpoint(name, query string, args ...any) (e compute.Endpoint, err error) {
	found, err := tx.one("read endpoint "+name, func(row scanner) (err error) {
		e, err = scanEndpoint(row)
		return err
	}, query, args...)
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "endpoint %q does not exist", name)
	}
	return e, err
}

// Endpoint gives one endpoint. NotFound for an unknown id.
func (tx *Tx) Endpoint(id compute.EndpointID) (compute.Endpoint, error) {
	return tx.endpoint(string(id), selectEndpoint, string(id))
}

// EndpointByName gives the user's endpoint of that name. NotFound for an unknown one.
func (tx *Tx) EndpointByName(user compute.UserID, name string) (compute.Endpoint, error) {
	return tx.endpoint(name, selectEndpointByName, string(user), name)
}

// UpdateEndpoint writes all but the user and CreatedAt. NotFound for an unknown id, Conflict for a name that is taken.
func (tx *Tx) UpdateEndpoint(e compute.Endpoint) error {
	ok, err := tx.changed("update endpoint "+string(e.ID), updateEndpoint, e.Name, e.Image, text(e.Env), e.WorkersMin,
		e.WorkersMax, e.IdleTimeout.Milliseconds(), string(e.Scaler), e.ScalerValue, string(e.ID))
	if err == nil && !ok {
		err = compute.Errorf(compute.NotFound, "endpoint %q does not exist", e.ID)
	}
	return err
}

// ListEndpoints gives all endpoints, oldest first.
func (tx *Tx) ListEndpoints() ([]compute.Endpoint, error) {
	return list(tx, "list endpoints", scanEndpoint, selectEndpoints)
}
