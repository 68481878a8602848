package httpapi

import (
	"reflect"
	"strings"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/spelling"
	"github.com/berthdev/berth/impl/validate"
)

// near gives the end of a line about a member that there is not: the one that may have been meant. Scripts are written by hand, and are
// the deepest of all bodies; of others it is empty.
func near(v validate.Violation, body any) string {
	if _, is := body.(*controls.Script); !is || !v.Unknown {
		return ""
	}
	steps := strings.Split(v.Where, "/")[1:]
	last := len(steps) - 1
	names := membersAt(reflect.TypeOf(body), steps[:last])
	if len(names) == 0 {
		return ""
	}
	return "; the closest is " + spelling.Closest(steps[last], names)[0]
}

// membersAt gives the names of the members that an object of the type has at a place.
func membersAt(t reflect.Type, steps []string) (names []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Slice && len(steps) > 0:
		return membersAt(t.Elem(), steps[1:])
	case t.Kind() != reflect.Struct:
		return nil
	}

	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		switch {
		case len(steps) == 0:
			names = append(names, name)
		case name == steps[0]:
			return membersAt(t.Field(i).Type, steps[1:])
		}
	}
	return names
}
