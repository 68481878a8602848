package kubernetes

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The chart gives berth the rights that the examination asks for, and no other.
func TestRights_AreThoseOfTheChart(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../deploy/helm/berth/templates/rights.yaml")
	require.NoError(t, err)
	given := map[string]string{}
	for _, rule := range regexp.MustCompile(`\{apiGroups: \[(.*?)\], resources: \[(.*?)\], verbs: \[(.*?)\]\}`).FindAllStringSubmatch(string(text), -1) {
		given[strings.Trim(rule[1], `"`)+" "+rule[2]] = rule[3]
	}

	asked := map[string]string{}
	for _, r := range rights {
		asked[r.group+" "+strings.TrimSuffix(r.name(), "."+r.group)] = strings.Join(r.verbs, ", ")
	}
	require.Equal(t, asked, given)
}
