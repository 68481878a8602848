package main

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// codeWords are what stands as code in the prose of a page.
var codeWords = regexp.MustCompile("`([^`\n]+)`")

// strangers are flags that the documentation names of other programs.
var strangers = map[string]bool{
	"--rp_serve_api": true, "--test_input": true, "--api-key": true, // of the SDK
	"--berth-binary": true, "--berth-costs": true, "--berth-runtime": true, // of pytest-berth
}

// TestDocs_NameCommandsAndFlagsThatThereAre reads what stands as code in the prose: calls of berth, and flags, each of which some command has.
func TestDocs_NameCommandsAndFlagsThatThereAre(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"--help": true}
	every(newCommand(), func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
		cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
	})

	for _, page := range documented() {
		_, prose := blocksOf(t, page)
		for _, word := range codeWords.FindAllStringSubmatch(prose, -1) {
			if call, is := strings.CutPrefix(strings.TrimPrefix(word[1], "bin/"), "berth "); is {
				err := checkCall(call)
				var named *pflag.ValueRequiredError // the prose is about the flag, whatever its value
				if !errors.As(err, &named) {
					assert.NoError(t, err, "%s: %s", page, word[1])
				}
			}
			if name, _, _ := strings.Cut(word[1], " "); strings.HasPrefix(name, "--") {
				name, _, _ = strings.Cut(name, "=")
				assert.True(t, known[name] || strangers[name], "%s: no command has %s", page, name)
			}
		}
	}
}

// every calls do with the command and all below it.
func every(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, c := range cmd.Commands() {
		every(c, do)
	}
}

// ofOthers installs or runs berth of a registry, which is somebody else's program there: ours is berth-server.
var ofOthers = regexp.MustCompile(`\b(pip install|pipx \w+|uvx|uv tool \w+|npx|npm (?:install|i|exec))( -\S+| runpod)* berth([\s@=` + "`" + `]|$)`)

func TestDocs_InstallNobodyElsesProgram(t *testing.T) {
	t.Parallel()
	for _, page := range append(everyPage(t), "deploy/check-release.sh") {
		text, err := os.ReadFile(filepath.Join("../..", page))
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if !strings.Contains(line, "get somebody else's program") {
				assert.NotRegexp(t, ofOthers, line, page)
			}
		}
	}
	require.Regexp(t, ofOthers, "uvx berth dev")
	require.NotRegexp(t, ofOthers, "npx berth-server dev")
}

var (
	linked  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
)

// TestDocs_LinksLeadToWhatThereIs checks the links of every Markdown file to files and headings; of the pages of the site package site checks
// where they lead there.
func TestDocs_LinksLeadToWhatThereIs(t *testing.T) {
	t.Parallel()
	for _, page := range everyPage(t) {
		_, prose := blocksOf(t, page)
		for _, link := range linked.FindAllStringSubmatch(codeWords.ReplaceAllString(prose, "`code`"), -1) {
			if strings.Contains(link[1], "://") || strings.HasPrefix(link[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(link[1], "#")
			to := page
			if file != "" {
				to = path.Join(path.Dir(page), file)
			}
			_, err := os.Stat(filepath.Join("../..", to))
			if assert.NoError(t, err, "%s leads to %s", page, link[1]) && anchor != "" && strings.HasSuffix(to, ".md") {
				assert.Contains(t, anchorsOf(t, to), anchor, "%s leads to %s", page, link[1])
			}
		}
	}
}

var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

// anchorsOf gives the anchors of the headings of a page, as GitHub makes them.
func anchorsOf(t *testing.T, page string) (anchors []string) {
	text, err := os.ReadFile(filepath.Join("../..", page))
	require.NoError(t, err)
	for _, found := range heading.FindAllStringSubmatch(string(text), -1) {
		anchors = append(anchors, strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-"))
	}
	return anchors
}
