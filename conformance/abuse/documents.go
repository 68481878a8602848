package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// document is a body of a kind that is made to be costly. size says how large: at 1 it has about a megabyte or as much as makes
// it costly, and what comes without a key has less.
type document struct {
	name string
	body func(size float64) string
}

// query gives the body of a document.
func query(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"query":` + string(quoted) + `}`
}

// with gives the body of a document with variables.
func with(text, variables string) string {
	return strings.TrimSuffix(query(text), "}") + `,"variables":` + variables + `}`
}

// list gives what each gives, n times, with a comma between.
func list(n int, each func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(each(i))
	}
	return b.String()
}

// many repeats text n times, with %d in it replaced by the number.
func many(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "%d", strconv.Itoa(i)))
	}
	return b.String()
}

// of gives so much of n.
func of(size float64, n int) int { return int(size * float64(n)) }

// documents are the kinds.
func documents() []document {
	return slices.Concat(costlyBodies(), costlyTexts(), costlySelections(), costlyFragments(), costlyLists(), costlyAnswers())
}

// costlyBodies cost the reader of JSON.
func costlyBodies() []document {
	return []document{
		{"members below a long name", func(size float64) string {
			return `{"query":"{gpuTypes{id}}","variables":{"` + strings.Repeat("n", of(size, 500_000)) + `":{` +
				list(of(size, 55_000), func(i int) string { return `"` + strconv.FormatInt(int64(i), 36) + `":0` }) + `}}}`
		}},
		{"many members", func(size float64) string {
			return with(`{gpuTypes{id}}`, `{`+list(of(size, 100_000), func(i int) string { return fmt.Sprintf(`"%x":0`, i) })+`}`)
		}},

		{"long names nested", func(size float64) string {
			name := strings.Repeat("n", 2_000)
			depth := of(size, 400)
			return with(`{gpuTypes{id}}`, strings.Repeat(`{"`+name+`":`, depth)+`0`+strings.Repeat(`}`, depth))
		}},
		{"arrays nested", func(size float64) string {
			depth := of(size, 490_000)
			return with(`{gpuTypes{id}}`, `{"a":`+strings.Repeat(`[`, depth)+strings.Repeat(`]`, depth)+`}`)
		}},
		{"many empty objects", func(size float64) string {
			return with(`{gpuTypes{id}}`, `{"a":[`+list(of(size, 330_000), func(int) string { return `{}` })+`]}`)
		}},

		{"a list of wrong values", func(size float64) string {
			return with(`query($i:[String!]){gpuTypes(input:{ids:$i}){id}}`, `{"i":[`+list(of(size, 480_000), func(int) string { return `0` })+`]}`)
		}},
		{"a huge number", func(size float64) string {
			return with(`query($n:Int){gpuTypes{lowestPrice(input:{gpuCount:$n}){minVcpu}}}`, `{"n":`+strings.Repeat("9", of(size, 1_000_000))+`}`)
		}},
		{"a huge exponent", func(size float64) string {
			return with(`query($n:Float){gpuTypes{lowestPrice(input:{gpuCount:1}){minVcpu}}}`, `{"n":1e`+strings.Repeat("9", of(size, 1_000_000))+`}`)
		}},
	}
}

// costlyTexts cost the reader of GraphQL.
func costlyTexts() []document {
	return []document{
		{"a huge string", func(size float64) string {
			return query(`{gpuTypes(input:{id:"` + strings.Repeat("x", of(size, 1_000_000)) + `"}){id}}`)
		}},
		{"a string of escapes", func(size float64) string {
			return query(`{gpuTypes(input:{id:"` + strings.Repeat(`\u0041`, of(size, 140_000)) + `"}){id}}`)
		}},
		{"a block string", func(size float64) string {
			return query(`{gpuTypes(input:{id:"""` + strings.Repeat("\n x", of(size, 250_000)) + `"""}){id}}`)
		}},
		{"a comment", func(size float64) string {
			return query("{gpuTypes{id}} " + strings.Repeat("#\n", of(size, 320_000)))
		}},
		{"deep selections", func(size float64) string {
			return query(strings.Repeat(`{a`, of(size, 490_000)) + strings.Repeat(`}`, of(size, 490_000)))
		}},
		{"deep lists", func(size float64) string {
			return query(`{gpuTypes(input:{ids:` + strings.Repeat(`[`, of(size, 450_000)) + strings.Repeat(`]`, of(size, 450_000)) + `}){id}}`)
		}},
		{"deep types", func(size float64) string {
			return query(`query($a:` + strings.Repeat(`[`, of(size, 450_000)) + `Int` + strings.Repeat(`]`, of(size, 450_000)) + `){gpuTypes{id}}`)
		}},
	}
}

// costlySelections have very many fields.
func costlySelections() []document {
	const prices = `{id lowestPrice(input:{gpuCount:1}){minimumBidPrice uninterruptablePrice stockStatus availableGpuCounts minVcpu minMemory} displayName memoryInGb maxGpuCount}`

	return []document{
		{"many fields", func(size float64) string {
			return query(`{gpuTypes{` + strings.Repeat("id ", of(size, 330_000)) + `}}`)
		}},
		{"fields that must be merged", func(size float64) string {
			return query(`{` + many(240, `gpuTypes{id} `) + `}`)
		}},
		{"fields that must be merged, nested", func(size float64) string {
			return query(`{` + strings.Repeat(`gpuTypes{lowestPrice(input:{gpuCount:1}){minVcpu minMemory} lowestPrice(input:{gpuCount:1}){minVcpu minMemory}} `, 60) + `}`)
		}},
		{"many aliases", func(size float64) string { return query(`{` + many(of(size, 60_000), `a%d:gpuTypes{id} `) + `}`) }},
		{"as much as is allowed", func(size float64) string { return query(`{` + many(40, `a%d:gpuTypes`+prices+` `) + `}`) }},
		{"lists in lists", func(size float64) string {
			return query(`{` + many(45, `a%d:dataCenters{id gpuAvailability{gpuTypeId displayName stockStatus available id}} `) + `}`)
		}},
	}
}

// costlyFragments have fragments that cost more than they look.
func costlyFragments() []document {
	return []document{
		{"fragments in a ring", func(size float64) string {
			n := of(size, 1_000)
			var b strings.Builder
			b.WriteString(`{...f0}`)
			for i := range n {
				fmt.Fprintf(&b, ` fragment f%d on Query{...f%d}`, i, (i+1)%n)
			}
			return query(b.String())
		}},
		{"fragments that fan out", func(size float64) string {
			return query(`{...f0}` + many(100, ` fragment f%d on Query{...F%d ...F%d ...F%d}`) + strings.Join(fanOut(100), ""))
		}},
		{"many fragments", func(size float64) string {
			return query(`{gpuTypes{` + many(450, `...f%d `) + `}}` + many(450, ` fragment f%d on GpuType{id}`))
		}},
		{"fragments and fields to merge", func(size float64) string {
			return query(`{gpuTypes{` + many(160, `...f%d `) + `}}` + many(160, ` fragment f%d on GpuType{id displayName}`))
		}},
	}
}

// costlyLists have very many of what a document has few of.
func costlyLists() []document {
	return []document{
		{"many variables", func(size float64) string {
			return query(`query(` + many(of(size, 60_000), `$v%d:Int `) + `){gpuTypes{id}}`)
		}},
		{"many uses of variables", func(size float64) string {
			return query(`query(` + many(700, `$v%d:String `) + `){` + many(40, `gpuTypes(input:{ids:[`+many(20, `$v%d `)+`]}){id} `) + `}`)
		}},
		{"many arguments", func(size float64) string { return query(`{gpuTypes(` + many(of(size, 80_000), `a%d:1 `) + `){id}}`) }},
		{"many directives", func(size float64) string {
			return query(`{gpuTypes{id ` + strings.Repeat(`@include(if:true) `, 700) + `}}`)
		}},
		{"many directives of one place", func(size float64) string {
			return query(`{gpuTypes{id ` + strings.Repeat(`@skip(if:false) `, of(size, 60_000)) + `}}`)
		}},
		{"many operations", func(size float64) string {
			return with(many(of(size, 1_200), `query q%d{gpuTypes{id}} `), `{}`)
		}},
		{"a long list", func(size float64) string {
			return query(`{gpuTypes(input:{ids:[` + strings.Repeat(`"a" `, of(size, 240_000)) + `]}){id}}`)
		}},
		{"large objects as arguments", func(size float64) string {
			return query(`{` + strings.Repeat(`gpuTypes(input:{ids:["`+strings.Repeat("x", 900)+`"]}){id} `, 100) + `}`)
		}},
	}
}

// costlyAnswers cost their answers.
func costlyAnswers() []document {
	const introspection = `{__schema{types{name kind description fields(includeDeprecated:true){name description args{name type{...T}} type{...T} isDeprecated}` +
		` inputFields{name type{...T}} interfaces{...T} enumValues{name} possibleTypes{...T}} directives{name args{name}}}}` +
		` fragment T on __Type{kind name ofType{kind name ofType{kind name ofType{kind name}}}}`

	return []document{
		{"introspection", func(float64) string { return query(introspection) }},
		{"introspection, nested", func(float64) string {
			return query(`{__schema{types{fields{type{fields{type{fields{type{fields{name}}}}}}}}}}`)
		}},
		{"introspection, aliased", func(float64) string {
			return query(`{` + many(40, `a%d:__schema{types{fields{name args{name type{name}} type{name}}}} `) + `}`)
		}},
		{"unknown fields", func(size float64) string { return query(`{` + many(480, `unknown%d `) + `}`) }},
		{"many errors", func(size float64) string {
			return query(`{` + many(45, `a%d:gpuTypes{lowestPrice(input:{gpuCount:0}){minVcpu}} `) + `}`)
		}},
		{"another encoding", func(size float64) string { return "\xff\xfe" + strings.Repeat("{\x00", of(size, 500_000)) }},
		{"spaces", func(size float64) string { return strings.Repeat(" ", of(size, 1_000_000)) + query(`{gpuTypes{id}}`) }},
	}
}

// fanOut are the fragments of a document in which each uses the next one three times.
func fanOut(n int) []string {
	all := make([]string, n)
	for i := range n {
		next := fmt.Sprintf(`...f%d`, i+1)
		if i == n-1 {
			next = `gpuTypes{id}`
		}
		all[i] = fmt.Sprintf(` fragment F%d on Query{%s}`, i, next)
	}
	return all
}

// senders are how many send a document at once, half of them without a key.
const senders = 16

// documents sends the document again and again for a while. It must be answered, whatever it is answered with.
func (s *server) documents(d document, each time.Duration) (string, error) {
	bodies := []string{d.body(1), d.body(0.06)} // a megabyte, and 64 KB
	until := time.Now().Add(each)
	var mu sync.Mutex
	var worst time.Duration
	statuses, failed := map[int]int{}, error(nil)

	var all sync.WaitGroup
	for i := range senders {
		all.Go(func() {
			client := &http.Client{Timeout: s.patience, Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for again := true; again; again = time.Now().Before(until) {
				key := []string{s.Key, ""}[i%2]
				body := bodies[i%2]
				if i%8 == 1 {
					body = bodies[0] // too large without a key, too
				}
				start := time.Now()
				status, _, err := s.call(client, "POST", "/graphql", key, strings.NewReader(body))
				took := time.Since(start)
				mu.Lock()
				worst = max(worst, took)
				if err != nil && body != bodies[0] { // one that is too large may be cut off while it is sent
					failed = err
				}
				statuses[status]++
				mu.Unlock()
			}
		})
	}

	all.Wait()
	return fmt.Sprintf("%v, the slowest after %d ms", statuses, worst.Milliseconds()), failed
}
