package sqldb

import (
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// The columns of a template: InsertTemplate writes all, UpdateTemplate the settings.
var (
	templateFixed = columns[compute.Template]{
		text("id", func(t *compute.Template) *compute.TemplateID { return &t.ID }),
		text("user_id", func(t *compute.Template) *compute.UserID { return &t.UserID }),
		text("endpoint_id", func(t *compute.Template) *compute.EndpointID { return &t.EndpointID }),
		instant("created_at", func(t *compute.Template) *time.Time { return &t.CreatedAt }),
	}
	templateSettings = all(columns[compute.Template]{
		text("name", func(t *compute.Template) *string { return &t.Name }),
		text("image", func(t *compute.Template) *string { return &t.Image }),
		text("args", func(t *compute.Template) *string { return &t.Args }),
		whole("disk_gb", func(t *compute.Template) *int64 { return &t.DiskGB }),
		words("ports", func(t *compute.Template) *[]string { return &t.Ports }),
		wordMap("port_names", func(t *compute.Template) *map[string]string { return &t.PortNames }),
		wordMap("env", func(t *compute.Template) *map[string]string { return &t.Env }),
		text("registry_id", func(t *compute.Template) *compute.RegistryID { return &t.RegistryID }),
		text("category", func(t *compute.Template) *compute.TemplateCategory { return &t.Category }),
		flag("public", func(t *compute.Template) *bool { return &t.Public }),
		flag("serverless", func(t *compute.Template) *bool { return &t.Serverless }),
		flag("start_ssh", func(t *compute.Template) *bool { return &t.StartSSH }),
		flag("start_jupyter", func(t *compute.Template) *bool { return &t.StartJupyter }),
		words("cuda_versions", func(t *compute.Template) *[]string { return &t.CUDAVersions }),
		text("readme", func(t *compute.Template) *string { return &t.Readme }),
	}, optional(func(t *compute.Template) **compute.PersistentMount { return &t.Persistent }, mountColumns))
	templateColumns  = all(templateFixed, templateSettings)
	templateIDColumn = columns[compute.TemplateID]{text("id", itself[compute.TemplateID])}
)

var (
	insertTemplate      = templateColumns.insert("templates")
	selectFromTemplates = `SELECT ` + templateColumns.list() + ` FROM templates `
	selectTemplate      = selectFromTemplates + `WHERE id = ?`
	pagesTemplates      = pagesOf("templates", templateColumns, `user_id = ?`, func(one *compute.Template) string { return string(one.ID) })
	updateTemplate      = `UPDATE templates SET ` + templateSettings.set() + ` WHERE id = ?`
	selectTemplatePods  = `SELECT ` + podIDColumn.list() + ` FROM pods WHERE template_id = ? AND template_id <> '' AND gone = 0 ORDER BY seq`
	forgetRegistry      = `UPDATE templates SET registry_id = '' WHERE registry_id = ? AND registry_id <> '' RETURNING ` + templateIDColumn.list()
)

const deleteTemplate = `DELETE FROM templates WHERE id = ?`

// InsertTemplate stores a new template. Conflict when the id is taken.
func (tx *Tx) InsertTemplate(t compute.Template) error {
	_, err := tx.exec("insert template "+string(t.ID), insertTemplate, templateColumns.values(tx.args(), &t)...)
	return err
}

// Template gives one template. NotFound for an unknown id.
func (tx *Tx) Template(id compute.TemplateID) (compute.Template, error) {
	t, found, err := get(tx, "read template "+string(id), templateColumns, selectTemplate, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "template %q does not exist", id)
	}
	return t, err
}

// PageTemplates gives a page of the user's templates, newest first, and where the next one begins.
func (tx *Tx) PageTemplates(user compute.UserID, p compute.Page) ([]compute.Template, compute.Position, error) {
	return pagesTemplates.page(tx, "list templates", string(user), p)
}

// UpdateTemplate writes all but the user and CreatedAt. NotFound for an unknown id.
func (tx *Tx) UpdateTemplate(t compute.Template) error {
	ok, err := tx.changed("update template "+string(t.ID), updateTemplate, templateSettings.values(tx.args(), &t, string(t.ID))...)
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
	return tx.podIDs("list pods of template "+string(id), selectTemplatePods, string(id))
}

// ForgetRegistry takes the credential from every template that names it, and gives these by their ids.
func (tx *Tx) ForgetRegistry(id compute.RegistryID) ([]compute.TemplateID, error) {
	tx.altered = true
	all, err := list(tx, "forget registry "+string(id), templateIDColumn, forgetRegistry, string(id))
	slices.Sort(all)
	return all, err
}
