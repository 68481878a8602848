package seed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/spelling"
)

// reader reads the files of a seed.
type reader struct {
	file     string
	merges   merges // of the file
	byList   map[string][]Item
	items    int
	ids      map[string]Place // that were seen, after their list
	names    map[string]int   // how many items of the list, the user and the name were seen
	problems Problems
}

// fault notes what is wrong with a node.
func (r *reader) fault(n *yaml.Node, pointer, message string) {
	p := Problem{Place{File: r.file, Pointer: pointer}, message}
	if n != nil {
		p.Line, p.Column = n.Line, n.Column
	}
	if len(r.problems) < mostProblems {
		r.problems = append(r.problems, p)
	}
}

// readFile reads a file, each of its documents.
func (r *reader) readFile(name string, text []byte) {
	r.file, r.merges = name, merges{known: map[*yaml.Node][]*yaml.Node{}}
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var document yaml.Node
		err := d.Decode(&document)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			r.fault(nil, "", "cannot be read: "+err.Error())
			return
		}
		if len(document.Content) > 0 {
			r.readDocument(document.Content[0])
		}
		if r.merges.tooMany() {
			r.fault(nil, "", fmt.Sprintf("is too much: the mappings of a file have at most %d values with what they merge, %d deep", mostNodes, mostDepth))
			return
		}
	}
}

func (r *reader) readDocument(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return // of comments alone
	}
	if n.Kind != yaml.MappingNode {
		r.fault(n, "", "must be an object with lists, such as pods")
		return
	}

	seen := map[string]bool{}
	budget := 0
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		pointer := "/" + escape(name.Value)
		if strings.HasPrefix(name.Value, "x-") { // where anchors are defined
			continue
		}
		at := slices.IndexFunc(lists, func(l list) bool { return l.name == name.Value })
		switch {
		case at < 0:
			r.fault(name, pointer, "is not a known member"+meant(name.Value, Lists()))
		case seen[name.Value]:
			r.fault(name, pointer, "appears twice")
		default:
			budget = r.readList(lists[at], value, pointer, budget)
		}
		seen[name.Value] = true
	}
}

// Lists gives the names of the lists that a seed may have.
func Lists() (names []string) {
	for _, l := range lists {
		names = append(names, l.name)
	}
	return names
}

// meant says which name may have been meant.
func meant(written string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	closest := spelling.Closest(written, names)[0]
	if spelling.Distance(strings.ToLower(written), strings.ToLower(closest)) > max(2, len(written)/2) {
		return "; there are " + strings.Join(slices.Sorted(slices.Values(names)), ", ")
	}
	return fmt.Sprintf("; is %s meant?", closest)
}

// readList reads the items of a list; used and the result are how many nodes of the file were seen.
func (r *reader) readList(l list, n *yaml.Node, pointer string, used int) int {
	n = resolved(n)
	switch {
	case l.single:
		if len(r.byList[l.name]) > 0 {
			r.fault(n, pointer, "is there twice, in "+r.byList[l.name][0].At.File+" too")
			return used
		}
		return r.readItem(l, n, pointer, used)
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		return used
	case n.Kind != yaml.SequenceNode:
		r.fault(n, pointer, "must be an array")
		return used
	}

	for i, item := range n.Content {
		used = r.readItem(l, item, pointer+"/"+strconv.Itoa(i), used)
	}
	return used
}

// readItem reads an item, and has the generated validator check its body.
func (r *reader) readItem(l list, n *yaml.Node, pointer string, used int) int {
	if r.items++; r.items > mostItems {
		if r.items == mostItems+1 {
			r.fault(n, pointer, fmt.Sprintf("is too much: a seed has at most %d items", mostItems))
		}
		return used
	}
	at := n
	n = resolved(n)
	if n.Kind != yaml.MappingNode {
		r.fault(at, pointer, "must be an object")
		return used
	}

	before := len(r.problems)
	item := Item{List: l.name, At: Place{r.file, at.Line, at.Column, pointer}}
	body := r.members(l, n, &item, pointer)
	c := converter{places: map[string]*yaml.Node{"": at}, nodes: used, merges: &r.merges, fault: func(n *yaml.Node, under, message string) {
		r.fault(n, pointer+under, message)
	}}
	c.write(body, "", 0)
	item.text = c.text.Bytes()

	model, violations, err := l.body.Decode(item.text)
	if err != nil {
		r.fault(at, pointer, "has no JSON: "+err.Error())
	}
	item.Body = model
	for _, v := range violations {
		message := v.Message
		if parent, name, unknown := unknownMember(model, v.Where); unknown {
			message += meant(name, l.known(parent, v.Where))
		}
		if v.In != nil {
			message += " of edition " + rest.Editions[0].Name + ", which seeds are of; only " + strings.Join(v.In, " and ") + " has it"
		}
		r.fault(c.at(v.Where), pointer+v.Where, message)
	}

	if len(r.problems) == before {
		r.identify(l, &item, at)
		r.byList[l.name] = append(r.byList[l.name], item)
	}
	return c.nodes
}

