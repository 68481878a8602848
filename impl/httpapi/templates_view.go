package httpapi

import (
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// newTemplate makes a creation the change of what is set.
func newTemplate(r rest.CreateTemplateRequest) (control.TemplateChange, error) {
	return templateChange(rest.UpdateTemplateRequest{
		Name: &r.Name, Image: &r.Image, Args: r.Args, Cmd: r.Cmd, Entrypoint: r.Entrypoint, Disk: r.Disk, Ports: r.Ports, Env: r.Env, Registry: r.Registry, Mounts: r.Mounts,
		Category: r.Category, Public: r.Public, Serverless: r.Serverless, StartSSH: r.StartSSH, StartJupyter: r.StartJupyter,
		AllowedCudaVersions: r.AllowedCudaVersions,
	})
}

// templateChange translates a PATCH: an absent member stays nil, a null registry becomes an empty one.
func templateChange(r rest.UpdateTemplateRequest) (n control.TemplateChange, err error) {
	n = control.TemplateChange{
		Name: r.Name, Image: r.Image, Args: r.Args, Cmd: r.Cmd, Entrypoint: r.Entrypoint, DiskGB: r.Disk, Ports: r.Ports, Env: r.Env, Public: r.Public, Serverless: r.Serverless,
		StartSSH: r.StartSSH, StartJupyter: r.StartJupyter, CUDAVersions: r.AllowedCudaVersions,
	}
	if r.Category != nil {
		category := compute.TemplateCategory(*r.Category)
		n.Category = &category
	}

	if r.Mounts != nil {
		n.Mounts = &control.TemplateMounts{}
		if p := r.Mounts.Persistent; p != nil {
			n.Mounts.Persistent = &compute.PersistentMount{SizeGB: p.Size, Path: p.Path}
		}
	}

	n.RegistryID, err = credential(r.Registry)
	return n, err
}

// templateView fills every field of the published template. Its credential is for its owner's eyes.
func templateView(t compute.Template, reader compute.UserID) rest.Template {
	v := rest.Template{
		ID: string(t.ID), Name: t.Name, Image: t.Image, Args: t.Args, Disk: t.DiskGB, Ports: t.Ports, Env: t.Env, Registry: orNull(""),
		Category: rest.TemplateCategory(t.Category), Public: t.Public, Serverless: t.Serverless, StartSSH: t.StartSSH,
		StartJupyter: t.StartJupyter, AllowedCudaVersions: t.CUDAVersions,
	}
	v.Cmd, v.Entrypoint = control.Lists(t.Args)
	if t.UserID == reader {
		v.Registry = orNull(t.RegistryID)
	}
	if p := t.Persistent; p != nil {
		//nolint:staticcheck // deprecated for clients; a server answers with it as long as the document has it
		v.Mounts.Persistent = &rest.PersistentMount{Size: p.SizeGB, Path: p.Path}
	}

	return v
}
