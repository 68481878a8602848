package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/conformance/tree"
	"github.com/berthdev/berth/docs/site"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/seed"
	"github.com/berthdev/berth/spec/overlay"
)

// block is a fenced block of a page: what it is written in, where, and what stands before it.
type block struct{ language, at, page, text string }

// documented are the files whose blocks and words are checked: the pages of the site, and what leads to them.
func documented() []string {
	return append(site.Sources(), "README.md", "CONTRIBUTING.md")
}

// everyPage gives every Markdown file of the repository.
func everyPage(t *testing.T) []string {
	t.Helper()
	pages, err := tree.Files("../..", ".md")
	require.NoError(t, err)
	require.Subset(t, pages, documented())
	return pages
}

// blocksOf reads the blocks of a page, and gives the rest of it.
func blocksOf(t *testing.T, page string) (blocks []block, prose string) {
	text, err := os.ReadFile(filepath.Join("../..", page))
	require.NoError(t, err)
	var b *block
	var words strings.Builder
	for i, line := range strings.Split(string(text), "\n") {
		language, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && b == nil:
			b = &block{language: language, at: fmt.Sprintf("%s:%d", page, i+1), page: page}
		case fence:
			blocks = append(blocks, *b)
			b = nil
		case b != nil:
			b.text += line + "\n"
		default:
			words.WriteString(line + "\n")
		}
	}
	require.Nil(t, b, "%s: a block has no end", page)
	return blocks, words.String()
}

// isQuickStart reports whether make readme runs the blocks of the page.
func isQuickStart(page string) bool { return strings.HasPrefix(page, "docs/start") }

// checks say how a block of each language is checked. One without a language, or of another one, fails.
var checks = map[string]func(block) error{
	"sh":         checkShell,
	"python":     checkPython,
	"js":         checkJavaScript,
	"json":       checkJSON,
	"yaml":       checkYAML,
	"ini":        checkIni,
	"dockerfile": checkDockerfile,
	"ssh-config": checkSSHConfig,
	"text":       checkText,
	"go": func(b block) error {
		return unless(isQuickStart(b.page), "Go is to stand in a quick start, which runs it")
	},
	"diff": func(b block) error {
		return unless(b.page == "CONTRIBUTING.md", "only the diffs of CONTRIBUTING.md are held against files")
	},
	"mermaid": checkDiagram,
}

func unless(ok bool, says string) error {
	if ok {
		return nil
	}
	return errors.New(says)
}

// TestDocs_EveryBlockIsChecked looks at each block of the documentation without running it: make readme and make blocks do that.
func TestDocs_EveryBlockIsChecked(t *testing.T) {
	t.Parallel()
	for _, page := range everyPage(t) {
		blocks, _ := blocksOf(t, page)
		for _, b := range blocks {
			check := checks[b.language]
			if assert.NotNil(t, check, "%s: nothing checks a block of %q", b.at, b.language) {
				assert.NoError(t, check(b), b.at)
			}
		}
	}
}

// TestDocs_EveryExampleOfTheHelpIsACall reads the examples of each command, which docs/commands.md shows, as the program would.
func TestDocs_EveryExampleOfTheHelpIsACall(t *testing.T) {
	t.Parallel()
	all(newCommand(), func(cmd *cobra.Command) {
		assert.NoError(t, checkShell(block{text: cmd.Example}), cmd.CommandPath())
	})
}

// TestDocs_READMEIsRun holds the blocks of the README, which nothing runs, against pages whose blocks are run or checked.
func TestDocs_READMEIsRun(t *testing.T) {
	t.Parallel()
	start, _ := blocksOf(t, "docs/start.md")
	install, _ := blocksOf(t, "docs/install.md")
	var known strings.Builder
	for _, b := range append(start, install...) {
		known.WriteString(b.text)
	}
	blocks, _ := blocksOf(t, "README.md")
	for _, b := range blocks {
		for line := range strings.Lines(b.text) {
			assert.Contains(t, known.String(), line, "%s is not run: it is not in docs/start.md", b.at)
		}
	}
}

// TestDocs_QuickStartsShareNoDirectory lets readers go from one to the next in the same clone: a directory shows its key once.
func TestDocs_QuickStartsShareNoDirectory(t *testing.T) {
	t.Parallel()
	serve := regexp.MustCompile(`bin/berth serve\b[^\n>]*>`)
	where := regexp.MustCompile(` --data (\S+-data) | --ephemeral `)
	shown := map[string]string{}
	for _, page := range everyPage(t) {
		if !isQuickStart(page) {
			continue
		}
		blocks, _ := blocksOf(t, page)
		for _, b := range blocks {
			for _, call := range serve.FindAllString(b.text, -1) {
				dir := where.FindStringSubmatch(call)
				if !assert.NotNil(t, dir, "%s: %s: it names no directory of its own, NAME-data, and keeps its data", b.at, call) || dir[1] == "" {
					continue
				}
				assert.Empty(t, shown[dir[1]], "%s: %s: another server has %s already", b.at, call, dir[1])
				shown[dir[1]] = b.at
			}
		}
	}

	require.NotEmpty(t, shown)
	ignored, err := os.ReadFile("../../.gitignore")
	require.NoError(t, err)
	require.Contains(t, string(ignored), "*-data/\n")
}

