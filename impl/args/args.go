// Package args reads what a pod, an endpoint or a template has as args: words as on a command line, or JSON that names them and
// the entrypoint, {"cmd": ["a", "b"], "entrypoint": ["c"]}.
package args

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/kballard/go-shellquote" // the quoting rules of the shell, and nothing else of it
)

// Command is what a container is to run.
type Command struct {
	Entrypoint []string // nil: the image's own; empty but not nil: none
	Words      []string // the entrypoint's arguments; empty: the image's own, unless there is an Entrypoint here
}

// Format writes args that Parse reads as the command. Without an Entrypoint they are words as on a command line.
func Format(c Command) string {
	if c.Entrypoint == nil {
		return shellquote.Join(c.Words...)
	}
	members := map[string][]string{"entrypoint": c.Entrypoint}
	if len(c.Words) > 0 {
		members["cmd"] = c.Words
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(members) // texts, into memory
	return strings.TrimSuffix(b.String(), "\n")
}

// errJSON reports what form JSON must have.
var errJSON = errors.New(`args: JSON must be {"cmd": [...], "entrypoint": [...]} with lists of texts, or one of the two`)

// Parse reads args. An object of JSON with a member cmd or entrypoint is the one form. Anything else is split as a POSIX shell
// splits a command line: at white space, except inside single or double quotes or after a backslash. Nothing is expanded: no
// shell sees them. It fails if a quote is not closed, and if such an object has another member or no list of texts.
func Parse(text string) (Command, error) {
	if members := object(text); members["cmd"] != nil || members["entrypoint"] != nil {
		return parseObject(members)
	}
	words, err := shellquote.Split(text)
	if err != nil {
		return Command{}, fmt.Errorf("args: %w", err)
	}
	return Command{Words: words}, nil
}

// object gives the members of a JSON object; none of anything else.
func object(text string) (members map[string]json.RawMessage) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") || json.Unmarshal([]byte(text), &members) != nil {
		return nil
	}
	return members
}

func parseObject(members map[string]json.RawMessage) (c Command, err error) {
	for name, value := range members {
		var list []*string
		if json.Unmarshal(value, &list) != nil || list == nil {
			return Command{}, errJSON
		}

		words := []string{}
		for _, word := range list {
			if word == nil {
				return Command{}, errJSON
			}
			words = append(words, *word)
		}

		switch name {
		case "cmd":
			c.Words = words
		case "entrypoint":
			c.Entrypoint = words
		default:
			return Command{}, errJSON
		}
	}

	return c, nil
}
