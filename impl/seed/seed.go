// Package seed reads what a server is to have from the start: users, keys, pods, endpoints and the like, in files of YAML whose items are the bodies
// of the operations that create them, by the generated validators. It writes nothing.
//
// The YAML is read by go.yaml.in/yaml, which tells the line of everything.
package seed

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/berthdev/berth/impl/compute"
)

// Seed is what was read: items without a fault in their form, in the order in which they are to be created, whatever that of the files is.
type Seed struct {
	Items  []Item
	Digest string // of all that the files say
}

// Item is one thing that there is to be.
type Item struct {
	List  string         // that it stands in, such as pods
	ID    string         // that it gets; of one that says none, one that follows from its name
	Named bool           // it says its id, or its token does
	User  compute.UserID // whose it is; empty: the owner's
	Token string         // of a key
	Off   bool           // a pod that is to be stopped, or a user that is to be disabled
	Body  any            // the model of the operation that creates it, as a pointer
	At    Place

	text []byte // the body, JSON
}

// Place is where something stands.
type Place struct {
	File    string
	Line    int    // from 1
	Column  int    // likewise
	Pointer string // JSON Pointer; empty: the whole file
}

// Problem is something that is wrong.
type Problem struct {
	Place
	Message string
}

func (p Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	where := fmt.Sprintf("%s:%d:%d: ", p.File, p.Line, p.Column)
	if p.Pointer != "" {
		where += p.Pointer + ": "
	}
	return where + p.Message
}

// Problems are all that is wrong, in the order of the files, and at most mostProblems of them.
type Problems []Problem

func (all Problems) Error() string {
	lines := make([]string, len(all))
	for i, p := range all {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// mostProblems is how many problems are told.
const mostProblems = 100

// Read reads a file, or all files of a directory that end in .yaml, .yml or .json, in the order of their names. The error is a Problems if
// there is anything wrong with what they say.
func Read(path string) (*Seed, error) {
	files, err := filesAt(path)
	if err != nil {
		return nil, err
	}
	r := reader{ids: map[string]Place{}, names: map[string]int{}, byList: map[string][]Item{}}
	hash := sha256.New()
	for _, f := range files {
		r.readFile(f.name, f.text)
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}

	s := &Seed{}
	for _, l := range lists {
		s.Items = append(s.Items, r.byList[l.name]...)
	}
	for _, i := range s.Items {
		text, err := json.Marshal([]any{i.List, i.ID, i.User, i.Token, i.Off, i.text})
		if err != nil {
			return nil, err
		}
		_, _ = hash.Write(text) // a hash never fails
	}
	s.Digest = hex.EncodeToString(hash.Sum(nil))
	return s, nil
}
