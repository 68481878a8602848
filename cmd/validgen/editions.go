package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/spec/overlay"
)

// edition is one edition of a document: the document itself, or what an overlay makes of it.
type edition struct {
	*document
	name   string
	alias  string // another name for it; "": none
	suffix string // of the Go names of what only it has
}

// ofOverlays are the members of an overlay, and whether each must be there in one that makes an edition.
var ofOverlays = map[string]bool{"overlay": true, "info": true, "extends": true, "actions": true, "x-alias": false}

// loadEditions reads a document and makes its editions, the document itself first. An overlay in the directory is for the document
// that its extends names; an edition that has none for this document has it as it is.
func loadEditions(spec, dir string) ([]edition, error) {
	base, err := load(spec)
	if err != nil {
		return nil, err
	}
	editions := []edition{{document: base, name: text(get(base.root, "info", "version"))}}

	overlays, err := readOverlays(dir)
	if err != nil {
		return nil, err
	}
	for _, o := range overlays {
		e := edition{document: base, name: text(get(o.root, "info", "version")), alias: text(get(o.root, "x-alias"))}
		e.suffix = goName(e.name)
		if o.extends(spec) {
			if e.document, err = base.edited(o); err != nil {
				return nil, err
			}
		}

		at := slices.IndexFunc(editions, func(other edition) bool { return other.name == e.name })
		switch {
		case at == 0 && e.document != base:
			return nil, o.failf(get(o.root, "info"), "#/info", "the version %q is that of %s itself", e.name, spec)
		case at < 0 && e.suffix == "":
			return nil, o.failf(get(o.root, "info"), "#/info", "the version %q has no letter and no digit, of which Go names are made", e.name)
		case at < 0 && slices.ContainsFunc(editions[1:], func(other edition) bool { return other.suffix == e.suffix }):
			return nil, o.failf(get(o.root, "info"), "#/info", "the version %q makes the Go name %s, and so does another one", e.name, e.suffix)
		case at < 0:
			editions = append(editions, e)
		case e.document != base && editions[at].document != base:
			return nil, o.failf(get(o.root, "extends"), "#", "%s makes the edition of this document already", editions[at].overlay)
		case e.document != base:
			editions[at].document = e.document
		}
		if at >= 0 {
			editions[at].alias = cmp.Or(editions[at].alias, e.alias)
		}
	}

	if err := checkAliases(editions, overlays); err != nil {
		return nil, err
	}
	return editions, nil
}

// checkAliases checks that each edition has one other name at most, and that a name leads to one edition.
func checkAliases(editions []edition, overlays []*document) error {
	for _, o := range overlays {
		name, given := text(get(o.root, "info", "version")), get(o.root, "x-alias")
		alias := text(given)
		for _, e := range editions {
			switch {
			case alias == "":
			case e.name == name && e.alias != alias:
				return o.failf(given, "#/x-alias", "the edition %s has the other name %q already", name, e.alias)
			case e.name != name && (e.name == alias || e.alias == alias):
				return o.failf(given, "#/x-alias", "%q is a name of the edition %s", alias, e.name)
			}
		}
	}
	return nil
}

// readOverlays reads the overlays in the directory of the editions; empty: there are none.
func readOverlays(dir string) (overlays []*document, err error) {
	if dir == "" {
		return nil, nil
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("the directory of the editions: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.overlay.yaml"))
	for _, file := range files {
		o, err := readDocument(file)
		if err != nil {
			return nil, err
		}
		if err := o.checkEdition(); err != nil {
			return nil, err
		}
		overlays = append(overlays, o)
	}
	return overlays, err
}

// checkEditions checks that each overlay in the directory is for one of the documents, and one that is generated with editions: of another
// overlay nothing would be made.
func checkEditions(dir string, documents []*document, same []string) error {
	overlays, err := readOverlays(dir)
	for _, o := range overlays {
		extends := get(o.root, "extends")
		switch {
		case slices.ContainsFunc(same, o.extends):
			return o.failf(extends, "#", "extends %s: it is generated without editions", extends.Value)
		case !slices.ContainsFunc(documents, func(d *document) bool { return o.extends(d.file) }):
			return o.failf(extends, "#", "extends %s: there is no such document", extends.Value)
		}
	}
	return err
}