// at gives the node of a pointer, or the closest one above it.
func (c *converter) at(pointer string) *yaml.Node {
	for {
		if n, known := c.places[pointer]; known {
			return n
		}
		i := strings.LastIndexByte(pointer, '/')
		if i < 0 {
			return c.places[""]
		}
		pointer = pointer[:i]
	}
}

// members takes what no body has from an item, and gives the rest.
func (r *reader) members(l list, n *yaml.Node, item *Item, pointer string) *yaml.Node {
	rest := *n
	rest.Content = nil
	given := map[string]bool{}
	all := r.merges.pairs(n)
	for i := 0; i+1 < len(all); i += 2 {
		name, value := all[i], resolved(all[i+1])
		if name.Kind != yaml.ScalarNode || !slices.Contains(l.members, name.Value) {
			rest.Content = append(rest.Content, name, value)
			continue
		}

		under := pointer + "/" + name.Value
		switch {
		case given[name.Value]:
			r.fault(name, under, "appears twice")
		case name.Value == memberDisabled && (value.Kind != yaml.ScalarNode || value.ShortTag() != "!!bool"):
			r.fault(name, under, "must be true or false")
		case value.Kind != yaml.ScalarNode || value.ShortTag() == "!!null" || value.Value == "":
			r.fault(name, under, "must be a text")
		default:
			if message := item.take(l, name.Value, value.Value); message != "" {
				r.fault(name, under, message)
			}
		}
		given[name.Value] = true
	}

	if l.key && !given[memberKey] {
		r.fault(n, pointer+"/"+memberKey, "is required: a seed has the token of each key")
	}
	return &rest
}

// take sets a member that no body has. It gives what is wrong with it.
func (i *Item) take(l list, name, value string) string {
	var err error
	switch name {
	case memberID:
		i.ID = value
		if l.key {
			err = compute.CheckKeyID(compute.KeyID(value))
		} else {
			err = compute.CheckID(value)
		}
	case memberUser:
		i.User = compute.UserID(value)
	case memberKey:
		i.Token = value
		err = compute.CheckToken(value)
	case memberDisabled:
		i.Off = strings.EqualFold(value, "true") // a boolean of YAML
	case memberState:
		i.Off = value == "stopped"
		if value != "stopped" && value != "running" {
			return "must be running or stopped"
		}
	}

	if wrong, is := errors.AsType[*compute.Error](err); is {
		return wrong.Detail
	}
	return ""
}

// identify gives the item its id, if it has none, and refuses one that is there already.
func (r *reader) identify(l list, item *Item, at *yaml.Node) {
	if l.name == Users {
		r.identifyUser(item, at)
		return
	}
	if !slices.Contains(l.members, memberID) {
		return
	}
	if l.key {
		if id, made := compute.ParseToken(item.Token); made {
			if item.ID != "" && item.ID != string(id) {
				r.fault(at, item.At.Pointer+"/id", "is not the id that the token has in it")
				return
			}
			item.ID = string(id)
		}
		if item.Token != "" { // or the second key, with other scopes, would not be there
			r.known(l.name+"/token/"+item.Token, item, "/"+memberKey, at)
		}
	}

	if item.Named = item.ID != ""; !item.Named {
		var named struct{ Name string }
		_ = json.Unmarshal(item.text, &named) // the validator has read it
		name := strings.Join([]string{"berth seed", l.name, string(item.User), named.Name}, "\n")
		r.names[name]++
		if n := r.names[name]; n > 1 {
			name += "\n" + strconv.Itoa(n)
		}
		if item.ID = compute.FixedID(name); l.key {
			item.ID = string(compute.FixedKeyID(name))
		}
	}

	r.known(l.name+"/"+item.ID, item, "/id", at)
}

// known refuses an item whose id, or name, another one has.
func (r *reader) known(id string, item *Item, member string, at *yaml.Node) {
	if first, taken := r.ids[id]; taken {
		r.fault(at, item.At.Pointer+member, fmt.Sprintf("is that of %s in line %d of %s, too", first.Pointer, first.Line, first.File))
		return
	}
	r.ids[id] = item.At
}

// identifyUser refuses a user that is there already, and the owner, whose server it is, as anything but an admin.
func (r *reader) identifyUser(item *Item, at *yaml.Node) {
	n := item.Body.(*controls.NewUser)
	if compute.UserID(n.Name) == compute.Owner {
		if n.Role == nil || compute.Role(*n.Role) != compute.RoleAdmin {
			r.fault(at, item.At.Pointer+"/role", "must be admin: "+n.Name+" is the owner of the server")
		}
		if item.Off {
			r.fault(at, item.At.Pointer+"/disabled", "must be false: "+n.Name+" is the owner of the server")
		}
	}
	r.known(Users+"/"+n.Name, item, "/name", at)
}
