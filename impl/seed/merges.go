package seed

import "go.yaml.in/yaml/v3"

const mergeTag = "!!merge"

// merges gives mappings of a file with what they merge. Each is put together once: one that merges another ten times, which merges a third
// ten times, and so on, would take a life.
type merges struct {
	known map[*yaml.Node][]*yaml.Node
	nodes int // that are in known
	depth int // of the mapping that is being put together
}

// tooMany reports whether the mappings have more in them than a file may, or merge each other too deep. Those that were asked for since
// lack what they merge.
func (m *merges) tooMany() bool { return m.nodes > mostNodes }

// pairs gives the names and values of a mapping: its own, and then those of the mappings that it merges, where they have none before.
func (m *merges) pairs(n *yaml.Node) (all []*yaml.Node) {
	if done, is := m.known[n]; is {
		return done
	}
	m.known[n] = nil // of one that merges itself

	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].ShortTag() != mergeTag {
			all = append(all, n.Content[i], n.Content[i+1])
			continue
		}
		value := resolved(n.Content[i+1])
		if value.Kind == yaml.SequenceNode {
			merged = append(merged, value.Content...)
		} else {
			merged = append(merged, value)
		}
	}

	if len(merged) > 0 {
		if m.depth++; m.depth > mostDepth {
			m.nodes = mostNodes + 1
		}
		all = m.merge(all, merged)
		m.depth--
		m.nodes += len(all)
	}
	m.known[n] = all
	return all
}

// merge adds what the mappings have and all has not.
func (m *merges) merge(all, mappings []*yaml.Node) []*yaml.Node {
	known := map[string]bool{}
	for i := 0; i < len(all); i += 2 {
		known[all[i].Value] = true
	}
	for _, from := range mappings {
		if from = resolved(from); from.Kind != yaml.MappingNode || m.tooMany() {
			continue
		}
		more := m.pairs(from)
		for i := 0; i < len(more); i += 2 {
			if name := more[i].Value; !known[name] {
				known[name] = true
				all = append(all, more[i], more[i+1])
			}
		}
	}
	return all
}