// readDocument reads any YAML file.
func readDocument(file string) (*document, error) {
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return nil, err
	}
	return parseDocument(file, text)
}

// checkEdition checks what an overlay says of the edition that it makes.
func (d *document) checkEdition() error {
	for _, m := range members(d.root) {
		if _, known := ofOverlays[m.key.Value]; !known {
			return d.failf(m.key, "#", "unknown member %q", m.key.Value)
		}
	}
	for _, name := range []string{"overlay", "info", "extends", "actions"} {
		if get(d.root, name) == nil {
			return d.failf(d.root, "#", "%q is missing", name)
		}
	}

	version := get(d.root, "info", "version")
	if name := text(version); name == "" || !strings.HasPrefix(filepath.Base(d.file), name+".") {
		return d.failf(d.root, "#/info", "the version is the name of the edition, with which the name of the file must begin: %q", name)
	}
	return nil
}

// extends reports whether the overlay is for the document.
func (d *document) extends(spec string) bool {
	return filepath.Join(filepath.Dir(d.file), text(get(d.root, "extends"))) == filepath.Clean(spec)
}

// edited gives the document as an overlay makes it. Each action must find something, once those before it are made.
func (d *document) edited(o *document) (*document, error) {
	e := &document{file: d.file, overlay: o.file, root: overlay.Plain(d.root)}
	e.own = nodes(e.root, map[*yaml.Node]bool{})
	actions, err := overlay.Actions(o.root)
	if err != nil {
		return nil, o.faulty(err)
	}

	for _, a := range actions {
		if err := o.checkTarget(a, []*document{e}); err != nil {
			return nil, err
		}
		if err := o.checkRequired(a, []*document{e}); err != nil {
			return nil, err
		}
		a.Apply(e.root)
	}

	whole, err := yaml.Marshal(e.root)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.file, err)
	}
	return e, e.check(whole)
}

// goName makes a part of a Go name of the name of an edition.
func goName(name string) string {
	var b strings.Builder
	upper := true
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			upper = true
			continue
		case upper:
			r = unicode.ToUpper(r)
		}
		upper = false
		b.WriteRune(r)
	}
	return b.String()
}

// classes records in which editions a schema, a parameter or an operation is the same, with all that it refers to: what is the same is
// generated once.
type classes struct {
	editions []edition
	closures map[string]string
}

// of gives the first edition in which the thing at the path is as it is in the edition.
func (c *classes) of(edition int, path ...string) int {
	want := c.closure(edition, path)
	for i := range edition {
		if c.closure(i, path) == want {
			return i
		}
	}
	return edition
}

// closure writes out the thing and all that it refers to, without what only people read; "" where the edition does not have it.
func (c *classes) closure(edition int, path []string) string {
	key := fmt.Sprint(edition, path)
	if text, known := c.closures[key]; known {
		return text
	}
	d := c.editions[edition].document
	var b strings.Builder
	if n := get(d.root, path...); n != nil {
		seen := map[string]bool{}
		pending := []string{canonical(n, path[len(path)-2] == "schemas")}
		for len(pending) > 0 {
			text := pending[0]
			pending = pending[1:]
			b.WriteString(text + "\n")
			for _, line := range strings.Split(text, "\n") {
				ref, isRef := strings.CutPrefix(line, "$ref ")
				if isRef && !seen[ref] {
					seen[ref] = true
					target, _ := d.resolve(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "$ref"}, {Kind: yaml.ScalarNode, Value: ref}}})
					pending = append(pending, "= "+ref+"\n"+canonical(target, strings.Contains(ref, "/schemas/")))
				}
			}
		}
	}

	c.closures[key] = b.String()
	return b.String()
}

// prose are the members of the objects of a document that nothing is generated of.
var prose = []string{"summary", "description", "tags", "deprecated", "example", "examples", "externalDocs", "responses"}

