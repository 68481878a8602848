package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"strings"
)

// models are the structs that oapi-codegen made, by lower-case name: its names differ from the document's in initialisms.
type models map[string]modelType

type modelType struct {
	name   string
	fields map[string]modelField // of a struct, by JSON name
	tags   []modelTag            // of a struct, in its order
	union  bool                  // a struct that carries one of several as JSON
	is     string                // what any other type is declared as
}

type modelField struct{ name, goType string }

// modelTag is what a field's tag says: the JSON name and, or not, omitempty or omitzero.
type modelTag struct{ json, omit string }

func parseModels(file string) (models, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}

	found := models{}
	for _, decl := range parsed.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}

		for _, s := range gen.Specs {
			spec := s.(*ast.TypeSpec)
			t := modelType{name: spec.Name.Name, fields: map[string]modelField{}}
			if body, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range body.Fields.List {
					t.union = t.union || len(f.Names) == 1 && f.Names[0].Name == "union"
					if f.Tag != nil && len(f.Names) == 1 {
						tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
						name, omit, _ := strings.Cut(tag, ",")
						t.tags = append(t.tags, modelTag{name, omit})
						t.fields[name] = modelField{f.Names[0].Name, types.ExprString(f.Type)}
					}
				}
			} else {
				t.is = types.ExprString(spec.Type)
			}

			found[strings.ToLower(spec.Name.Name)] = t
		}
	}

	return found, nil
}

// of gives the model of a schema, which is any while there are no models.
func (m models) of(schema string) (modelType, error) {
	if m == nil {
		return modelType{name: schema, union: true}, nil
	}
	t, ok := m[strings.ToLower(schema)]
	if !ok {
		return t, fmt.Errorf("no Go type for schema %s", schema)
	}
	return t, nil
}

// underlying gives what a type is declared as, as far as the models know: a slice or a map for the name of one.
func (m models) underlying(goType string) string {
	for {
		t, ok := m[strings.ToLower(goType)]
		if !ok || t.name != goType || t.is == "" {
			return goType
		}
		goType = t.is
	}
}
