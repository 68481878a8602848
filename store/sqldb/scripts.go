package sqldb

import "github.com/berthdev/berth/impl/compute"

var (
	scriptColumns = columns[compute.EndpointScript]{
		text("endpoint_id", func(s *compute.EndpointScript) *compute.EndpointID { return &s.EndpointID }),
		text("document", func(s *compute.EndpointScript) *string { return &s.Document }),
		text("counts", func(s *compute.EndpointScript) *string { return &s.Counts }),
	}
	setScript = scriptColumns.insert("scripts") +
		` ON CONFLICT (endpoint_id) DO UPDATE SET ` + scriptColumns.only("document", "counts").format("%s = excluded.%s")
	selectScript  = `SELECT ` + scriptColumns.list() + ` FROM scripts WHERE endpoint_id = ?`
	selectScripts = `SELECT ` + scriptColumns.list() + ` FROM scripts ORDER BY endpoint_id`
)

const deleteScript = `DELETE FROM scripts WHERE endpoint_id = ?`

// SetScript stores the script in place of that of the endpoint.
func (tx *Tx) SetScript(s compute.EndpointScript) error {
	_, err := tx.exec("set script of "+string(s.EndpointID), setScript, scriptColumns.values(tx.args(), &s)...)
	return err
}

// Script gives the script of the endpoint, and whether it has one.
func (tx *Tx) Script(id compute.EndpointID) (compute.EndpointScript, bool, error) {
	return get(tx, "read script of "+string(id), scriptColumns, selectScript, string(id))
}

// ListScripts gives all, by their endpoints.
func (tx *Tx) ListScripts() ([]compute.EndpointScript, error) {
	return list(tx, "list scripts", scriptColumns, selectScripts)
}

// DeleteScript removes the script of the endpoint, known or not.
func (tx *Tx) DeleteScript(id compute.EndpointID) error {
	_, err := tx.exec("delete script of "+string(id), deleteScript, string(id))
	return err
}
