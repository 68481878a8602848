// Package overlay applies overlays, as the Overlay Specification 1.0 has them, to documents. Of the paths by which an action names
// its target it knows those with plain names ($.a['b','c'].d); any other is refused. The program applies them when a document is
// asked for, so that it carries no library for it.
package overlay

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Action is one change that an overlay makes.
type Action struct {
	Place  string // for people
	Target *yaml.Node
	Steps  [][]string // to the target: for each step, the names that will do
	Update *yaml.Node // is merged into the target; nil: the action removes
}

// Error is what is wrong with an overlay, at a node of it.
type Error struct {
	Node  *yaml.Node
	Place string // the action
	What  string
}

// Error names the place and what is wrong there.
func (e *Error) Error() string { return e.Place + ": " + e.What }

// Actions reads the actions of an overlay, each of which must be one that Apply can make. The error is an *Error.
func Actions(overlay *yaml.Node) (actions []Action, err error) {
	for i, n := range content(Get(overlay, "actions")) {
		n, place := deref(n), fmt.Sprintf("action %d", i+1)
		fail := func(n *yaml.Node, format string, args ...any) error {
			return &Error{n, place, fmt.Sprintf(format, args...)}
		}
		for _, m := range Members(n) {
			if !slices.Contains([]string{"target", "description", "update", "remove"}, m.Key.Value) {
				return nil, fail(m.Key, "unknown member %q", m.Key.Value)
			}
		}

		target, update, remove := Get(n, "target"), Get(n, "update"), Get(n, "remove")
		if target == nil || (update == nil) == (remove == nil) {
			return nil, fail(n, "it needs a target, and one of update and remove")
		}
		steps, ok := steps(target.Value)
		if !ok {
			return nil, fail(target, "target %s: only $, .name and ['name', 'name'] are handled", target.Value)
		}
		if update == nil && (!isTrue(remove) || len(steps) == 0) {
			return nil, fail(remove, "remove: it must be true, and of a part of the document")
		}

		actions = append(actions, Action{place, target, steps, update})
	}

	return actions, nil
}

// isTrue reports whether the node is the boolean, which YAML spells in three ways.
func isTrue(n *yaml.Node) bool { return n.Tag == "!!bool" && strings.EqualFold(n.Value, "true") }

// steps reads the path to a target.
func steps(target string) (steps [][]string, ok bool) {
	rest, ok := strings.CutPrefix(target, "$")
	for ok && rest != "" {
		var names []string
		if list, bracket := strings.CutPrefix(rest, "['"); bracket {
			list, rest, ok = strings.Cut(list, "']")
			for name := range strings.SplitSeq(list, ",") {
				name = strings.Trim(strings.TrimSpace(name), "'")
				ok = ok && name != "" && !strings.Contains(name, "'")
				names = append(names, name)
			}
		} else {
			rest, ok = strings.CutPrefix(rest, ".")
			end := strings.IndexAny(rest+".", ".[")
			names, rest = []string{rest[:end]}, rest[end:]
			ok = ok && names[0] != "" && !strings.ContainsAny(names[0], "*?()@'\"")
		}

		steps = append(steps, names)
	}

	return steps, ok
}

// Apply makes the actions of an overlay in a document, which must be Plain. An action whose target is not there changes nothing, as
// the specification has it. Of an update, members of objects are merged, lists are appended to, and anything else is replaced. The
// error is an *Error.
func Apply(document, overlay *yaml.Node) error {
	actions, err := Actions(overlay)
	if err != nil {
		return err
	}

	for _, a := range actions {
		a.Apply(document)
	}
	return nil
}

// Apply makes one action.
func (a Action) Apply(document *yaml.Node) {
	if a.Update != nil {
		for _, n := range Selected(document, a.Steps) {
			merge(n, a.Update)
		}
		return
	}

	last := len(a.Steps) - 1
	for _, n := range Selected(document, a.Steps[:last]) {
		remove(n, a.Steps[last])
	}
}

// Selected gives the nodes of a document that the steps lead to.
func Selected(n *yaml.Node, steps [][]string) (found []*yaml.Node) {
	if len(steps) == 0 {
		return []*yaml.Node{n}
	}
	for _, name := range steps[0] {
		if next := Get(n, name); next != nil {
			found = append(found, Selected(next, steps[1:])...)
		}
	}
	return found
}

// merge merges an update into a node.
func merge(into, update *yaml.Node) {
	update = deref(update)
	switch {
	case into.Kind == yaml.MappingNode && update.Kind == yaml.MappingNode:
		for _, m := range Members(update) {
			at := slices.IndexFunc(Members(into), func(have Member) bool { return have.Key.Value == m.Key.Value })
			if at < 0 {
				into.Content = append(into.Content, Plain(m.Key), Plain(m.Value))
			} else if have := into.Content[2*at+1]; have.Kind == yaml.ScalarNode {
				into.Content[2*at+1] = Plain(m.Value)
			} else {
				merge(have, m.Value)
			}
		}
	case into.Kind == yaml.SequenceNode && update.Kind == yaml.SequenceNode:
		for _, item := range update.Content {
			into.Content = append(into.Content, Plain(item))
		}
	case into.Kind == yaml.SequenceNode:
		into.Content = append(into.Content, Plain(update))
	default:
		*into = *Plain(update)
	}
}

// remove removes members of a mapping.
func remove(n *yaml.Node, names []string) {
	var kept []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !slices.Contains(names, n.Content[i].Value) {
			kept = append(kept, n.Content[i], n.Content[i+1])
		}
	}
	n.Content = kept
}

// Plain copies a node without anchors, aliases and merged members: what stands in two places is there twice. A copy keeps its line.
func Plain(n *yaml.Node) *yaml.Node {
	n = deref(n)
	if n == nil {
		return nil
	}
	plain := *n
	plain.Anchor, plain.Content = "", nil
	if n.Kind == yaml.MappingNode {
		for _, m := range Members(n) {
			plain.Content = append(plain.Content, Plain(m.Key), Plain(m.Value))
		}
		return &plain
	}
	for _, item := range n.Content {
		plain.Content = append(plain.Content, Plain(item))
	}
	return &plain
}

// Member is one entry of a mapping, with merged ones resolved.
type Member struct{ Key, Value *yaml.Node }

// Members gives a mapping's entries in the order of the file; those merged in with << come last, unless overridden.
func Members(n *yaml.Node) []Member { return membersOf(n, nil) }

// membersOf gives those of a mapping within others that merge it: one that merges itself adds nothing.
func membersOf(n *yaml.Node, within []*yaml.Node) []Member {
	n = deref(n)
	if n == nil || n.Kind != yaml.MappingNode || slices.Contains(within, n) {
		return nil
	}

	var own, merged []Member
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			merged = append(merged, membersOf(n.Content[i+1], append(within, n))...)
			continue
		}
		own = append(own, Member{n.Content[i], n.Content[i+1]})
	}

	for _, m := range merged {
		if !slices.ContainsFunc(own, func(o Member) bool { return o.Key.Value == m.Key.Value }) {
			own = append(own, m)
		}
	}

	return own
}

// Get gives the value at the path of keys, or nil.
func Get(n *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		var found *yaml.Node
		for _, m := range Members(n) {
			if m.Key.Value == key {
				found = deref(m.Value)
			}
		}
		if n = found; n == nil {
			return nil
		}
	}
	return n
}

func deref(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func content(n *yaml.Node) []*yaml.Node {
	if n == nil {
		return nil
	}
	return n.Content
}
