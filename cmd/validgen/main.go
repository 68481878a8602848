// Command validgen generates, from an OpenAPI document, the validators that check a request in one pass over its bytes and
// decode it straight into the models that oapi-codegen made, and the encoders of answers, with their tests. A keyword that it does not
// know stops it: nothing may be silently unchecked. kin-openapi checks that the document is valid OpenAPI; the schemas are read from
// the YAML nodes, which know their lines.
//
// With -check it writes nothing, and says of all that any generator reads (documents, overlays, the GraphQL schema and the operations on it,
// gqlgen's configuration, the rules) what is wrong and in which line, before a generator complains about it without one.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

func main() {
	check := flag.Bool("check", false, "check the files that are named as arguments, and write nothing")
	spec := flag.String("spec", "", "the OpenAPI document")
	editions := flag.String("editions", "", "the directory of the overlays that make further editions of the document; empty: there are none")
	same := flag.String("same", "", "with -check: the documents, with commas between them, that are generated without editions: no overlay may be for one of them")
	union := flag.Bool("union", false, "write one document that has what any edition has, of which the models are made")
	model := flag.String("model", "", "the Go file with the models of the document")
	pkg := flag.String("package", "", "the package of the models")
	out := flag.String("o", "", "the file to write")
	flag.Parse()

	var err error
	if *check {
		err = checkFiles(flag.Args(), *editions, strings.Split(*same, ",")...)
	} else if *union {
		err = writeUnion(*spec, *editions, *out)
	} else {
		err = run(*spec, *editions, *model, *pkg, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(spec, editions, model, pkg, out string) error {
	all, err := loadEditions(spec, editions)
	if err != nil {
		return err
	}
	models, err := parseModels(model)
	if err != nil {
		return err
	}

	source := filepath.ToSlash(spec)
	code, err := generate(all, models, pkg, source)
	if err != nil {
		return err
	}
	if err := encoders(all, models, pkg, source, filepath.Dir(out)); err != nil {
		return err
	}

	return os.WriteFile(out, code, 0o644) //nolint:gosec // source code is for everybody
}

// writeUnion writes the one document that has what any edition has.
func writeUnion(spec, dir, out string) error {
	editions, err := loadEditions(spec, dir)
	if err != nil {
		return err
	}
	whole, err := union(editions)
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(whole.root)
	if err != nil {
		return err
	}
	return os.WriteFile(out, text, 0o644) //nolint:gosec // it is for everybody
}
