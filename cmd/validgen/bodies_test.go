package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// maker makes bodies for a schema: valid ones, and mutations of them.
type maker struct {
	random *rand.Rand
	root   map[string]any
	odd    []string // JSON texts that some schema somewhere refuses, or just accepts
}

func newMaker(root map[string]any, seed uint64) *maker {
	m := &maker{rand.New(rand.NewPCG(seed, 2)), root, []string{
		`null`, `true`, `false`, `""`, `"x"`, `"é"`, `"\u0000"`, `"80/tcp"`, `"99999/tcp"`, `"ftp://x/"`, `"http://x/"`, `"relative"`,
		`"2024-02-29T23:59:59Z"`, `"2023-02-29T23:59:59Z"`, `"2024-01-01T00:00:00.123+02:00"`, `"2024-01-01 00:00:00Z"`, `"2024-01-01T24:00:00Z"`,
		`0`, `-0`, `1`, `-1`, `2`, `1.5`, `5.0`, `1e2`, `15e-1`, `1e99999`, `9223372036854775807`, `9223372036854775808`, `-9223372036854775809`, `1e40`,
		`[]`, `[null]`, `[1,1]`, `["a","a"]`, `{}`, `{"a":"b"}`, `{"a":1}`, `{"kind":"circle"}`, `{"kind":1,"side":2}`, `{"side":1,"kind":"square"}`,
	}}
	m.collect(root)
	return m
}

// longestText is how many characters a text has that is made for a check of its length: very long ones are for the rules.
const longestText = 1_000

// collect adds the values about the edges of every check in the document.
func (m *maker) collect(node any) {
	switch n := node.(type) {
	case []any:
		for _, v := range n {
			m.collect(v)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(n)) {
			m.collect(n[key])
			number, isNumber := n[key].(json.Number)
			switch {
			case isNumber && strings.Contains(key, "inimum") || isNumber && strings.Contains(key, "aximum"):
				m.odd = append(m.odd, around(string(number))...)
			case isNumber && strings.HasSuffix(key, "Length"):
				count, _ := number.Int64()
				if count > longestText {
					continue
				}
				for d := max(count-1, 0); d <= count+1; d++ {
					m.odd = append(m.odd, `"`+strings.Repeat("é", int(d))+`"`)
				}
			case key == "enum":
				for _, v := range n[key].([]any) {
					m.odd = append(m.odd, encode(v))
				}
			case key == "const":
				m.odd = append(m.odd, encode(n[key]))
			}
		}
	}
}

// around gives a number and its neighbours: next to it for integers, and closer than a float64 can distinguish.
func around(number string) []string {
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return nil
	}
	var near []string
	for _, d := range []string{"0", "1", "-1", "0.5", "1e-25", "-1e-25"} {
		delta, _ := new(big.Rat).SetString(d)
		text := new(big.Rat).Add(r, delta).FloatString(26)
		near = append(near, strings.TrimSuffix(strings.TrimRight(text, "0"), "."))
	}
	return near
}

func encode(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// oddOne gives a fresh value: mutations change values in place.
func (m *maker) oddOne() any {
	decoder := json.NewDecoder(strings.NewReader(m.odd[m.random.IntN(len(m.odd))]))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		panic(err)
	}
	return value
}

// pick gives one of several values.
func pick[T any](m *maker, values []T) T { return values[m.random.IntN(len(values))] }

// slip is true now and then: for a value that only just misses what the schema asks for, which mutations rarely hit.
func (m *maker) slip() bool { return m.random.IntN(40) == 0 }

