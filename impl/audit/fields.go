package audit

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// unsaid are the fields that change with every other one.
var unsaid = []string{"Version", "UpdatedAt", "ChangedAt"}

// differing gives the names of the fields that two values of a struct have otherwise, as JSON would write them. What they have is not looked
// at beyond that.
func differing[T any](before, after T) (names []string) {
	b, a := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range b.NumField() {
		name := b.Type().Field(i).Name
		if !slices.Contains(unsaid, name) && !reflect.DeepEqual(b.Field(i).Interface(), a.Field(i).Interface()) {
			names = append(names, lowered(name))
		}
	}
	return names
}

// lowered makes the name of a field one of JSON: TemplateID is templateId, and GPU is gpu.
func lowered(name string) string {
	var b strings.Builder
	all := []rune(name)
	for i, r := range all {
		begins := i > 0 && (!unicode.IsUpper(all[i-1]) || i+1 < len(all) && unicode.IsLower(all[i+1])) // a word
		if unicode.IsUpper(r) && !begins {
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
