package site

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	mermaid  = regexp.MustCompile("(?ms)^```mermaid\n(.*?)^```\n")
	arrow    = regexp.MustCompile(`^(\S+?)\s*(?:-->>|->>|-\)|-->)\s*([^\s:]+)(?:\s*:\s*(.*))?$`)
	roomLine = regexp.MustCompile(`^\S+\["([^"]+)"\] --> \S+\["([^"]+)"\]$`)
)

// plainPictures writes the diagrams of a page as tables and lists: what draws them is larger than the whole site, and they are read by ear, too.
func plainPictures(source []byte) []byte {
	return mermaid.ReplaceAllFunc(source, func(block []byte) []byte {
		lines := strings.Split(strings.TrimSpace(string(mermaid.FindSubmatch(block)[1])), "\n")
		for i := range lines {
			lines[i] = strings.ReplaceAll(strings.TrimSpace(lines[i]), "<br>", "; ")
		}
		switch lines[0] {
		case "sequenceDiagram":
			return []byte(sequence(lines[1:]))
		case "stateDiagram-v2":
			return []byte(states(lines[1:]))
		default:
			return []byte(flow(lines[1:]))
		}
	})
}

// sequence is a numbered list of what is sent, and to whom.
func sequence(lines []string) string {
	var out strings.Builder
	names := map[string]string{}
	name := func(id string) string {
		if long := names[id]; long != "" {
			return long
		}
		return id
	}

	for _, line := range lines {
		if of, is := strings.CutPrefix(line, "participant "); is {
			id, long, _ := strings.Cut(of, " as ")
			names[id] = long
			continue
		}
		if of, is := strings.CutPrefix(line, "Note over "); is {
			who, what, _ := strings.Cut(of, ":")
			fmt.Fprintf(&out, "1. **%s**: %s\n", strings.Join(each(strings.Split(who, ","), name), " and "), strings.TrimSpace(what))
			continue
		}
		if found := arrow.FindStringSubmatch(line); found != nil {
			fmt.Fprintf(&out, "1. **%s → %s**: %s\n", name(found[1]), name(found[2]), found[3])
		}
	}
	return out.String()
}

func each(words []string, change func(string) string) (changed []string) {
	for _, word := range words {
		changed = append(changed, change(strings.TrimSpace(word)))
	}
	return changed
}

// states is a table of the moves.
func states(lines []string) string {
	out := "| from | when | to |\n|---|---|---|\n"
	for _, line := range lines {
		if found := arrow.FindStringSubmatch(line); found != nil {
			out += fmt.Sprintf("| %s | %s | %s |\n", state(found[1]), found[3], state(found[2]))
		}
	}
	return out
}

func state(name string) string {
	if name == "[*]" {
		return ""
	}
	return "`" + name + "`"
}

// flow is a table of what leads where, a row for each that something leads from.
func flow(lines []string) string {
	to, order := map[string][]string{}, []string{}
	for _, line := range lines {
		found := roomLine.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		if !slices.Contains(order, found[1]) {
			order = append(order, found[1])
		}
		to[found[1]] = append(to[found[1]], "`"+found[2]+"`")
	}

	out := "| from | to |\n|---|---|\n"
	for _, from := range order {
		out += fmt.Sprintf("| `%s` | %s |\n", from, strings.Join(to[from], ", "))
	}
	return out
}
