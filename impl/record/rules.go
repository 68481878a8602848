package record

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/berthdev/berth/impl/journal"
)

// mostRules bounds the rules that a difference names.
const mostRules = 5

// covering gives the ids of the rules that say something of a difference: those about the operation whose id or sentence has the member, the
// header or the status, else those with the shortest ids, which are about the operation as a whole.
func covering(rules []Rule, x *Exchange, d Difference) []string {
	type scored struct {
		id    string
		score int
	}
	var all []scored
	wanted := words(d)
	for _, r := range rules {
		if !concerns(r, x) {
			continue
		}
		score := 0
		parts := strings.Split(r.ID, ".")
		for _, word := range wanted {
			if slices.ContainsFunc(parts, func(part string) bool { return strings.EqualFold(strings.ReplaceAll(part, "-", ""), word) }) {
				score += 2
			}
			if mentions(r.Says, word) {
				score += 2
			}
		}
		all = append(all, scored{r.ID, score})
	}

	slices.SortStableFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(strings.Count(a.id, "."), strings.Count(b.id, ".")), strings.Compare(a.id, b.id))
	})
	ids := []string{}
	for _, r := range all {
		if len(ids) == mostRules || r.score == 0 && (len(ids) > 0 && all[0].score > 0 || len(ids) == 1) {
			break
		}
		ids = append(ids, r.id)
	}
	return ids
}

// concerns reports whether the rule is about the operation of an exchange: of GraphQL, about a field that it asks for.
func concerns(r Rule, x *Exchange) bool {
	if x.Operation != journal.OperationGraphQL {
		return slices.Contains(r.Operations, x.Operation)
	}
	if !strings.HasPrefix(r.ID, journal.OperationGraphQL+".") {
		return false
	}
	return slices.ContainsFunc(x.Fields, func(field string) bool { return mentions(r.Says, field) }) || strings.Count(r.ID, ".") == 1
}

// words gives the words of a difference that a rule about it has: the members on the way to its place, a status, a header.
func words(d Difference) (all []string) {
	switch {
	case d.Kind == Status:
		return []string{d.Left, d.Right}
	case strings.HasPrefix(d.Place, "header "):
		return []string{strings.TrimPrefix(d.Place, "header ")}
	}
	for step := range strings.SplitSeq(strings.TrimPrefix(d.Place, "body"), "/") {
		if step = strings.TrimSpace(step); step != "" && strings.ContainsFunc(step, unicode.IsLetter) && step != "left" && step != "right" {
			all = append(all, step)
		}
	}
	return all
}

// mentions reports whether the word stands in the sentence.
func mentions(sentence, word string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(sentence, func(r rune) bool { return !isWord(r) }), func(one string) bool { return strings.EqualFold(one, word) })
}

func shortenedTo(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// plain gives a body as the validator reads it, or why it is no JSON.
func plain(body []byte) (value any, err error) {
	err = json.Unmarshal(body, &value)
	return value, err
}
