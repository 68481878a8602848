package seed

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/berthdev/berth/impl/validate"
)

// unknownMember reports whether a pointer into what the model was read from names a member that there is not, and gives those that there
// are, and the name.
func unknownMember(model any, pointer string) (names []string, name string, unknown bool) {
	if pointer == "" || pointer[0] != '/' {
		return nil, "", false
	}
	parts := strings.Split(pointer[1:], "/")
	t := reflect.TypeOf(model)
	for i, part := range parts {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Slice:
			if _, err := strconv.Atoi(part); err != nil {
				return nil, "", false
			}
			t = t.Elem()
		case reflect.Struct:
			field, all := fieldNamed(t, part)
			if field == nil {
				return all, part, i == len(parts)-1 && len(all) > 0
			}
			t = field
		default: // of a map every name is known
			return nil, "", false
		}
	}
	return nil, "", false
}

// fieldNamed gives the type of the member of that name, and the names of all.
func fieldNamed(t reflect.Type, name string) (field reflect.Type, names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || tag == "" || tag == "-" {
			continue
		}
		names = append(names, tag)
		if tag == name {
			field = f.Type
		}
	}
	return field, names
}

// known leaves out of the names of members those that only other editions of the contract know. It looks at those of bodies themselves.
func (l list) known(names []string, pointer string) []string {
	if strings.LastIndexByte(pointer, '/') > 0 {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool {
		_, violations, err := l.body.Decode([]byte(`{"` + name + `":null}`)) // names have nothing that JSON escapes
		return err != nil || slices.ContainsFunc(violations, func(v validate.Violation) bool { return v.In != nil && v.Where == "/"+name })
	})
}