func checkShell(b block) error {
	var wrong []error
	if bash, err := exec.LookPath("bash"); err == nil && !strings.Contains(b.text, "<") {
		check := exec.Command(bash, "-n")
		check.Stdin = strings.NewReader(b.text)
		if out, err := check.CombinedOutput(); err != nil {
			wrong = append(wrong, fmt.Errorf("%w: %s", err, out))
		}
	}

	for _, line := range strings.Split(strings.ReplaceAll(b.text, "\\\n", " "), "\n") {
		for _, call := range calls(line) {
			if err := checkCall(call); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", call, err))
			}
		}
		for _, target := range makeTarget.FindAllStringSubmatch(line, -1) {
			if !isTarget(target[1]) {
				wrong = append(wrong, fmt.Errorf("make %s: there is no such target", target[1]))
			}
		}
	}
	return errors.Join(wrong...)
}

var (
	makeTarget = regexp.MustCompile(`(?:^|&& |; |! )make ([a-z][a-z-]*)`)
	berthCall  = regexp.MustCompile(`(?:^|[\s(!])(?:\./|bin/|/)?berth ((?:'[^']*'|"[^"$]*(?:\$\([^)]*\))?[^"]*"|[^|;&#()'"<>])*)`)
)

func isTarget(name string) bool {
	text, err := os.ReadFile("../../Makefile")
	return err == nil && regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(name)+`:`).Match(text)
}

// calls gives the calls of berth in a line of a shell, without its name. What stands in a text for people, as after echo, is none.
func calls(line string) (found []string) {
	if strings.HasPrefix(line, "helm ") {
		return nil // there it is the name of a release
	}
	line, _, _ = strings.Cut(line, " # ")
	for _, call := range berthCall.FindAllStringSubmatch(line, -1) {
		found = append(found, strings.TrimSpace(call[1]))
	}
	return found
}

// checkCall reads a call as the program would: its command, its flags with the type of each value, and how many arguments there are.
func checkCall(call string) error {
	words, err := shellquote.Split(call)
	if err != nil {
		return err
	}
	cmd, rest, err := newCommand().Find(words)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(rest, func(word string) bool { return strings.Contains(word, "…") }) {
		return nil // the rest is left to the reader; the command is there
	}

	if err := cmd.ParseFlags(rest); err != nil && !errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if args := cmd.Flags().Args(); cmd.HasSubCommands() && cmd.Args == nil && len(args) > 0 && args[0] != "$@" && args[0] != "COMMAND" {
		return fmt.Errorf("%s has no command %s", cmd.CommandPath(), args[0])
	}
	return nil
}

func checkPython(b block) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		return nil //nolint:nilerr // make test needs nothing but Go; CI has Python
	}
	check := exec.Command(python, "-c", "import ast, sys; ast.parse(sys.stdin.read())")
	check.Stdin = strings.NewReader(b.text)
	if out, err := check.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func checkJavaScript(b block) error {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil //nolint:nilerr // as for Python
	}
	check := exec.Command(node, "--input-type=module", "--check")
	check.Stdin = strings.NewReader(b.text)
	if out, err := check.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// checkJSON reads fleets, which are all the JSON that there is.
func checkJSON(b block) error {
	catalog, err := control.BuiltInCatalog()
	if err != nil {
		return err
	}
	return inFile("fleet.json", b.text, func(file string) error { _, err := control.LoadFleet(file, catalog); return err })
}

// inFile has the text read from a file of that name.
func inFile(name, text string, read func(file string) error) error {
	dir, err := os.MkdirTemp("", "berth-docs-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	return read(file)
}

// kinds are the documents in YAML, by a member at their top, and what reads them.
var kinds = map[string]func(string) error{
	"overlay": checkOverlay,
	"rules":   checkRights,
	"facts":   func(string) error { return nil },
	"keys":    checkSeed,
}

func checkYAML(b block) error {
	var document map[string]any
	if err := yaml.Unmarshal([]byte(b.text), &document); err != nil {
		return err
	}
	for member, check := range kinds {
		if document[member] != nil {
			return check(b.text)
		}
	}
	return unless(b.page == "spec/README.md", "nothing reads this document: say in kinds what does")
}

func checkOverlay(text string) error {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return err
	}
	_, err := overlay.Actions(&document)
	return err
}

