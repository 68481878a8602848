package main

import (
	"errors"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/spec/overlay"
)

// checkOverlay checks that each action of an overlay changes something: what it names is in one of the documents.
func (d *document) checkOverlay(documents []*document) error {
	actions, err := overlay.Actions(d.root)
	if err != nil {
		return d.faulty(err)
	}

	for _, a := range actions {
		if err := d.checkTarget(a, documents); err != nil {
			return err
		}
		if err := d.checkRequired(a, documents); err != nil {
			return err
		}
	}

	return nil
}

// faulty names file and line of what is wrong with an overlay.
func (d *document) faulty(err error) error {
	if of, ok := errors.AsType[*overlay.Error](err); ok {
		return d.failf(of.Node, of.Place, "%s", of.What)
	}
	return err
}

// checkTarget checks that each name of a target is in one of the documents, and leads to the rest of it.
func (d *document) checkTarget(a overlay.Action, documents []*document) error {
	has := func(steps [][]string) bool {
		return slices.ContainsFunc(documents, func(doc *document) bool { return len(overlay.Selected(doc.root, steps)) > 0 })
	}
	for at, names := range a.Steps {
		for _, name := range names {
			narrow := slices.Clone(a.Steps)
			narrow[at] = []string{name}
			if !has(narrow[:at+1]) {
				return d.failf(a.Target, a.Place, "target %s: no document has %q there", a.Target.Value, name)
			}
		}
	}

	for at, names := range a.Steps {
		for _, name := range names {
			narrow := slices.Clone(a.Steps)
			narrow[at] = []string{name}
			if !has(narrow) {
				return d.failf(a.Target, a.Place, "target %s: no document has the rest below %q", a.Target.Value, name)
			}
		}
	}

	return nil
}

// checkRequired checks that what an action makes required is a property of all that it is for.
func (d *document) checkRequired(a overlay.Action, documents []*document) error {
	required := get(a.Update, "required")
	if required == nil {
		return nil
	}

	for _, doc := range documents {
		for _, schema := range overlay.Selected(doc.root, a.Steps) {
			for _, name := range required.Content {
				if get(schema, "properties", name.Value) == nil && get(a.Update, "properties", name.Value) == nil {
					return d.failf(name, a.Place, "keyword \"required\": %q is no property in %s:%d", name.Value, doc.file, schema.Line)
				}
			}
		}
	}

	return nil
}

// nodes adds a node and all below it to the set.
func nodes(n *yaml.Node, all map[*yaml.Node]bool) map[*yaml.Node]bool {
	all[n] = true
	for _, c := range n.Content {
		nodes(c, all)
	}
	return all
}
