package main

import (
	"os"
	"path/filepath"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

// checkGraphQL checks a schema, the operations that a client of it is generated for, and that the configurations of gqlgen speak of
// fields which it has: gqlgen ignores others. Errors of gqlparser have file and line.
func checkGraphQL(files, operations []string, configurations []*document) error {
	var sources []*ast.Source
	for _, path := range files {
		source, err := readSource(path)
		if err != nil {
			return err
		}
		sources = append(sources, source)
	}

	if len(sources) == 0 {
		return nil
	}
	schema, err := gqlparser.LoadSchema(sources...)
	if err != nil {
		return err
	}

	for _, path := range operations {
		source, err := readSource(path)
		if err != nil {
			return err
		}
		query, err := parser.ParseQuery(source)
		if err != nil {
			return err
		}
		if faults := validator.ValidateWithRules(schema, query, nil); len(faults) > 0 {
			return faults[0]
		}
	}

	for _, c := range configurations {
		if err := c.checkModels(schema); err != nil {
			return err
		}
	}

	return nil
}

func readSource(path string) (*ast.Source, error) {
	text, err := os.ReadFile(filepath.Clean(path))
	return &ast.Source{Name: path, Input: string(text)}, err
}

// checkModels checks the types and fields that a configuration of gqlgen names.
func (d *document) checkModels(schema *ast.Schema) error {
	for _, model := range members(get(d.root, "models")) {
		name := model.key.Value
		is := schema.Types[name]
		if is == nil {
			return d.failf(model.key, "models", "the schema has no type %s", name)
		}

		for _, field := range members(get(model.value, "fields")) {
			if is.Fields.ForName(field.key.Value) == nil {
				return d.failf(field.key, "models", "type %s has no field %s", name, field.key.Value)
			}
		}
	}

	return nil
}
