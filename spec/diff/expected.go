package diff

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Expected is a difference that is to be, with the reason.
type Expected struct {
	Difference
	Reason   string
	Editions []string // of the contract that have it; empty: all
}

// Of gives those of a list that are of an edition of the contract.
func Of(edition string, list []Expected) (of []Expected) {
	for _, e := range list {
		if len(e.Editions) == 0 || slices.Contains(e.Editions, edition) {
			of = append(of, e)
		}
	}
	return of
}

// entry is what the file has: the same difference at one place or at several, each named in full. A pattern would hide what comes to
// fit it later.
type entry struct {
	At     places `yaml:"at"`
	A      string `yaml:"a"`
	B      string `yaml:"b"`
	Reason string `yaml:"reason"`

	Editions []string `yaml:"editions"`
}

type places []string

func (p *places) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.SequenceNode {
		return node.Decode((*[]string)(p))
	}
	*p = make(places, 1)
	return node.Decode(&(*p)[0])
}

// LoadExpected reads a list of expected differences. Each must say where it is, what both sides have, and why.
func LoadExpected(path string) ([]Expected, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list, err := parseExpected(text)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return list, err
}

func parseExpected(text []byte) (list []Expected, err error) {
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	var entries []entry
	if err := decoder.Decode(&entries); err != nil {
		return nil, err
	}

	var faults []error
	listed := map[Difference]bool{}
	for _, e := range entries {
		for _, at := range e.At {
			d := Difference{at, e.A, e.B}
			if at == "" || e.A == "" || e.B == "" || e.Reason == "" {
				faults = append(faults, fmt.Errorf("%s: at, a, b and reason must be there", d))
			}
			if listed[d] {
				faults = append(faults, fmt.Errorf("%s: it is listed twice", d))
			}
			listed[d] = true
			list = append(list, Expected{d, e.Reason, e.Editions})
		}

		if len(e.At) == 0 {
			faults = append(faults, fmt.Errorf("%q: at must be there", e.Reason))
		}
	}

	return list, errors.Join(faults...)
}

// Check gives the differences that are not expected, and what is expected in vain.
func Check(found []Difference, expected []Expected) (unlisted []Difference, stale []Expected) {
	for _, d := range found {
		if !slices.ContainsFunc(expected, func(e Expected) bool { return e.Difference == d }) {
			unlisted = append(unlisted, d)
		}
	}
	for _, e := range expected {
		if !slices.Contains(found, e.Difference) {
			stale = append(stale, e)
		}
	}
	return unlisted, stale
}
