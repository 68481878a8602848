package args_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/args"
)

func TestParse_SplitsAsAShellDoes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                          {},
		" a  b\t\nc ":               {"a", "b", "c"},
		`--name 'two words' "$X"`:   {"--name", "two words", "$X"},
		`a\ b "quote \" inside"`:    {"a b", `quote " inside`},
		`bash -c "sleep 1; echo *"`: {"bash", "-c", "sleep 1; echo *"},
		`''`:                        {""},
		`'{"cmd": ["a"]}' b`:        {`{"cmd": ["a"]}`, "b"},
		`{a} b`:                     {"{a}", "b"},
		`{"port": 80}`:              {"{port:", "80}"},
		`["cmd"]`:                   {"[cmd]"},
	} {
		command, err := args.Parse(text)
		require.NoError(t, err, text)
		require.ElementsMatch(t, want, command.Words, text)
		require.Nil(t, command.Entrypoint, text)
	}

	for _, text := range []string{`'open`, `"open`, `end\`} {
		_, err := args.Parse(text)
		require.ErrorContains(t, err, "args: ", text)
	}
}

func TestParse_TakesJSONThatNamesTheEntrypoint(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]args.Command{
		`{"cmd": ["-c", "it's 'so'"]}`:                             {Words: []string{"-c", "it's 'so'"}},
		` {"entrypoint": ["sh", "-c"], "cmd": ["sleep 1"]}` + "\n": {Entrypoint: []string{"sh", "-c"}, Words: []string{"sleep 1"}},
		`{"entrypoint": ["sh"]}`:                                   {Entrypoint: []string{"sh"}},
		`{"entrypoint": [], "cmd": [""]}`:                          {Entrypoint: []string{}, Words: []string{""}},
	} {
		command, err := args.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, command, text)
	}

	for _, text := range []string{
		`{"cmd": "sleep 1"}`, `{"cmd": null}`, `{"cmd": [1]}`, `{"cmd": [null]}`, `{"cmd": [], "env": []}`, `{"entrypoint": {}}`, `{"entrypoint": ["a"], "cmd": true}`,
	} {
		_, err := args.Parse(text)
		require.ErrorContains(t, err, `args: JSON must be {"cmd": [...]`, text)
	}
}