// valid makes a value that the schema accepts, but for slips.
func (m *maker) valid(node any, depth int) any {
	schema := node.(map[string]any)
	if ref, ok := schema["$ref"].(string); ok {
		var at any = m.root
		for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			at = at.(map[string]any)[step]
		}
		return m.valid(at, depth)
	}

	for _, key := range []string{"anyOf", "oneOf"} {
		if branches, ok := schema[key].([]any); ok {
			return m.valid(pick(m, branches), depth)
		}
	}

	if constant, ok := schema["const"]; ok {
		return constant
	}

	kind := schema["type"]
	if enum, ok := schema["enum"].([]any); ok {
		if _, several := kind.([]any); several && m.slip() {
			return nil
		}
		return pick(m, enum)
	}

	if kinds, ok := kind.([]any); ok {
		kind = pick(m, kinds)
	}
	switch kind {
	case "string":
		return m.text(schema)
	case "integer", "number":
		return m.number(schema, kind == "integer")
	case "boolean":
		return m.random.IntN(2) == 0
	case "array":
		return m.array(schema, depth)
	case "object":
		return m.object(schema, depth)
	case "null":
		return nil
	}

	return m.oddOne()
}

func (m *maker) array(schema map[string]any, depth int) any {
	lowest, highest := limit(schema, "minItems", 0), limit(schema, "maxItems", 3)
	items := []any{}
	if m.random.IntN(8) > 0 { // long ones seldom: one slip in any of their items makes the body invalid
		highest = min(highest, lowest+3)
	}
	if depth < 4 {
		highest = lowest + m.random.IntN(highest-lowest+1)
	} else {
		highest = lowest
	}
	for range highest {
		items = append(items, m.valid(schema["items"], depth+1))
	}
	return items
}

func (m *maker) object(schema map[string]any, depth int) any {
	members := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)

	keep := m.random.IntN(8) // of eight
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) && !m.slip() || depth < 4 && m.random.IntN(8) < keep/(depth+1) {
			members[name] = m.valid(properties[name], depth+1)
		}
	}

	if dependent, ok := schema["dependentRequired"].(map[string]any); ok && m.random.IntN(4) > 0 {
		for range dependent { // as often as one may call for another
			for _, name := range slices.Sorted(maps.Keys(dependent)) {
				for _, need := range dependent[name].([]any) {
					if _, given := members[name]; given && members[need.(string)] == nil {
						members[need.(string)] = m.valid(properties[need.(string)], depth+1)
					}
				}
			}
		}
	}

	if extra, ok := schema["additionalProperties"].(map[string]any); ok {
		lowest := limit(schema, "minProperties", 0)
		for i := range lowest + m.random.IntN(3) {
			members[fmt.Sprintf("m/%d~é", i)] = m.valid(extra, depth+1)
		}
	}

	for highest := limit(schema, "maxProperties", -1); highest >= 0 && len(members) > highest && m.random.IntN(8) > 0; {
		name := pick(m, slices.Sorted(maps.Keys(members)))
		if slices.Contains(required, any(name)) {
			break
		}
		delete(members, name)
	}

	return members
}

func limit(schema map[string]any, keyword string, absent int) int {
	if n, ok := schema[keyword].(json.Number); ok {
		count, _ := n.Int64()
		return int(count)
	}
	return absent
}

