// Command validgen generates, from an OpenAPI document, the validators that check a request in one pass over its bytes and
// decode it straight into the models that oapi-codegen made, and the encoders of answers, with their tests. A keyword that it does not know stops it: nothing may be
// silently unchecked. kin-openapi checks that the document is valid OpenAPI; the schemas are read from the YAML nodes,
// which know their lines.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/getkin/kin-openapi/openapi3"
)

func main() {
	check := flag.Bool("check", false, "check the documents that are named as arguments, and write nothing")
	spec := flag.String("spec", "", "the OpenAPI document")
	model := flag.String("model", "", "the Go file with the models of the document")
	pkg := flag.String("package", "", "the package of the models")
	out := flag.String("o", "", "the file to write")
	flag.Parse()
	if err := start(*check, flag.Args(), *spec, *model, *pkg, *out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func start(check bool, specs []string, spec, model, pkg, out string) error {
	if !check {
		return run(spec, model, pkg, out)
	}
	for _, spec := range specs {
		if _, err := load(spec); err != nil {
			return err
		}
	}
	return nil
}

// load reads a document and checks all that can be checked without its models. It is done before any generator runs, whose own
// complaint about the same fault would name neither file nor line.
func load(spec string) (*document, error) {
	text, err := os.ReadFile(filepath.Clean(spec))
	if err != nil {
		return nil, err
	}
	doc, err := parseDocument(spec, text)
	if err != nil {
		return nil, err
	}
	if err := doc.checkKeywords(); err != nil {
		return nil, err
	}
	if err := doc.checkStructure(); err != nil {
		return nil, err
	}

	loaded, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", spec, err)
	}
	if err := loaded.Validate(context.Background()); err != nil {
		return nil, fmt.Errorf("%s: %w", spec, err)
	}
	return doc, nil
}

func run(spec, model, pkg, out string) error {
	doc, err := load(spec)
	if err != nil {
		return err
	}
	models, err := parseModels(model)
	if err != nil {
		return err
	}
	source := filepath.ToSlash(spec)
	code, err := generate(doc, models, pkg, source)
	if err != nil {
		return err
	}
	if err := encoders(doc, models, pkg, source, filepath.Dir(out)); err != nil {
		return err
	}
	return os.WriteFile(out, code, 0o644) //nolint:gosec // source code is for everybody
}
