// Package spec embeds the documents that are the source of truth. The documents are converted from YAML by
// go.yaml.in/yaml, the maintained YAML library, since they use anchors and merge keys.
package spec

import (
	"embed"
	"encoding/json"
	"fmt"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed rest.yaml queue.yaml worker.yaml controls.yaml rules.yaml graphql/*.graphqls
var files embed.FS

// documents are converted when they are first asked for: a server that starts waits for none of it.
var documents = map[string]func() ([]byte, error){
	"rest":     sync.OnceValues(func() ([]byte, error) { return convert("rest") }),
	"queue":    sync.OnceValues(func() ([]byte, error) { return convert("queue") }),
	"worker":   sync.OnceValues(func() ([]byte, error) { return convert("worker") }),
	"controls": sync.OnceValues(func() ([]byte, error) { return convert("controls") }),
}

// JSON gives the OpenAPI document of that name (rest, queue, worker, controls) as JSON, which is not to be changed.
func JSON(name string) ([]byte, error) {
	document, ok := documents[name]
	if !ok {
		return nil, fmt.Errorf("there is no document %q", name)
	}
	return document()
}

func convert(name string) ([]byte, error) {
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

// File is one of the files that the GraphQL schema is made of.
type File struct{ Name, Text string }

// GraphQL gives the files of the GraphQL schema, in the order of their names.
func GraphQL() (schema []File) {
	entries, _ := files.ReadDir("graphql") // it is embedded
	for _, e := range entries {
		text, _ := files.ReadFile("graphql/" + e.Name())
		schema = append(schema, File{"spec/graphql/" + e.Name(), string(text)})
	}
	return schema
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
