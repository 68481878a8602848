package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// called has the arguments, one a line, with which a test calls the program.
const called = "VALIDGEN_TEST_ARGUMENTS"

// TestMain is the program itself where a test calls it.
func TestMain(m *testing.M) {
	if arguments, ok := os.LookupEnv(called); ok {
		os.Args = append(os.Args[:1], strings.Split(arguments, "\n")...)
		main()
		return
	}
	os.Exit(m.Run())
}

// program runs the program in the working directory, and gives its exit code and what it complains of.
func program(t *testing.T, arguments ...string) (code int, complaint string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), called+"="+strings.Join(arguments, "\n"))
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		return exit.ExitCode(), out.String()
	}
	return 0, out.String()
}

// inThings works in a copy of the small document, its editions and what is generated of it.
func inThings(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/editions")))
	t.Chdir(dir)
}

func TestProgram_GeneratesUnitesAndChecks(t *testing.T) {
	inThings(t)
	want, err := os.ReadFile("validate.gen.go")
	require.NoError(t, err)
	require.NoError(t, os.Remove("validate.gen.go"))
	common := []string{"-spec", "things.yaml", "-editions", "editions"}
	code, complaint := program(t, append(common, "-model", "editions.gen.go", "-package", "editions", "-o", "validate.gen.go")...)
	require.Zero(t, code, complaint)
	require.Empty(t, complaint)
	got, err := os.ReadFile("validate.gen.go")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))

	code, complaint = program(t, append(common, "-union", "-o", "union.yaml")...)
	require.Zero(t, code, complaint)
	text, err := os.ReadFile("union.yaml")
	require.NoError(t, err)
	whole := docOf(t, "union.yaml", string(text))
	require.NotNil(t, get(whole.root, "paths", "/things/{id}", "delete"))
	require.NotNil(t, get(whole.root, "components", "schemas", "Part", "properties", "color"))
	require.NotNil(t, get(whole.root, "components", "schemas", "Box", "properties", "lid"))

	require.NoError(t, os.WriteFile("usual", nil, 0o644))
	usual, err := os.Stat("usual")
	require.NoError(t, err)
	for _, name := range []string{"validate.gen.go", "union.yaml"} {
		written, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, usual.Mode(), written.Mode(), name)
	}

	code, complaint = program(t, "-check", "-editions", "editions", "-same", "other.yaml", "-o", "never.yaml", "things.yaml")
	require.Zero(t, code, complaint)
	require.NoFileExists(t, "never.yaml")
}

func TestProgram_FailsWithWhatIsWrong(t *testing.T) {
	inThings(t)
	for _, c := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"-check", "-editions", "editions", "-same", "other.yaml,things.yaml", "things.yaml"}, "editions/three.overlay.yaml:4: #: extends ../things.yaml: it is generated without editions\n"},
		{[]string{"-union", "-spec", "none.yaml", "-o", "made.yaml"}, "open none.yaml: "},
		{[]string{"-spec", "things.yaml", "-model", "none.go", "-package", "x", "-o", "made.go"}, "open none.go: "},
	} {
		code, complaint := program(t, c.arguments...)
		require.Equal(t, 1, code, c.want)
		require.Contains(t, complaint, c.want)
	}
	require.NoFileExists(t, "made.yaml")
	require.NoFileExists(t, "made.go")
}

// written writes files into a new directory, in which the test then works.
func written(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Chdir(dir)
}

func TestRun_NamesTheFileThatItCannotRead(t *testing.T) {
	const plain = "package x\ntype Thing struct {\nA *string `json:\"a,omitempty\"`\n}\n"
	written(t, map[string]string{
		"spec.yaml": frame("{type: string}"), "model.go": plain, "broken.yaml": "openapi: [", "broken.go": "package x\ntype Thing struct {\n", "empty.yaml": "",
		"listed.yaml": strings.Replace(frame("{type: string}"), "info: {title: t, version: '1'}", "info: [t]", 1),
		"answer.yaml": strings.Replace(frame("{type: integer}"), "{description: d}", "{description: d, content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}", 1),
		"counted.go":  strings.Replace(plain, "*string", "int64", 1),
	})

	for _, missing := range [][2]string{{"none.yaml", "model.go"}, {"spec.yaml", "none.go"}} {
		require.ErrorIs(t, run(missing[0], "", missing[1], "x", "out.go"), fs.ErrNotExist)
	}
	require.ErrorContains(t, run("broken.yaml", "", "model.go", "x", "out.go"), "broken.yaml: yaml: ")
	require.EqualError(t, run("empty.yaml", "", "model.go", "x", "out.go"), "empty.yaml: it is empty")
	require.ErrorContains(t, run("listed.yaml", "", "model.go", "x", "out.go"), "listed.yaml:1: #: ")
	require.ErrorContains(t, run("spec.yaml", "", "broken.go", "x", "out.go"), "broken.go:")
	require.EqualError(t, run("answer.yaml", "", "counted.go", "x", "out.go"), "Thing.A: omitempty of a int64 is not handled")
	require.NoFileExists(t, "out.go")

	require.ErrorIs(t, writeUnion("none.yaml", "", "out.yaml"), fs.ErrNotExist)
	require.NoFileExists(t, "out.yaml")
	require.NoError(t, run("spec.yaml", "", "model.go", "x", "out.go"))
}

func TestWriteUnion_WritesNoneOfEditionsThatCannotShareOne(t *testing.T) {
	inThings(t)
	actions := removes("$.components.schemas.Part.properties.id.type") + updates("$.components.schemas.Part.properties.id", "{type: integer}")
	require.NoError(t, os.WriteFile(filepath.Join("editions", "four.overlay.yaml"), []byte(overlayOf("four", "things.yaml", actions)), 0o600))
	require.ErrorContains(t, writeUnion("things.yaml", "editions", "union.yaml"), "type integer in edition four, and otherwise in things.yaml:37: both would have one Go type")
	require.NoFileExists(t, "union.yaml")
}

func TestCheckFiles_NamesTheFileThatItCannotRead(t *testing.T) {
	files := map[string]string{"broken.yaml": "openapi: [", "empty.yaml": ""}
	for name, text := range checked {
		files[name] = text
	}
	written(t, files)

	for _, missing := range [][]string{{"none.yaml"}, {"none.graphqls"}, {"schema.graphqls", "none.graphql"}} {
		require.ErrorIs(t, checkFiles(missing, ""), fs.ErrNotExist, missing)
	}
	require.ErrorContains(t, checkFiles([]string{"broken.yaml"}, ""), "broken.yaml: yaml: ")
	require.EqualError(t, checkFiles([]string{"empty.yaml"}, ""), "empty.yaml: it is empty")
	require.NoError(t, checkFiles([]string{"things.graphql", "gqlgen.yaml"}, ""), "there is no schema to check them with")
	require.NoError(t, checkFiles([]string{"schema.graphqls", "things.graphql"}, ""))
}
