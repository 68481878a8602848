package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"

	"github.com/distribution/reference"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// noGPU hides the GPUs of a node from a container, where the runtime of its containers would show them all.
const (
	envGPUs = "NVIDIA_VISIBLE_DEVICES"
	noGPU   = "void"
)

// The names of the variable and the field that show a container where it is reached.
const (
	envPublicIP = "RUNPOD_PUBLIC_IP"
	hostIPField = "status.hostIP"
)

// The ends of the names of the Secrets of a run, and their types.
const (
	envSecret  = "-env"
	pullSecret = "-pull"

	opaqueType = "Opaque"
	loginType  = "kubernetes.io/dockerconfigjson"
	loginKey   = ".dockerconfigjson"
)

// keyForm is that of the names in a Secret, of at most longestName bytes.
var keyForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-._a-zA-Z0-9]+$`) })

// inform adds the environment of the allocation to its Pod, and gives the part that is kept in a Secret: what a Secret cannot hold stands in
// the Pod.
func (h *Runtime) inform(p *pod, a runtime.Allocation, ports []compute.PublishedPort) map[string][]byte {
	a.Env = maps.Clone(a.Env)
	delete(a.Env, envGPUs)
	kept, main := map[string][]byte{}, &p.Spec.Containers[0]
	for _, variable := range a.Variables("", ports) {
		name, value, _ := strings.Cut(variable, "=")
		if len(name) <= longestName && keyForm().MatchString(name) {
			kept[name] = []byte(value)
		} else {
			main.Env = append(main.Env, envVariable{Name: name, Value: strings.ReplaceAll(value, "$", "$$")})
		}
	}

	if a.GPUs.None() {
		kept[envGPUs] = []byte(noGPU)
	}
	if _, set := kept[envPublicIP]; !set && h.hostIsPublic() && len(ports) > 0 {
		main.Env = append(main.Env, envVariable{Name: envPublicIP, ValueFrom: &variableField{FieldRef: fieldReference{FieldPath: hostIPField}}})
	}
	if len(kept) > 0 {
		main.EnvFrom = []envSource{{SecretRef: localReference{Name: p.Metadata.Name + envSecret}}}
	}
	return kept
}

// credential makes the data of a Secret with the login to the registry of the image; nil if none is needed.
func credential(ctx context.Context, a runtime.Allocation) (map[string][]byte, error) {
	if a.Credential == nil {
		return nil, nil
	}
	c, err := a.Credential(ctx)
	if err != nil {
		return nil, fmt.Errorf("image %q: the registry credential cannot be had: %w", a.Image, err)
	}
	named, err := reference.ParseNormalizedNamed(a.Image)
	if err != nil {
		return nil, fmt.Errorf("image %q: %w", a.Image, err)
	}

	type login struct {
		Username string `json:"username"`
		Password string `json:"password"`
		Auth     []byte `json:"auth"` // base64 in JSON
	}
	at := reference.Domain(named)
	if at == defaultRegistry() { // which has another name as logins are stored
		at = "https://index." + at + "/v1/"
	}
	text, err := json.Marshal(map[string]map[string]login{"auths": {at: {c.User, c.Password, []byte(c.User + ":" + c.Password)}}}) //nolint:gosec // it is to be stored, in a Secret
	if err != nil {
		return nil, fmt.Errorf("image %q: the registry credential cannot be encoded", a.Image)
	}
	return map[string][]byte{loginKey: text}, nil
}

// defaultRegistry is the one of images whose names have none.
var defaultRegistry = sync.OnceValue(func() string {
	named, _ := reference.ParseNormalizedNamed("image")
	return reference.Domain(named)
})