// canonical writes out a node, without what nothing is generated of. A reference is on a line of its own.
func canonical(n *yaml.Node, schema bool) string {
	n = deref(n)
	if n == nil {
		return ""
	}

	var b strings.Builder
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteString("{")
		for _, m := range members(n) {
			key := m.key.Value
			switch {
			case schema && slices.Contains(annotations, key), !schema && slices.Contains(prose, key):
			case key == "$ref":
				b.WriteString("\n$ref " + text(deref(m.value)) + "\n")
			case schema && slices.Contains(schemaMaps, key):
				b.WriteString(key + ":{")
				for _, p := range members(m.value) {
					b.WriteString(p.key.Value + ":" + canonical(p.value, true) + ",")
				}
				b.WriteString("},")
			case schema && slices.Contains(schemaLists, key):
				b.WriteString(key + ":[")
				for _, s := range deref(m.value).Content {
					b.WriteString(canonical(s, true) + ",")
				}
				b.WriteString("],")
			default:
				b.WriteString(key + ":" + canonical(m.value, slices.Contains(schemaHolders, key)) + ",")
			}
		}
		b.WriteString("}")
	case yaml.SequenceNode:
		b.WriteString("[")
		for _, item := range n.Content {
			b.WriteString(canonical(item, false) + ",")
		}
		b.WriteString("]")
	default:
		fmt.Fprintf(&b, "%s %q", n.Tag, n.Value)
	}

	return b.String()
}

// others gives, by name, the editions that have members of the mapping at the path that this one does not have, for the generated code.
func (c *classes) others(edition int, path ...string) string {
	here := get(c.editions[edition].root, path...)
	var names []string
	in := map[string][]string{}
	for _, e := range c.editions {
		for _, m := range members(get(e.root, path...)) {
			if name := m.key.Value; get(here, name) == nil {
				if in[name] == nil {
					names = append(names, name)
				}
				in[name] = append(in[name], e.name)
			}
		}
	}
	return othersOf(names, in)
}

// otherValues gives, by value, the editions whose enum has values that this one's does not have, for the generated code: that of the same
// component, or of what stands at the same place; of a parameter, that of the one with its name.
func (c *classes) otherValues(edition int, schema *yaml.Node, place string, here []string) string {
	path := strings.Split(strings.TrimPrefix(place, "#/"), "/")
	for i, name := range path {
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	}
	for _, m := range members(get(c.editions[edition].root, "components", "schemas")) {
		if deref(m.value) == deref(schema) {
			path = []string{"components", "schemas", m.key.Value}
		}
	}

	var values []string
	in := map[string][]string{}
	for i, e := range c.editions {
		if i == edition {
			continue
		}
		enum := get(c.counterpart(edition, i, path), "enum")
		if enum == nil {
			continue
		}
		for _, c := range enum.Content {
			value := text(deref(c))
			if deref(c).Tag == "!!null" || slices.Contains(here, value) {
				continue
			}
			if in[value] == nil {
				values = append(values, value)
			}
			in[value] = append(in[value], e.name)
		}
	}
	return strings.TrimSuffix(strings.ReplaceAll(othersOf(values, in), "\n", " "), ", ")
}

// counterpart gives what another edition has for the schema at the path, which may be that of a parameter, with the values of its items if it is
// a list: the operations of the other edition may have that elsewhere among theirs. nil: it has none.
func (c *classes) counterpart(edition, other int, path []string) *yaml.Node {
	here, there := c.editions[edition], c.editions[other]
	var found *yaml.Node
	switch {
	case len(path) == 3 && path[0] == "components" && path[1] == "parameters":
		found = get(there.root, path...)
	case len(path) == 5 && path[0] == "paths" && path[3] == "parameters":
		i, err := strconv.Atoi(path[4])
		all := here.parametersOf(get(here.root, path[:2]...), get(here.root, path[:3]...))
		if err != nil || i >= len(all) {
			return nil
		}
		for _, p := range there.parametersOf(get(there.root, path[:2]...), get(there.root, path[:3]...)) {
			if p.same(all[i]) {
				found = p.Node
			}
		}
	default:
		return get(there.root, path...)
	}

	schema, _ := there.resolve(get(found, "schema"))
	if items := get(schema, "items"); items != nil {
		schema, _ = there.resolve(items)
	}
	return schema
}

// othersOf writes which editions have each of the names.
func othersOf(names []string, in map[string][]string) string {
	slices.Sort(names)
	code := ""
	for _, name := range names {
		code += fmt.Sprintf("%q: {%s},\n", name, quoted(in[name]))
	}
	return code
}
