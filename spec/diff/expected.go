package diff

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Expected are differences that are to be, with the reason: one if At, A and B have no asterisk, which stands for any text.
type Expected struct {
	Difference `yaml:",inline"`
	Reason     string `yaml:"reason"`
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
	if err := decoder.Decode(&list); err != nil {
		return nil, err
	}
	var faults []error
	for _, e := range list {
		if e.At == "" || e.A == "" || e.B == "" || e.Reason == "" {
			faults = append(faults, fmt.Errorf("%s: at, a, b and reason must be there", e.Difference))
		}
	}
	return list, errors.Join(faults...)
}

// Check gives the differences that are not expected, and what is expected in vain.
func Check(found []Difference, expected []Expected) (unlisted []Difference, stale []Expected) {
	used := make([]bool, len(expected))
	for _, d := range found {
		listed := false
		for i, e := range expected {
			if fits(e.At, d.At) && fits(e.A, d.A) && fits(e.B, d.B) {
				used[i], listed = true, true
			}
		}
		if !listed {
			unlisted = append(unlisted, d)
		}
	}
	for i, e := range expected {
		if !used[i] {
			stale = append(stale, e)
		}
	}
	return unlisted, stale
}

// fits tells whether the text is the pattern, in which each asterisk stands for any text.
func fits(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, last)
}
