package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/berthdev/berth/impl/spelling"
)

// mostText is how long a value may become by its templates, in bytes: as long as the longest output.
const mostText = 20_000_000

// The marks around a template.
const (
	opening = "{{"
	closing = "}}"
)

// names are what a template may name besides members of the input.
var names = []string{"input", "job.id", "worker.id", "attempt"}

// errLong says that a value became too long.
var errLong = errors.New("script: the templates make the value longer than " + strconv.Itoa(mostText) + " bytes")

// cut gives the text before the first template, what that names, and the text after it; found is false if there is none.
func cut(text string) (before, name, after string, found bool) {
	before, rest, opened := strings.Cut(text, opening)
	name, after, closed := strings.Cut(rest, closing)
	if !opened || !closed {
		return text, "", "", false
	}
	return before, strings.TrimSpace(name), after, true
}

// wrongTemplate gives where an answer has a template that names what there is not, and why that is wrong; empty: nowhere.
func (a *Answer) wrongTemplate() (at, why string) {
	for _, part := range []struct {
		at    string
		steps []Step
	}{{"/progress", a.Progress}, {"/chunks", a.Chunks}} {
		for i, s := range part.steps {
			if at, why := wrongIn(s.Value, fmt.Sprintf("%s/%d/value", part.at, i)); why != "" {
				return at, why
			}
		}
	}

	if at, why := wrongIn(a.Output, "/output"); why != "" {
		return at, why
	}
	if a.Refresh != nil {
		if at, why := wrongIn(a.Refresh.Output, "/refreshWorker/output"); why != "" {
			return at, why
		}
	}
	if a.Error != nil {
		return "/error", wrongText(*a.Error)
	}
	return "", ""
}

// wrongIn is wrongTemplate of a value.
func wrongIn(value json.RawMessage, at string) (_, why string) {
	if !bytes.Contains(value, []byte(opening)) {
		return at, ""
	}
	var walk func(v any, at string) (string, string)
	walk = func(v any, at string) (string, string) {
		switch v := v.(type) {
		case string:
			return at, wrongText(v)
		case []any:
			for i := range v {
				if at, why := walk(v[i], at+"/"+strconv.Itoa(i)); why != "" {
					return at, why
				}
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if at, why := walk(v[name], at+"/"+escape.Replace(name)); why != "" {
					return at, why
				}
			}
		}
		return at, ""
	}

	parsed, err := parsed(value)
	if err != nil {
		return at, err.Error()
	}
	return walk(parsed, at)
}

// escape writes a step of a JSON Pointer.
var escape = strings.NewReplacer("~", "~0", "/", "~1")

// wrongText says what is wrong with the templates of a text; empty: nothing.
func wrongText(text string) string {
	for {
		_, name, after, found := cut(text)
		if !found {
			return ""
		}
		if !strings.HasPrefix(name, "/") && !slices.Contains(names, name) {
			return fmt.Sprintf("there is no template {{%s}}; there are %s, and members of the input such as {{/prompt}}", name, strings.Join(spelling.Closest(name, names), ", "))
		}
		text = after
	}
}

// parsed gives a value as maps, lists and scalars.
func parsed(value json.RawMessage) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// fill gives the value with its templates filled in, which takes of the room. One without any is as it was written.
func (j *Job) fill(value json.RawMessage, room *int) (json.RawMessage, error) {
	if *room -= len(value); *room < 0 {
		return nil, errLong
	}
	if !bytes.Contains(value, []byte(opening)) {
		return value, nil
	}
	v, err := parsed(value)
	if err == nil {
		v, err = j.fillIn(v, room)
	}
	if err != nil {
		return nil, err
	}
	return encoded(v)
}

// encoded writes a value as JSON, with every character as it is.
func encoded(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// fillIn is fill of a value that was parsed.
func (j *Job) fillIn(v any, room *int) (_ any, err error) {
	switch v := v.(type) {
	case string:
		if before, name, after, found := cut(v); found && before == "" && after == "" {
			return j.named(name, room)
		}
		return j.fillText(v, room)
	case []any:
		for i := range v {
			if v[i], err = j.fillIn(v[i], room); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if v[name], err = j.fillIn(v[name], room); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// fillText gives the text with its templates filled in: texts as they are, and all else as JSON.
func (j *Job) fillText(text string, room *int) (string, error) {
	var b strings.Builder
	for {
		before, name, after, found := cut(text)
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		v, err := j.named(name, room)
		if err != nil {
			return "", err
		}

		if in, is := v.(string); is {
			b.WriteString(in)
		} else if in, err := encoded(v); err == nil {
			b.Write(in)
		}
		text = after
	}
}

// named gives what a template names, which takes of the room.
func (j *Job) named(name string, room *int) (v any, err error) {
	switch name {
	case "job.id":
		v = string(j.ID)
	case "worker.id":
		v = string(j.Worker)
	case "attempt":
		v = j.Attempt
	default:
		if name == "input" {
			name = ""
		}
		var why string
		if v, why = j.Input.At(name); why != "" {
			return nil, fmt.Errorf("script: the template {{%s}} finds %s in the input of the job", name, why)
		}
	}

	text, err := encoded(v)
	if err == nil && len(text) > *room {
		err = errLong
	}
	*room -= len(text)
	return v, err
}
