package kubernetes

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The chart gives berth the rights that the examination asks for, and no other: those for devices only with a class of them.
func TestRights_AreThoseOfTheChart(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../deploy/helm/berth/templates/rights.yaml")
	require.NoError(t, err)
	claiming := regexp.MustCompile(`(?s)\{\{- if \.Values\.kubernetes\.gpuClass \}\}(.*?)\{\{- end \}\}`)
	require.Equal(t, asked(rights), given(claiming.ReplaceAllString(string(text), "")))
	require.Equal(t, asked(deviceRights), given(strings.Join(claiming.FindAllString(string(text), -1), "")))

	_, everywhere, found := strings.Cut(string(text), "kind: ClusterRole\n")
	require.True(t, found)
	for _, r := range slices.Concat(rights, deviceRights) {
		require.Equal(t, r.everywhere, strings.Contains(everywhere, "resources: ["+r.resource+"]"), r.name())
	}
}

// given are the rights in a text of the chart.
func given(text string) map[string]string {
	all := map[string]string{}
	for _, rule := range regexp.MustCompile(`\{apiGroups: \[(.*?)\], resources: \[(.*?)\], verbs: \[(.*?)\]\}`).FindAllStringSubmatch(text, -1) {
		all[strings.Trim(rule[1], `"`)+" "+rule[2]] = rule[3]
	}
	return all
}

func asked(rights []right) map[string]string {
	all := map[string]string{}
	for _, r := range rights {
		all[r.group+" "+strings.TrimSuffix(r.name(), "."+r.group)] = strings.Join(r.verbs, ", ")
	}
	return all
}
