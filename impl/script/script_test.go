package script

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func read(t *testing.T, text string) (*Script, Counts) {
	s, err := Parse(text)
	require.NoError(t, err)
	require.NoError(t, s.Check())
	return s, s.NewCounts()
}

// course gives all that comes of a job, each with the milliseconds before it.
func course(s *Script, c *Counts, j Job) (all []string) {
	played := s.Play(c, j)
	for {
		wait, e := played.Wait(), played.Event()
		text := e.Error
		if text == "" {
			text = string(e.Value)
		}
		all = append(all, strings.TrimSpace(wait.String()+" "+string(e.What)+" "+text))
		if e.What == Finish || e.What == Crashed {
			return all
		}
		played.Passed()
	}
}

func job(input string) Job {
	return Job{ID: "j", Worker: "w", Attempt: 2, Input: NewInput([]byte(input), 0)}
}

func TestPlay_GivesTheEventsInTheirOrder(t *testing.T) {
	t.Parallel()
	s, c := read(t, `{"answers":[{"match":[{"pointer":"/a","equals":1}],"delay":{"fixed":100},"progress":[{"after":40,"value":"{{/b}}"},{"value":2}],
		"chunks":[{"after":5,"value":"x{{attempt}}"},{"after":7,"value":[]}],"crash":{"after":3,"exitCode":9},"times":1},
		{"match":[{"pointer":"/a","equals":1}],"chunks":[{"value":"{{job.id}}"},{"value":"{{worker.id}}"}]},{"output":null},{"output":1}]}`)
	require.Equal(t, []string{"40ms progress {\"c\":[1.5]}", "0s progress 2", "65ms chunk \"x2\"", "7ms chunk []", "3ms crash"}, course(s, &c, job(`{"a":1,"b":{"c":[1.5]}}`)))
	require.Equal(t, []string{`0s chunk "j"`, `0s chunk "w"`, `0s finish ["j","w"]`}, course(s, &c, job(`{"a":1}`)))
	require.Equal(t, []string{"0s finish"}, course(s, &c, job(`{}`)))
	require.Equal(t, Counts{Jobs: 3, Used: []int64{1, 1, 1, 0}}, c)

	again, err := ReadCounts(c.Text())
	require.NoError(t, err)
	require.Equal(t, c, again)
}

func TestPlay_ProgressThatTakesLongerThanTheDelayIsTheDelay(t *testing.T) {
	t.Parallel()
	s, c := read(t, `{"answers":[{"delay":{"fixed":100},"progress":[{"after":400,"value":1}],"output":1}]}`)
	require.Equal(t, []string{"400ms progress 1", "0s finish 1"}, course(s, &c, job(`{}`)))
}

func TestPlay_DelaysAreThoseOfTheSeed(t *testing.T) {
	t.Parallel()
	draws := func(seed string) (all []time.Duration) {
		s, c := read(t, `{"seed":`+seed+`,"answers":[{"output":1,"delay":{"normal":{"mean":1,"deviation":86400000}}}]}`)
		for range 100 {
			all = append(all, s.Play(&c, job(`{}`)).Wait())
		}
		return all
	}
	first := draws("-1")
	require.Equal(t, first, draws("-1"))
	require.NotEqual(t, first, draws("1"))
	require.Contains(t, first, time.Duration(0))
	require.Contains(t, first, 24*time.Hour)
	for _, d := range first {
		require.Zero(t, d%time.Millisecond)
	}
}

func TestStart_IsShortAsOftenAsItsChance(t *testing.T) {
	t.Parallel()
	s, c := read(t, `{"answers":[{"output":1}],"coldStart":{"pull":1,"init":2,"load":3,"warm":4,"flashBoot":{"chance":0.25,"warm":7}}}`)
	short := 0
	for range 1000 {
		up, ready, ok := s.Start(&c)
		require.True(t, ok)
		if up == 0 {
			short++
			require.Equal(t, 7*time.Millisecond, ready)
			continue
		}
		require.Equal(t, []time.Duration{time.Millisecond, 9 * time.Millisecond}, []time.Duration{up, ready})
	}
	require.InDelta(t, 250, short, 50)
	require.EqualValues(t, 1000, c.Workers)

	plain, c := read(t, `{"answers":[{"output":1}]}`)
	_, _, ok := plain.Start(&c)
	require.False(t, ok)
}

func TestTemplates_AreBounded(t *testing.T) {
	t.Parallel()
	long := `{"x":"` + strings.Repeat("x", MostInput-8) + `"}`
	s, c := read(t, `{"answers":[{"output":{"all":["{{input}}","`+strings.Repeat("{{/x}}", 18)+`"]}}]}`)
	require.Greater(t, len(course(s, &c, job(long))[0]), 18*MostInput)

	s, c = read(t, `{"answers":[{"chunks":[{"value":"`+strings.Repeat("{{/x}}", 10)+`"},{"value":"`+strings.Repeat("{{/x}}", 10)+`"}]}]}`)
	all := course(s, &c, job(long))
	require.Contains(t, all[2], "longer than 20000000 bytes", "the list of the chunks")
	all = course(s, &c, Job{Input: NewInput(nil, MostInput+1)})
	require.Contains(t, all[0], "an input of 1048577 bytes")
}

func TestTemplates_KeepWhatIsNone(t *testing.T) {
	t.Parallel()
	s, c := read(t, `{"answers":[{"output":"{ {{/a}}}} }} {{"}]}`)
	require.Equal(t, []string{`0s finish "{ <&>}} }} {{"`}, course(s, &c, job(`{"a":"<&>"}`)))
	s, c = read(t, `{"answers":[{"output": {"b" : 1e400, "a":"<"}}]}`)
	require.Equal(t, []string{`0s finish {"b" : 1e400, "a":"<"}`}, course(s, &c, job(`{}`)), "byte for byte")
}

func TestCheck_NamesThePlace(t *testing.T) {
	t.Parallel()
	s, err := Parse(`{"answers":[{"output":1},{"output":{"a/b":["{{nope}}"]}}]}`)
	require.NoError(t, err)
	err = s.Check()
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, "/answers/1/output/a~1b/0: there is no template {{nope}}")

	two, err := Parse(`{"answers":[{"output":{"b":"{{x}}","a":"{{y}}","c":"{{z}}"}}]}`)
	require.NoError(t, err)
	for range 50 {
		require.ErrorContains(t, two.Check(), "/answers/0/output/a: there is no template {{y}}", "of several always the same one")
	}

	text, err := s.Text()
	require.NoError(t, err)
	require.True(t, json.Valid([]byte(text)))
}
