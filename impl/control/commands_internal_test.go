package control

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestCommand_OnWhatIsStored(t *testing.T) {
	t.Parallel()
	list := func(words ...string) *[]string { return &words }
	none := &[]string{}
	const both = `{"cmd":["-b"],"entrypoint":["sh"]}`
	for name, one := range map[string]struct {
		command      Command
		stored, want string
	}{
		"nothing is asked for":        {Command{}, "it's", "it's"},
		"args":                        {Command{Args: new("-a")}, "-b", "-a"},
		"no args":                     {Command{Args: new("")}, "-b", ""},
		"a cmd":                       {Command{Cmd: list("-c", "a b")}, "-b", "-c 'a b'"},
		"a cmd beside an entrypoint":  {Command{Cmd: list("-c")}, both, `{"cmd":["-c"],"entrypoint":["sh"]}`},
		"an entrypoint beside a cmd":  {Command{Entrypoint: list("bash")}, "-b", `{"cmd":["-b"],"entrypoint":["bash"]}`},
		"both":                        {Command{Cmd: list("-c"), Entrypoint: list("bash")}, "-b", `{"cmd":["-c"],"entrypoint":["bash"]}`},
		"no cmd":                      {Command{Cmd: none}, both, `{"entrypoint":["sh"]}`},
		"no entrypoint":               {Command{Entrypoint: none}, both, "-b"},
		"args and the same cmd":       {Command{Args: new(`"-a"`), Cmd: list("-a")}, "-b", `"-a"`},
		"args and the same as a list": {Command{Args: new(both), Cmd: list("-b"), Entrypoint: list("sh")}, "", both},
		"args and no entrypoint":      {Command{Args: new("-a"), Entrypoint: none}, both, "-a"},
	} {
		args, err := one.command.on(one.stored)
		require.NoError(t, err, name)
		require.Equal(t, one.want, args, name)
	}

	for name, one := range map[string]struct {
		command      Command
		stored, says string
	}{
		"another cmd":        {Command{Args: new("-a"), Cmd: list("-b")}, "-b", "cmd: args says something else"},
		"no cmd":             {Command{Args: new("-a"), Cmd: none}, "", "cmd: args says something else"},
		"another entrypoint": {Command{Args: new(both), Entrypoint: list("bash")}, "", "entrypoint: args says something else"},
		"another of both":    {Command{Args: new(both), Cmd: list("-c"), Entrypoint: list("bash")}, "", "cmd: args says something else"},
		"unreadable":         {Command{Args: new("it's"), Cmd: list("-b")}, "", "args: "},
		"stored unreadable":  {Command{Entrypoint: list("bash")}, "it's", "args: "},
	} {
		_, err := one.command.on(one.stored)
		require.Equal(t, compute.Rejected, compute.CodeOf(err), name)
		require.ErrorContains(t, err, one.says, name)
	}
}

func TestCommand_ChangesNothingUnlessAsked(t *testing.T) {
	t.Parallel()
	args, err := Command{}.change("it's")
	require.NoError(t, err)
	require.Nil(t, args)
	args, err = Command{Args: new("")}.change("-b")
	require.NoError(t, err)
	require.Empty(t, *args)
	args, err = Command{Cmd: &[]string{"-a"}}.change("-b")
	require.NoError(t, err)
	require.Equal(t, "-a", *args)
	_, err = Command{Cmd: &[]string{"-a"}}.change("it's")
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
}

func TestLists_AreNeverNil(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][2][]string{
		"": {{}, {}}, "-a 'b c'": {{"-a", "b c"}, {}}, `{"cmd":["-a"],"entrypoint":["sh","-c"]}`: {{"-a"}, {"sh", "-c"}}, "it's": {{}, {}},
	} {
		cmd, entrypoint := Lists(args)
		require.Equal(t, want, [2][]string{cmd, entrypoint}, args)
	}
}

func TestCheckContainer_NamesWhatNoContainerCanHave(t *testing.T) {
	t.Parallel()
	require.NoError(t, checkContainer(nil, "", nil))
	require.NoError(t, checkContainer([]string{"80/http", "8080/tcp"}, "-a 'b c'", map[string]string{"a.b-c d": "x=y", "É": ""}))
	for says, one := range map[string]struct {
		ports []string
		args  string
		env   map[string]string
	}{
		"ports: port 80 is listed twice": {[]string{"80/http", "22/tcp", "80/tcp"}, "", nil}, `env: ""`: {nil, "", map[string]string{"A": "1", "": "1"}},
		`env: "A=B"`: {nil, "", map[string]string{"A=B": "1"}}, `env: "A\x00"`: {nil, "", map[string]string{"A\x00": "1"}},
		`env: "C"`: {nil, "", map[string]string{"A": "1", "C": "\x00"}}, "args: ": {nil, "it's", nil},
	} {
		err := checkContainer(one.ports, one.args, one.env)
		require.Equal(t, compute.Rejected, compute.CodeOf(err), says)
		require.ErrorContains(t, err, says)
	}
}
