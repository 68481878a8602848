package main

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// checkOverlay checks that each action of an overlay changes something: what it names is in one of the documents.
func (d *document) checkOverlay(documents []*document) error {
	for i, action := range get(d.root, "actions").Content {
		place := fmt.Sprintf("action %d", i+1)
		for _, m := range members(action) {
			if !slices.Contains([]string{"target", "description", "update", "remove"}, m.key.Value) {
				return d.failf(m.key, place, "unknown member %q", m.key.Value)
			}
		}

		target := get(action, "target")
		if target == nil || (get(action, "update") == nil) == (get(action, "remove") == nil) {
			return d.failf(action, place, "it needs a target, and one of update and remove")
		}
		steps, ok := targetSteps(target.Value)
		if !ok {
			return d.failf(target, place, "target %s: only $, .name and ['name', 'name'] are handled", target.Value)
		}
		if err := d.checkTarget(target, place, steps, documents); err != nil {
			return err
		}
		if err := d.checkRequired(action, place, steps, documents); err != nil {
			return err
		}
	}

	return nil
}

// checkTarget checks that each name of a target is in one of the documents, and leads to the rest of it.
func (d *document) checkTarget(target *yaml.Node, place string, steps [][]string, documents []*document) error {
	has := func(steps [][]string) bool {
		return slices.ContainsFunc(documents, func(doc *document) bool { return len(selected(doc.root, steps)) > 0 })
	}
	for at, names := range steps {
		for _, name := range names {
			narrow := slices.Clone(steps)
			narrow[at] = []string{name}
			if !has(narrow[:at+1]) {
				return d.failf(target, place, "target %s: no document has %q there", target.Value, name)
			}
		}
	}

	for at, names := range steps {
		for _, name := range names {
			narrow := slices.Clone(steps)
			narrow[at] = []string{name}
			if !has(narrow) {
				return d.failf(target, place, "target %s: no document has the rest below %q", target.Value, name)
			}
		}
	}

	return nil
}

// checkRequired checks that what an action makes required is a property of all that it is for.
func (d *document) checkRequired(action *yaml.Node, place string, steps [][]string, documents []*document) error {
	required := get(action, "update", "required")
	if required == nil {
		return nil
	}

	for _, doc := range documents {
		for _, schema := range selected(doc.root, steps) {
			for _, name := range required.Content {
				if get(schema, "properties", name.Value) == nil {
					return d.failf(name, place, "keyword \"required\": %q is no property in %s:%d", name.Value, doc.file, schema.Line)
				}
			}
		}
	}

	return nil
}

// targetSteps reads the target of an action: for each step, the names that will do. It knows as much of JSONPath as our overlays use.
func targetSteps(target string) (steps [][]string, ok bool) {
	rest, ok := strings.CutPrefix(target, "$")
	for ok && rest != "" {
		var names []string
		if list, bracket := strings.CutPrefix(rest, "["); bracket {
			list, rest, ok = strings.Cut(list, "]")
			for name := range strings.SplitSeq(list, ",") {
				name = strings.TrimSpace(name)
				inner := strings.Trim(name, "'")
				ok = ok && inner != "" && name == "'"+inner+"'"
				names = append(names, inner)
			}
		} else {
			rest, ok = strings.CutPrefix(rest, ".")
			end := strings.IndexAny(rest+".", ".[")
			names, rest = []string{rest[:end]}, rest[end:]
			ok = ok && names[0] != "" && !strings.ContainsAny(names[0], "*?()@")
		}

		steps = append(steps, names)
	}

	return steps, ok && len(steps) > 0
}

// selected gives the nodes that the steps lead to.
func selected(n *yaml.Node, steps [][]string) (found []*yaml.Node) {
	if len(steps) == 0 {
		return []*yaml.Node{n}
	}
	for _, name := range steps[0] {
		if next := get(n, name); next != nil {
			found = append(found, selected(next, steps[1:])...)
		}
	}
	return found
}
