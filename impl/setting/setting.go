// Package setting says what a setting of the server is. From its one description come its flag, its variable of the environment, its
// name in the configuration file, its line in the help and in the page of settings, and its field of berth.Options.
package setting

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is what the value of a setting is.
type Kind int

// The kinds.
const (
	Text     Kind = iota
	List          // of texts
	Switch        // true or false
	Number        // an integer
	Duration      // such as 90s
)

// Use is who has a setting.
type Use int

// The uses.
const (
	Server Use = iota // every command with a server in it
	Serve             // berth serve alone
	Client            // the commands that speak to a server
)

// Setting describes a setting.
type Setting struct {
	Use     Use
	Name    string // of the flag, and in the configuration file: queue-listen
	Short   string // the flag in one letter; empty: it has none
	Kind    Kind
	Default string   // as it would be written; empty: the zero value of its kind
	Help    string   // without a capital letter and a full stop
	Choices []string // the words that it may be; nil: any
	Option  string   // its field in berth.Options; empty: it has none
	// OptionDefault is what an empty Option means; empty: Default. A switch that is not set is off there.
	OptionDefault string
	// Check refuses values that make no sense, besides those that are of another kind; nil: there are none.
	Check func(value string) error
	// CheckFlag refuses values that may stand elsewhere, but not on the command line, where everybody on the machine sees them; nil: none.
	CheckFlag func(value string) error
}

// Variable is what the setting is called in the environment: BERTH_QUEUE_LISTEN.
func (s Setting) Variable() string {
	return "BERTH_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// secrets end the names of settings that are never shown.
var secrets = []string{"key", "token", "secret", "password"}

// Secret reports by its name whether the setting is never shown.
func (s Setting) Secret() bool {
	return slices.Contains(secrets, s.Name[strings.LastIndexByte(s.Name, '-')+1:])
}

// Values are what settings are set to, by their names: one value, or those of a list. What has no value has its default.
type Values map[string][]string

// Text is the value of a setting; empty if it has none.
func (v Values) Text(name string) string {
	if all := v[name]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// On reports whether a switch is on.
func (v Values) On(name string) bool { return v.Text(name) == "true" }

// List gives the values of a list.
func (v Values) List(name string) []string { return v[name] }

// Error says what is wrong with the value of a setting. Neither it nor what it prints has the value of a secret.
type Error struct {
	Name  string // of the setting
	Value string // as it was written; empty for a secret
	Cause error
}

func (e *Error) Error() string { return fmt.Sprintf("%s %q: %v", e.Name, e.Value, e.Cause) }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Validate refuses values that the setting cannot have with an *Error.
func (s Setting) Validate(values []string) error {
	fail := func(value string, cause error) error {
		if s.Secret() {
			return &Error{Name: s.Name, Cause: errors.New("the value makes no sense")}
		}
		return &Error{Name: s.Name, Value: Redacted(value), Cause: cause}
	}

	if s.Kind != List && len(values) > 1 {
		return fail(strings.Join(values, ", "), errors.New("it must be one value, not a list"))
	}
	for _, value := range values {
		if err := s.validate(value); err != nil {
			return fail(value, err)
		}
	}

	return nil
}

func (s Setting) validate(value string) (err error) {
	switch s.Kind {
	case Switch:
		if value != "true" && value != "false" {
			err = errors.New("it must be true or false")
		}
	case Number:
		if _, err = strconv.ParseInt(value, 10, 64); err != nil {
			err = errors.New("it must be a whole number")
		}
	case Duration:
		if _, err = time.ParseDuration(value); err != nil {
			err = errors.New("it must be a duration such as 90s")
		}
	}
	if err == nil && s.Choices != nil && !slices.Contains(s.Choices, value) {
		err = fmt.Errorf("it must be %s", Or(s.Choices))
	}
	if err == nil && s.Check != nil {
		err = s.Check(value)
	}

	return err
}

// Or lists words for people: a, b or c.
func Or(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
