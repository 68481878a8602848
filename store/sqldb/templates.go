package sqldb

import (
	"github.com/berthdev/berth/impl/compute"
)

const templateColumns = `id, user_id, name, image, args, disk_gb, ports, port_names, env, registry_id, persistent_gb, persistent_path, category,
public, serverless, start_ssh, start_jupyter, cuda_versions, readme, created_at`

const (
	insertTemplate = `INSERT INTO templates (` + templateColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectTemplate = `SELECT ` + templateColumns + ` FROM templates WHERE id = ?`
	listTemplates  = `SELECT ` + templateColumns + ` FROM templates WHERE user_id = ? ORDER BY created_at DESC, seq DESC`
	updateTemplate = `UPDATE templates SET name = ?, image = ?, args = ?, disk_gb = ?, ports = ?, port_names = ?, env = ?, registry_id = ?, persistent_gb = ?,
persistent_path = ?, category = ?, public = ?, serverless = ?, start_ssh = ?, start_jupyter = ?, cuda_versions = ?, readme = ? WHERE id = ?`
	deleteTemplate     = `DELETE FROM templates WHERE id = ?`
	selectTemplatePods = `SELECT id FROM pods WHERE template_id = ? AND template_id <> '' AND gone = 0 ORDER BY seq`
	forgetRegistry     = `UPDATE templates SET registry_id = '' WHERE registry_id = ? AND registry_id <> ''`
)

// templateSettings are the values of what can change, in the order of the columns.
func templateSettings(t compute.Template) []any {
	var gb, path any
	if m := t.Persistent; m != nil {
		gb, path = m.SizeGB, m.Path
	}
	return []any{
		t.Name, t.Image, t.Args, t.DiskGB, text(t.Ports), text(t.PortNames), text(t.Env), string(t.RegistryID), gb, path, string(t.Category),
		t.Public, t.Serverless, t.StartSSH, t.StartJupyter, text(t.CUDAVersions), t.Readme,
	}
}

// InsertTemplate stores a new template. Conflict when the id is taken.
func (tx *Tx) InsertTemplate(t compute.Template) error {
	args := append([]any{string(t.ID), string(t.UserID)}, templateSettings(t)...)
	_, err := tx.exec("insert template "+string(t.ID), insertTemplate, append(args, millis(t.CreatedAt))...)
	return err
}

func scanTemplate(row scanner) (t compute.Template, err error) {
	var (
		gb   optional[int64]
		path optional[string]
	)
	err = row.Scan(&t.ID, &t.UserID, &t.Name, &t.Image, &t.Args, &t.DiskGB, words[[]string]{&t.Ports}, words[map[string]string]{&t.PortNames}, words[map[string]string]{&t.Env},
		&t.RegistryID, &gb, &path, &t.Category, &t.Public, &t.Serverless, &t.StartSSH, &t.StartJupyter,
		words[[]string]{&t.CUDAVersions}, &t.Readme, instant{&t.CreatedAt})
	if gb.Valid {
		t.Persistent = &compute.PersistentMount{SizeGB: gb.V, Path: path.V}
	}
	return t, err
}

// Template gives one template. NotFound for an unknown id.
func (tx *Tx) Template(id compute.TemplateID) (t compute.Template, err error) {
	found, err := tx.one("read template "+string(id), func(row scanner) (err error) {
		t, err = scanTemplate(row)
		return err
	}, selectTemplate, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "template %q does not exist", id)
	}
	return t, err
}

// ListTemplates gives the user's templates, newest first.
func (tx *Tx) ListTemplates(user compute.UserID) ([]compute.Template, error) {
	return list(tx, "list templates", scanTemplate, listTemplates, string(user))
}

// UpdateTemplate writes all but the user and CreatedAt. NotFound for an unknown id.
func (tx *Tx) UpdateTemplate(t compute.Template) error {
	ok, err := tx.changed("update template "+string(t.ID), updateTemplate, append(templateSettings(t), string(t.ID))...)
	if err == nil && !ok {
		err = compute.Errorf(compute.NotFound, "template %q does not exist", t.ID)
	}
	return err
}

// DeleteTemplate removes the template, known or not.
func (tx *Tx) DeleteTemplate(id compute.TemplateID) error {
	_, err := tx.exec("delete template "+string(id), deleteTemplate, string(id))
	return err
}

// TemplatePods gives the pods that were made from the template and are not TERMINATED, oldest first.
func (tx *Tx) TemplatePods(id compute.TemplateID) ([]compute.PodID, error) {
	return list(tx, "list pods of template "+string(id), scanPodID, selectTemplatePods, string(id))
}

// ForgetRegistry takes the credential from every template that names it.
func (tx *Tx) ForgetRegistry(id compute.RegistryID) error {
	_, err := tx.exec("forget registry "+string(id), forgetRegistry, string(id))
	return err
}