func checkSeed(text string) error {
	return inFile("seed.yaml", text, func(file string) error { _, err := seed.Read(file); return err })
}

// checkRights reads the rules of a role of Kubernetes.
func checkRights(text string) error {
	var role struct {
		Rules []struct {
			APIGroups []string `yaml:"apiGroups"`
			Resources []string `yaml:"resources"`
			Verbs     []string `yaml:"verbs"`
		} `yaml:"rules"`
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&role); err != nil {
		return err
	}
	for _, rule := range role.Rules {
		if len(rule.APIGroups) == 0 || len(rule.Resources) == 0 || len(rule.Verbs) == 0 {
			return fmt.Errorf("a rule lacks groups, resources or verbs: %v", rule)
		}
	}
	return nil
}

var assignment = regexp.MustCompile(`^(\[\w+\]|(\w+) = \S.*)$`)

// checkIni reads settings of other programs, and the arguments of the server among those of pytest.
func checkIni(b block) error {
	for _, line := range strings.Split(strings.TrimSpace(b.text), "\n") {
		found := assignment.FindStringSubmatch(line)
		if found == nil {
			return fmt.Errorf("%q sets nothing", line)
		}
		if args, is := strings.CutPrefix(line, "berth_args = "); is {
			return checkCall("serve " + args)
		}
	}
	return nil
}

var ofSSH = regexp.MustCompile(`^(Host|  HostName|  Port|  User) \S+$`)

func checkSSHConfig(b block) error {
	for _, line := range strings.Split(strings.TrimRight(b.text, "\n"), "\n") {
		if !ofSSH.MatchString(line) {
			return fmt.Errorf("%q is no setting of ssh that is known here", line)
		}
	}
	return nil
}

var instruction = regexp.MustCompile(`^(FROM|RUN|COPY|CMD|ENV|ENTRYPOINT|WORKDIR|USER|EXPOSE) \S`)

func checkDockerfile(b block) error {
	lines := strings.Split(strings.TrimSpace(b.text), "\n")
	for _, line := range lines {
		if !instruction.MatchString(line) {
			return fmt.Errorf("%q is no instruction", line)
		}
		if command, is := strings.CutPrefix(line, "CMD "); is && !json.Valid([]byte(command)) {
			return fmt.Errorf("%s is no list", command)
		}
	}
	return unless(strings.HasPrefix(lines[0], "FROM "), "it begins with no image")
}

// checkText takes what other tests hold against what is printed, and pictures.
func checkText(b block) error {
	held := isQuickStart(b.page) || slices.Contains([]string{
		"README.md",       // TestDocs_READMEIsRun
		"CONTRIBUTING.md", // TestContributing
		"docs/commands.md",
		"deploy/pytest-berth/README.md", // its tests have the form
	}, b.page)
	if held || strings.ContainsAny(b.text, "┌└│") {
		return nil
	}
	for line := range strings.Lines(b.text) {
		if !isPrinted(strings.TrimSpace(line)) {
			return fmt.Errorf("nothing holds %q against what is printed", line)
		}
	}
	return nil
}

// printed are words of what is printed, each with the file that has them: what prints it, what it is tested with, or a quick start.
var printed = map[string]string{
	": unknown keyword ":            "cmd/validgen/keywords.go",
	": both would have one Go type": "cmd/validgen/editions_test.go",
	"/costCenter: is not a known ":  "docs/start-spec.md",
	": present | absent":            "spec/diff",
	"/required: false | true":       "spec/diff",
}

// isIn reports whether the file, or one of the Go files of the folder, has the words.
func isIn(source, words string) bool {
	files := []string{source}
	if !strings.Contains(filepath.Base(source), ".") {
		files, _ = filepath.Glob(source + "/*.go")
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), words)
	})
}

// isPrinted reports whether the line is an address of a database, or has words that a program prints.
func isPrinted(line string) bool {
	if at, err := url.Parse(line); err == nil && at.Scheme == "postgres" {
		return at.Host != "" && at.Path != ""
	}
	for words, source := range printed {
		if strings.Contains(line, words) && isIn("../../"+source, strings.TrimPrefix(words, ": ")) {
			return true
		}
	}
	return false
}

var diagram = regexp.MustCompile(`^(sequenceDiagram|stateDiagram-v2|flowchart TD)$|^participant \w+|^Note over |(-->>|->>|-\)|-->)`)

// checkDiagram reads a diagram line by line: what the site shows of it has them all.
func checkDiagram(b block) error {
	for _, line := range strings.Split(strings.TrimSpace(b.text), "\n") {
		if !diagram.MatchString(strings.TrimSpace(line)) {
			return fmt.Errorf("%q is in no diagram that the site shows", line)
		}
	}
	return nil
}
