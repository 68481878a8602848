// Package spec embeds the documents that are the source of truth. The documents are converted from YAML by
// go.yaml.in/yaml, the maintained YAML library, since they use anchors and merge keys.
package spec

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/spec/overlay"
)

//go:embed rest.yaml queue.yaml worker.yaml controls.yaml rules.yaml graphql/*.graphqls editions/*.overlay.yaml
var files embed.FS

// documents are converted when they are first asked for: a server that starts waits for none of it.
var documents sync.Map // of of: func() ([]byte, error)

// of names a document of an edition.
type of struct{ name, edition string }

// JSON gives the OpenAPI document of that name (rest, queue, worker, controls) as JSON, which is not to be changed, as an edition of the
// contract has it: the document as it is where the edition changes nothing of it.
func JSON(name, edition string) ([]byte, error) {
	if !slices.Contains([]string{"rest", "queue", "worker", "controls"}, name) {
		return nil, fmt.Errorf("there is no document %q", name)
	}
	document, _ := documents.LoadOrStore(of{name, edition}, sync.OnceValues(func() ([]byte, error) { return convert(files, name, edition) }))
	return document.(func() ([]byte, error))()
}

func convert(files fs.FS, name, edition string) ([]byte, error) {
	root, err := parse(files, name+".yaml")
	if err != nil {
		return nil, err
	}

	var base map[string]any                     // what the document has without the edition
	entries, _ := fs.ReadDir(files, "editions") // it is embedded
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), edition+".") { // so does the name of each overlay of the edition begin, and maybe that of another
			continue
		}
		changes, err := parse(files, "editions/"+e.Name())
		if err != nil {
			return nil, err
		}
		if overlay.Get(changes, "info", "version").Value != edition || overlay.Get(changes, "extends").Value != "../"+name+".yaml" {
			continue
		}
		if err := root.Decode(&base); err != nil {
			return nil, fmt.Errorf("spec/%s.yaml: %w", name, err)
		}
		root = overlay.Plain(root)
		if err := overlay.Apply(root, changes); err != nil {
			return nil, fmt.Errorf("spec/editions/%s: %w", e.Name(), err)
		}
	}

	var document map[string]any
	if err := root.Decode(&document); err != nil {
		return nil, fmt.Errorf("spec/%s.yaml: %w", name, err)
	}
	if base != nil {
		mark(document, base, edition)
	}
	return json.MarshalIndent(document, "", "  ")
}

// mark says in the description of each schema, property and operation of an edition that the document itself does not have that it is one
// of the edition.
func mark(document, base map[string]any, edition string) {
	say := func(one any) {
		if m, ok := one.(map[string]any); ok {
			description, _ := m["description"].(string)
			m["description"] = strings.TrimSpace("Edition " + edition + ". " + description)
		}
	}
	within := func(m any, names ...string) map[string]any {
		for _, name := range names {
			next, _ := m.(map[string]any)
			m = next[name]
		}
		inner, _ := m.(map[string]any)
		return inner
	}

	before := within(base, "components", "schemas")
	for name, schema := range within(document, "components", "schemas") {
		if before[name] == nil {
			say(schema)
			continue
		}
		for property, of := range within(schema, "properties") {
			if within(before[name], "properties")[property] == nil {
				say(of)
			}
		}
	}
	for path, item := range within(document, "paths") {
		for method, operation := range within(item) {
			if within(base, "paths", path)[method] == nil {
				say(operation)
			}
		}
	}
}

// parse reads a file of YAML.
func parse(files fs.FS, file string) (*yaml.Node, error) {
	text, err := fs.ReadFile(files, file)
	if err != nil {
		return nil, err
	}
	var whole yaml.Node
	if err := yaml.Unmarshal(text, &whole); err != nil {
		return nil, fmt.Errorf("spec/%s: %w", file, err)
	}
	return whole.Content[0], nil
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

	Editions []string `yaml:"editions,omitempty"` // of the contract that it is of; empty: all
}

// In reports whether the rule is one of the edition.
func (r Rule) In(edition string) bool {
	return len(r.Editions) == 0 || slices.Contains(r.Editions, edition)
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
