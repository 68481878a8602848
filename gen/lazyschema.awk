# Has the schema of GraphQL parsed when it is first needed: gqlgen has it parsed at every start of the program. It fails
# where gqlgen's code has changed.
/^\t"sync\/atomic"$/ { print "\t\"sync\""; n++ }
/^var parsedSchema = gqlparser\.MustLoadSchema\(sources\.\.\.\)$/ {
	$0 = "var parsedSchema = sync.OnceValue(func() *ast.Schema { return gqlparser.MustLoadSchema(sources...) })"; n++
}
/^\treturn parsedSchema$/ { $0 = "\treturn parsedSchema()"; n++ }
/^\t\t\tparsedSchema,$/ { $0 = "\t\t\tparsedSchema(),"; n++ }
{ print }
END { if (n != 4) exit 1 }
