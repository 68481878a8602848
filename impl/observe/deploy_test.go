package observe_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// deploy is where the alerts and the dashboard are.
var deploy = filepath.Join("..", "..", "deploy")

var (
	ourMetric = regexp.MustCompile(`\bberth_[a-z_]+`)
	histogram = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// listedMetrics gives the metrics that METRICS.md lists, with their kinds.
func listedMetrics(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open("METRICS.md")
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	listed := map[string]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if cells := strings.Split(s.Text(), "|"); len(cells) > 5 && strings.HasPrefix(cells[1], " `berth_") {
			listed[strings.Trim(cells[1], " `")] = strings.TrimSpace(cells[2])
		}
	}
	require.NotEmpty(t, listed)
	return listed
}

// metricsOf gives the metrics of berth in a text. A histogram is named by one of its series, and nothing else is.
func metricsOf(t *testing.T, text string, listed map[string]string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, name := range ourMetric.FindAllString(text, -1) {
		if listed[name] == "" {
			base := histogram.ReplaceAllString(name, "")
			require.Equal(t, "histogram", listed[base], "%s is not in METRICS.md", name)
			name = base
		}
		all[name] = true
	}
	return all
}

func TestAlerts_NameMetricsThatAreServed(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"berth.rules.yaml", "berth.rules.test.yaml"} {
		text, err := os.ReadFile(filepath.Join(deploy, "prometheus", file))
		require.NoError(t, err)
		require.NotEmpty(t, metricsOf(t, string(text), listedMetrics(t)))
	}
}

// dashboard is what Grafana needs of one; what else there is in the file is refused.
type dashboard struct {
	UID           string `json:"uid"`
	Title         string `json:"title"`
	Description   string `json:"description"`
	Tags          []string
	SchemaVersion int `json:"schemaVersion"`
	Version       int
	Editable      bool
	Refresh       string
	Timezone      string
	Time          struct{ From, To string }
	GraphTooltip  int `json:"graphTooltip"`
	Annotations   struct{ List []any }
	Links         []any
	Templating    struct {
		List []struct {
			Name, Label, Type, Definition, AllValue string
			Query, Current, Datasource              any
			Refresh, Sort                           int
			IncludeAll, Multi                       bool
		}
	}
	Panels []panel
}

type panel struct {
	ID                       int `json:"id"`
	Type, Title, Description string
	Datasource               *source
	GridPos                  struct{ X, Y, W, H int }
	FieldConfig              struct {
		Defaults  map[string]any
		Overrides []any
	}
	Options   map[string]any
	Targets   []target
	Collapsed bool
	Panels    []panel
}

type source struct{ Type, UID string }

type target struct {
	Datasource                            source
	EditorMode, Expr, LegendFormat, RefID string
	Range                                 bool
}

func readDashboard(t *testing.T) (d dashboard, text string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(deploy, "grafana", "berth.json"))
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&d))
	return d, string(content)
}

func TestDashboard_IsOneThatGrafanaTakes(t *testing.T) {
	t.Parallel()
	d, _ := readDashboard(t)
	require.Equal(t, "berth", d.UID)
	require.GreaterOrEqual(t, d.SchemaVersion, 36, "data sources are objects")

	variables := map[string]bool{"__rate_interval": true}
	for _, v := range d.Templating.List {
		variables[v.Name] = true
	}
	ids, places := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		require.False(t, ids[p.ID], "%s: its id is another one's", p.Title)
		ids[p.ID] = true
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				require.Empty(t, places[at], "%s lies over another one", p.Title)
				places[at] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}

		require.Contains(t, []string{"stat", "timeseries"}, p.Type, p.Title)
		require.NotEmpty(t, p.FieldConfig.Defaults["unit"], p.Title)
		require.NotEmpty(t, p.Targets, p.Title)
		for _, one := range p.Targets {
			require.Equal(t, source{"prometheus", "${datasource}"}, one.Datasource, p.Title)
			for _, name := range regexp.MustCompile(`\$(\w+)`).FindAllStringSubmatch(one.Expr, -1) {
				require.True(t, variables[name[1]], "%s: there is no variable %s", p.Title, name[1])
			}
		}
	}
}

func TestDashboard_ShowsEveryMetric(t *testing.T) {
	t.Parallel()
	_, text := readDashboard(t)
	listed := listedMetrics(t)
	shown := metricsOf(t, text, listed)
	for name := range listed {
		require.True(t, shown[name], "%s is in no panel", name)
	}
}
