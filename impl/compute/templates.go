package compute

import "time"

// Template is the settings of a container under a name, to make pods or the workers of an endpoint from.
type Template struct {
	ID           TemplateID
	UserID       UserID
	Name         string
	Image        string
	Args         string
	DiskGB       int64
	Ports        []string          // each port/protocol
	PortNames    map[string]string // for people, by the number of a port; most ports have none
	Env          map[string]string
	RegistryID   RegistryID // empty: none
	Persistent   *PersistentMount
	Category     TemplateCategory
	Public       bool // readable by everybody
	Serverless   bool // for endpoints rather than for pods
	StartSSH     bool
	StartJupyter bool
	CUDAVersions []string   // empty: any
	Readme       string     // words for people
	EndpointID   EndpointID // that brought it along, and with which it goes; empty: none
	CreatedAt    time.Time
}

// TemplateCategory says what a template is made for.
type TemplateCategory string

// The categories of templates.
const (
	ForCPU    TemplateCategory = "CPU"
	ForNVIDIA TemplateCategory = "NVIDIA"
	ForAMD    TemplateCategory = "AMD"
)
