package record

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/berthdev/berth/impl/journal"
)

// mostRules bounds the rules that a difference names.
const mostRules = 5

// covering gives the ids of the rules that say most of a difference. They are about the operation, and the more so the more of this they have: the
// area of the resource, or that most rules of the operation are in, the verb of the operation in their id, and the member, the header or the status of the
// difference in their id or their sentence.
func covering(rules []Rule, x *Exchange, d Difference) []string {
	type scored struct {
		id    string
		score int
		among int // operations that its test exercises: one that is about few says more
	}
	var all []scored
	areas, most := map[string]int{}, 0
	for _, r := range rules {
		if concerns(r, x) {
			all = append(all, scored{r.ID, score(r, x, d), len(r.Operations)})
			areas[areaOf(r.ID)]++
			if slices.ContainsFunc(strings.Split(x.Path, "/"), func(step string) bool { return step == areaOf(r.ID) }) {
				areas[areaOf(r.ID)] += len(rules) // the resource's own
			}
			most = max(most, areas[areaOf(r.ID)])
		}
	}
	for i := range all {
		if areas[areaOf(all[i].id)] == most {
			all[i].score += ofArea
		}
	}

	slices.SortStableFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(strings.Count(a.id, "."), strings.Count(b.id, ".")), cmp.Compare(a.among, b.among), strings.Compare(a.id, b.id))
	})
	ids := []string{}
	for _, r := range all {
		if len(ids) == mostRules || r.score < all[0].score-1 {
			break
		}
		ids = append(ids, r.id)
	}
	return ids
}

// What counts for a rule.
const (
	ofArea = 3
	ofWord = 2
	ofVerb = 1
)

func areaOf(id string) string {
	area, _, _ := strings.Cut(id, ".")
	return area
}

// score is how much of a difference the rule has.
func score(r Rule, x *Exchange, d Difference) (n int) {
	parts := strings.Split(r.ID, ".")[1:]
	has := func(word string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.EqualFold(strings.ReplaceAll(part, "-", ""), word) })
	}
	for _, word := range words(x, d) {
		if has(word) {
			n += ofWord
		}
		if mentions(r.Says, word) {
			n += ofWord
		}
	}
	verb := x.Operation
	if i := strings.IndexFunc(verb, unicode.IsUpper); i > 0 {
		verb = verb[:i]
	}
	if has(verb) || verb == "update" && has("patch") {
		n += ofVerb
	}
	return n
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

// words gives the words of a difference that a rule about it has: the member, statuses, a header.
func words(x *Exchange, d Difference) (all []string) {
	if d.Kind == Status {
		return []string{d.Left, d.Right}
	}
	if x.Status >= http.StatusBadRequest {
		all = append(all, strconv.Itoa(x.Status))
	}
	if name, ok := strings.CutPrefix(d.Place, "header "); ok {
		return append(all, name)
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
