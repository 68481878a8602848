// Package spec embeds the documents that are the source of truth. The documents are converted from YAML by
// go.yaml.in/yaml, the maintained YAML library, since they use anchors and merge keys.
package spec

import (
	"embed"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

//go:embed rest.yaml queue.yaml worker.yaml controls.yaml rules.yaml
var files embed.FS

// JSON gives the OpenAPI document of that name (rest, queue, worker, controls) as JSON.
func JSON(name string) ([]byte, error) {
	text, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, err
	}
	var document map[string]any
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("spec/%s.yaml: %w", name, err)
	}
	return json.MarshalIndent(document, "", "  ")
}

// Rule is one documented rule. Source says where it comes from; Kind is "documented" or "decided"; Open marks a rule that
// no test covers yet.
type Rule struct {
	ID     string `yaml:"id"`
	Says   string `yaml:"says"`
	Source string `yaml:"source"`
	Kind   string `yaml:"kind"`
	Open   bool   `yaml:"open,omitempty"`
}

// Rules gives the documented rules in the order of the file.
func Rules() ([]Rule, error) {
	text, err := files.ReadFile("rules.yaml")
	if err != nil {
		return nil, err
	}
	var rules []Rule
	if err := yaml.Unmarshal(text, &rules); err != nil {
		return nil, fmt.Errorf("spec/rules.yaml: %w", err)
	}
	return rules, nil
}
