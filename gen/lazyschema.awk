# Has the schema of GraphQL read from package spec, of which gqlgen makes a copy, and parsed when it is first needed: gqlgen has it
# parsed at every start of the program. It fails where gqlgen's code has changed.
/^\t"sync\/atomic"$/ { print "\t\"sync\""; n++ }
/^\t"github.com\/berthdev\/berth\/graphql\/scalar"$/ { $0 = $0 "\n\t\"github.com/berthdev/berth/spec\""; n++ }
/^var sources = \[\]\*ast\.Source\{$/ { copy = 1; n++ }
/^var parsedSchema = gqlparser\.MustLoadSchema\(sources\.\.\.\)$/ {
	copy = 0
	$0 = "var parsedSchema = sync.OnceValue(func() *ast.Schema {\n\tvar sources []*ast.Source\n" \
		"\tfor _, f := range spec.GraphQL() {\n\t\tsources = append(sources, &ast.Source{Name: f.Name, Input: f.Text})\n\t}\n" \
		"\treturn gqlparser.MustLoadSchema(sources...)\n})"
	n++
}
/^\treturn parsedSchema$/ { $0 = "\treturn parsedSchema()"; n++ }
/^\t\t\tparsedSchema,$/ { $0 = "\t\t\tparsedSchema(),"; n++ }
!copy { print }
END { if (n != 6) exit 1 }