func (m *maker) number(schema map[string]any, whole bool) any {
	bound := func(keyword string, by, absent float64) float64 {
		if n, ok := schema[keyword].(json.Number); ok {
			f, _ := n.Float64()
			return f + by
		}
		return absent
	}

	lowest := bound("minimum", 0, bound("exclusiveMinimum", 1, -2))
	highest := bound("maximum", 0, bound("exclusiveMaximum", -1, lowest+100))
	for _, keyword := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} {
		if n, ok := schema[keyword].(json.Number); ok && m.slip() {
			return json.Number(pick(m, around(string(n))))
		}
	}

	f := pick(m, []float64{lowest, highest, lowest + m.random.Float64()*(highest-lowest)})
	if whole {
		written := strconv.FormatInt(int64(f), 10)
		return json.Number(written + pick(m, []string{"", "", "", ".0", "e0", ".00E0"}))
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

func (m *maker) text(schema map[string]any) string {
	switch schema["format"] {
	case "date-time":
		zone := pick(m, []string{"Z", ".25Z", "-03:30", "+23:59"})
		if m.slip() {
			zone = pick(m, []string{"", ".Z", ",5Z", "+24:00", "-01:60", "+0100", " Z"})
		}
		return fmt.Sprintf("20%02d-0%d-1%dT1%d:00:00%s", m.random.IntN(100), 1+m.random.IntN(9), m.random.IntN(10), m.random.IntN(10), zone)
	case "uri":
		return pick(m, []string{"http", "https"}) + "://example.org/x?y=1"
	}

	if pattern, ok := schema["pattern"].(string); ok {
		parsed, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			panic(err)
		}
		var b strings.Builder
		m.match(&b, parsed)
		return b.String()
	}

	lowest := limit(schema, "minLength", 0)
	highest := min(limit(schema, "maxLength", lowest+6), lowest+longestText)
	var b strings.Builder
	for range lowest + m.random.IntN(highest-lowest+1) {
		b.WriteRune(pick(m, []rune(`abcdef 0/~"\é😀<`)))
	}

	return b.String()
}

// match writes a text that the expression matches.
func (m *maker) match(b *strings.Builder, e *syntax.Regexp) {
	repeat := func(lowest, highest int) {
		for range lowest + m.random.IntN(highest-lowest+1) {
			m.match(b, e.Sub[0])
		}
	}

	switch e.Op {
	case syntax.OpLiteral:
		b.WriteString(string(e.Rune))
	case syntax.OpCharClass:
		i := m.random.IntN(len(e.Rune)/2) * 2
		b.WriteRune(e.Rune[i] + rune(m.random.IntN(min(int(e.Rune[i+1]-e.Rune[i]), 90)+1)))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteRune(pick(m, []rune("x é")))
	case syntax.OpAlternate:
		m.match(b, pick(m, e.Sub))
	case syntax.OpStar:
		repeat(0, 3)
	case syntax.OpPlus:
		repeat(1, 3)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpRepeat:
		repeat(e.Min, max(e.Max, e.Min))
	default:
		for _, s := range e.Sub {
			m.match(b, s)
		}
	}
}

// mutate changes one place of the value: replaces, removes, adds or copies.
func (m *maker) mutate(value any) any {
	if m.random.IntN(6) == 0 {
		return m.oddOne()
	}
	switch v := value.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v)) // in order, so that a seed replays
		if len(v) == 0 || m.random.IntN(6) == 0 {
			v[fmt.Sprintf("m%d", m.random.IntN(3))] = m.oddOne()
			return v
		}

		switch name := pick(m, names); m.random.IntN(6) {
		case 0:
			delete(v, name)
		case 1:
			v[name] = clone(v[pick(m, names)])
		default:
			v[name] = m.mutate(v[name])
		}
	case []any:
		if len(v) == 0 || m.random.IntN(4) == 0 {
			return append(v, m.oddOne())
		}
		i := m.random.IntN(len(v))
		if m.random.IntN(4) == 0 {
			return append(v, clone(v[i]))
		}
		v[i] = m.mutate(v[i])
	case string:
		if r := []rune(v); len(r) > 0 && m.random.IntN(2) == 0 {
			letters := "x0/é"
			if strings.Contains(v, "://") {
				letters = "x0/" // the oracle's URIs may have any letter
			}
			i := m.random.IntN(len(r))
			return string(slices.Insert(slices.Delete(r, i, i+m.random.IntN(2)), i, pick(m, []rune(letters))))
		}
		return m.oddOne()
	default:
		return m.oddOne()
	}

	return value
}

func clone(value any) any {
	switch v := value.(type) {
	case map[string]any:
		c := map[string]any{}
		for k := range v {
			c[k] = clone(v[k])
		}
		return c
	case []any:
		c := []any{}
		for i := range v {
			c = append(c, clone(v[i]))
		}
		return c
	}

	return value
}
