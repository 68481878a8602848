package seed

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// converter makes JSON of YAML, and keeps where everything stands.
type converter struct {
	text   bytes.Buffer
	places map[string]*yaml.Node // of the members, their names, and of the items of arrays, by JSON Pointer
	nodes  int                   // that were seen of the file
	fault  func(n *yaml.Node, pointer, message string)
	merges *merges
}

// write writes a node. What has no JSON is a fault, and null.
func (c *converter) write(n *yaml.Node, pointer string, depth int) {
	if c.nodes++; c.nodes > mostNodes || depth > mostDepth {
		if c.nodes <= mostNodes+1 || depth > mostDepth {
			c.fault(n, pointer, "is too much: a file has at most "+strconv.Itoa(mostNodes)+" values, with what its aliases stand for, "+strconv.Itoa(mostDepth)+" deep")
			c.nodes++
		}
		c.text.WriteString("null")
		return
	}

	switch n.Kind {
	case yaml.AliasNode:
		c.write(n.Alias, pointer, depth+1)
	case yaml.SequenceNode:
		c.text.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				c.text.WriteByte(',')
			}
			at := pointer + "/" + strconv.Itoa(i)
			c.places[at] = item
			c.write(item, at, depth+1)
		}
		c.text.WriteByte(']')
	case yaml.MappingNode:
		c.text.WriteByte('{')
		c.members(n, pointer, depth)
		c.text.WriteByte('}')
	case yaml.ScalarNode:
		c.scalar(n, pointer)
	default:
		c.text.WriteString("null")
	}
}

// members writes the members of a mapping.
func (c *converter) members(n *yaml.Node, pointer string, depth int) {
	written := false
	all := c.merges.pairs(n)
	for i := 0; i+1 < len(all); i += 2 {
		name := resolved(all[i])
		if name.Kind != yaml.ScalarNode {
			c.fault(name, pointer, "has a member whose name is no text")
			continue
		}
		if written {
			c.text.WriteByte(',')
		}
		written = true
		c.member(name, all[i+1], pointer, depth)
	}
}

// resolved gives what an alias stands for.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// member writes a member. One that is there twice stays so: the validators say it.
func (c *converter) member(name, value *yaml.Node, pointer string, depth int) {
	c.string(name.Value)
	c.text.WriteByte(':')
	at := pointer + "/" + escape(name.Value)
	c.places[at] = name
	c.write(value, at, depth+1)
}

// escape writes a name as a part of a JSON Pointer.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

func (c *converter) scalar(n *yaml.Node, pointer string) {
	switch n.ShortTag() {
	case "!!null":
		c.text.WriteString("null")
	case "!!bool":
		c.text.WriteString(strings.ToLower(n.Value))
	case "!!int", "!!float":
		c.number(n, pointer)
	default: // times of day and what is in base64 too: they are text in JSON
		c.string(n.Value)
	}
}

// number writes a number as it stands, if JSON writes it so, and else its value.
func (c *converter) number(n *yaml.Node, pointer string) {
	if json.Valid([]byte(n.Value)) {
		c.text.WriteString(n.Value)
		return
	}
	var v any
	err := n.Decode(&v)
	var text []byte
	if err == nil {
		text, err = json.Marshal(v)
	}
	if err != nil {
		c.fault(n, pointer, "is a number that JSON has not")
		text = []byte("null")
	}
	c.text.Write(text)
}

func (c *converter) string(s string) {
	text, _ := json.Marshal(s) // a text always has JSON
	c.text.Write(text)
}
