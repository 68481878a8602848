package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Masked stands in the place of what is secret.
const Masked = "***"

// Secrets say what is secret in a JSON body.
type Secrets struct {
	Names []string // of members, wherever they are and in whatever case: a request that is refused may have them anywhere
	Maps  []string // names of members, wherever they are, whose own members are secret if their names say so: variables of an environment
	Whole []string // names of members, wherever they are, of which no value is shown, whatever its name: logins
	Pairs bool     // texts of the form NAME=value are secret if the names say so

	Objects []string // names of members whose own members are secret if their names say so, where they are objects: what a setting was
}

// None reports whether nothing is.
func (s Secrets) None() bool {
	return len(s.Names) == 0 && len(s.Maps) == 0 && len(s.Objects) == 0 && len(s.Whole) == 0 && !s.Pairs
}

var (
	// tokens are those of keys, and what is cut off of one.
	tokens = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`brt_[A-Za-z0-9]+(_[A-Za-z0-9]*)?`) })
	// logins are the passwords of URLs.
	logins = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(://[^\s/?#"@:]*:)[^\s/?#"@]+@`) })
)

// Text masks what is secret wherever it stands: tokens of keys, passwords and keys in URLs, and the credentials of the request. Where these are
// more than any client needs, it masks all of the text: to look for each would take as many times as long.
func Text(text []byte, credentials ...string) []byte {
	if len(credentials) > mostCredentials {
		return Hide(text, false)
	}

	for _, c := range credentials {
		if len(c) >= shortestCredential {
			text = bytes.ReplaceAll(text, []byte(c), []byte(Masked))
		}
	}
	text = tokens().ReplaceAll(text, []byte(Masked))
	text = logins().ReplaceAll(text, []byte("${1}"+Masked+"@"))
	return parameters(text)
}

// keyParameters are the parameters of URLs whose values are secret, in any case.
var keyParameters = []string{"api_key", "apikey", "access_token", "token", "secret", "password"}

// parameters masks keys in the queries of URLs. A regular expression for it would be ten times as slow.
func parameters(text []byte) []byte {
	var masked []byte
	at := 0 // what is before it is in masked
	for from := 0; ; {
		next := bytes.IndexByte(text[from:], '=')
		if next < 0 {
			break
		}
		from += next + 1
		if !isKeyParameter(text[:from-1]) {
			continue
		}

		length := bytes.IndexAny(text[from:], "& \t\r\n\"'#\\")
		if length < 0 {
			length = len(text) - from
		}
		if length > 0 {
			masked = append(append(masked, text[at:from]...), Masked...)
			from += length
			at = from
		}
	}

	if at == 0 {
		return text
	}
	return append(masked, text[at:]...)
}

// isKeyParameter reports whether the text ends with the name of such a parameter, whose ampersand JSON may have escaped. One of them is taken
// for it wherever it stands.
func isKeyParameter(text []byte) bool {
	begin := len(text)
	for begin > 0 && (text[begin-1] == '_' || 'a' <= text[begin-1]|0x20 && text[begin-1]|0x20 <= 'z') {
		begin--
	}
	name, before := string(text[begin:]), text[:begin]
	if len(name) >= len(keyParameters[0]) && strings.EqualFold(name[len(name)-len(keyParameters[0]):], keyParameters[0]) {
		return true
	}
	if !slices.ContainsFunc(keyParameters, func(known string) bool { return strings.EqualFold(known, name) }) {
		return false
	}
	return bytes.HasSuffix(before, []byte("?")) || bytes.HasSuffix(before, []byte("&")) || bytes.HasSuffix(before, []byte(`\u0026`))
}

// shortestCredential is how long one is at least that is looked for in texts: a shorter one is a part of words.
const shortestCredential = 8

// mostCredentials is how many of a request are looked for in texts.
const mostCredentials = 8

// lookedFor gives the credentials that are looked for in texts, each once and the longest first, of which another one may be a part.
func lookedFor(credentials []string) []string {
	long := slices.DeleteFunc(slices.Clone(credentials), func(c string) bool { return len(c) < shortestCredential })
	slices.SortFunc(long, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	return slices.Compact(long)
}

// secretHeaders are those whose values are secret.
var secretHeaders = []string{"authorization", "proxy-authorization", "cookie", "set-cookie"}

// secretParts say of the name of any other header that its value is secret.
var secretParts = []string{"token", "secret", "password", "passwd", "credential", "api-key", "apikey", "api_key", "access-key"}

// header masks the value of a header.
func header(name, value string, credentials []string) string {
	lower := strings.ToLower(name)
	if slices.Contains(secretHeaders, lower) || slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(lower, part) }) {
		return Masked
	}
	return string(Text([]byte(value), credentials...))
}

// Query masks the query of an address that is no request's.
func Query(raw string) string { return query(raw, nil) }

// query masks a query as it was sent: the values of parameters that carry a key.
func query(raw string, credentials []string) string {
	if raw == "" {
		return ""
	}
	pairs := strings.Split(raw, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(value)
		known, err2 := url.QueryUnescape(name)
		if SecretName(known) || err != nil || err2 != nil || plain != string(Text([]byte(plain), credentials...)) {
			if value != "" {
				pairs[i] = name + "=" + Masked
			}
		}
	}
	return string(Text([]byte(strings.Join(pairs, "&")), credentials...))
}

// path masks a path as it was sent: the segments that have a key.
func path(escaped string, credentials []string) string {
	if !strings.Contains(escaped, "%") && escaped == string(Text([]byte(escaped), credentials...)) {
		return escaped
	}
	segments := strings.Split(escaped, "/")
	for i, s := range segments {
		if plain, err := url.PathUnescape(s); err != nil || plain != string(Text([]byte(plain), credentials...)) {
			segments[i] = Masked
		}
	}
	return strings.Join(segments, "/")
}

// secretWords say of a name that what it names is secret.
var secretWords = []string{"PASSWORD", "PASSWD", "PASS", "PWD", "PASSPHRASE", "SECRET", "SECRETS", "TOKEN", "KEY", "APIKEY", "SSHKEY", "CREDENTIAL", "CREDENTIALS", "AUTH"}

// SecretName reports whether the name of a variable says that it is secret, as those of passwords, tokens and keys do; public keys are not.
func SecretName(name string) bool {
	all := words(name)
	if slices.Contains(all, "PUBLIC") {
		return false
	}
	return slices.ContainsFunc(all, func(w string) bool {
		return slices.Contains(secretWords, w) || strings.HasSuffix(w, "PASSWORD") || strings.HasSuffix(w, "SECRET")
	})
}

// words gives the words of a name in capitals: of accessSecret, access-secret and ACCESS_SECRET the same.
func words(name string) (all []string) {
	lower := false
	spaced := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return ' '
	}, name)
	var b strings.Builder
	for _, r := range spaced {
		if unicode.IsUpper(r) && lower {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToUpper(r))
	}
	return strings.Fields(b.String())
}

// reference is a value of a variable that names a stored secret, and is none.
var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\{\{[^{}]*\}\}\s*$`) })

// span is a part of a body that is masked.
type span struct{ from, to int }

// Mask masks what is secret in a JSON body. Of one that cannot be read to its end, what comes after the fault is masked too, unless it is only
// the end that is missing since the body was cut.
func (s Secrets) Mask(body []byte, cut bool) []byte {
	if s.None() || len(bytes.TrimSpace(body)) == 0 || s.absentIn(body) {
		return body
	}
	m := &masker{Secrets: s, body: body, d: json.NewDecoder(bytes.NewReader(body))}
	m.d.UseNumber()
	err := m.run()
	m.endPairs(0)

	var out []byte
	at := 0
	slices.SortFunc(m.spans, func(a, b span) int { return a.from - b.from })
	for _, p := range m.spans {
		out = append(append(out, body[at:p.from]...), strconv.Quote(Masked)...)
		at = p.to
	}

	rest := m.start()
	secret := m.secretNext() || m.perhapsNext()
	switch {
	case errors.Is(err, io.EOF) && len(m.stack) == 0:
		return append(out, body[at:]...)
	case cut && errors.Is(err, io.ErrUnexpectedEOF) && !secret, !cut && !secret && !m.perhapsIn(body[rest:]):
		return append(out, body[at:]...)
	default:
		return append(append(out, body[at:max(at, rest)]...), Masked...)
	}
}

// absentIn reports whether nothing is secret in a body, which needs no look at its members: where only variables and logins are, one of their
// members would have to be named.
func (s Secrets) absentIn(body []byte) bool {
	if len(s.Names) > 0 || s.Pairs && bytes.IndexByte(body, '=') >= 0 || bytes.Contains(body, []byte(`\u`)) {
		return false
	}
	named := func(name string) bool { return containsFold(body, name) }
	return !slices.ContainsFunc(s.Maps, named) && !slices.ContainsFunc(s.Objects, named) && !slices.ContainsFunc(s.Whole, named)
}

// containsFold reports whether a body has a name, in small letters or capitals.
func containsFold(body []byte, name string) bool {
	for i := 0; i+len(name) <= len(body); i++ {
		if body[i]|0x20 == name[0]|0x20 && strings.EqualFold(string(body[i:i+len(name)]), name) {
			return true
		}
	}
	return false
}

// listed reports whether a name is one of those, in small letters or capitals: what is misspelled is refused, and as secret.
func listed(names []string, name string) bool {
	return slices.ContainsFunc(names, func(one string) bool { return strings.EqualFold(one, name) })
}

// perhapsIn reports whether something may be secret in the rest of a body, which is no JSON.
func (m *masker) perhapsIn(rest []byte) bool {
	return !m.absentIn(rest) || slices.ContainsFunc(m.stack, func(l level) bool { return listed(m.Maps, l.name) || listed(m.Objects, l.name) })
}

// masker goes through a JSON body.
type masker struct {
	Secrets
	body  []byte
	d     *json.Decoder
	stack []level
	spans []span
}

// level is an object or a list that the masker is in.
type level struct {
	list   bool
	name   string // of the present member
	value  bool   // a value comes next, and not a name
	secret bool   // all in it is

	variables bool // it is one of Maps or Objects, or in one, with no list between

	key   string // the member key of an object that is a variable
	pairs []span // the member value of it, as often as it was sent
}

// run notes the parts that are secret, until the body ends or cannot be read.
func (m *masker) run() error {
	for {
		from := m.start()
		token, err := m.d.Token()
		if err != nil {
			if errors.Is(err, io.EOF) && len(m.stack) > 0 {
				return io.ErrUnexpectedEOF
			}
			return err
		}

		at := m.top()
		if d, ok := token.(json.Delim); ok {
			if d == '}' || d == ']' {
				m.endPairs(len(m.stack) - 1)
				m.stack = m.stack[:len(m.stack)-1]
				continue
			}
			secret, variables := m.secretNext(), m.variablesNext()
			m.passed()
			m.stack = append(m.stack, level{list: d == '[', value: d == '[', secret: secret, variables: variables})
			continue
		}

		text, isText := token.(string)
		if at != nil && !at.list && !at.value {
			at.name, at.value = text, true
			continue
		}
		m.scalar(span{from, int(m.d.InputOffset())}, text, isText)
		m.passed()
	}
}

// start gives where the next token starts.
func (m *masker) start() int {
	at := int(m.d.InputOffset())
	for at < len(m.body) && strings.IndexByte(" \t\r\n,:", m.body[at]) >= 0 {
		at++
	}
	return at
}

func (m *masker) top() *level {
	if len(m.stack) == 0 {
		return nil
	}
	return &m.stack[len(m.stack)-1]
}

// passed notes that a value has been read, or is being.
func (m *masker) passed() {
	if at := m.top(); at != nil && !at.list {
		at.value = false
	}
}

// secretNext reports whether a value that comes next would be secret.
func (m *masker) secretNext() bool {
	at := m.top()
	if at == nil {
		return false
	}
	if at.secret || !at.value {
		return at.secret
	}
	if at.list {
		return false
	}
	if listed(m.Names, at.name) || listed(m.Whole, at.name) {
		return true
	}
	return at.variables && SecretName(at.name)
}

// perhapsNext reports whether a value that comes next would be secret by what it is itself, or by what comes after it.
func (m *masker) perhapsNext() bool {
	at, depth := m.top(), len(m.stack)
	switch {
	case at == nil || !at.value:
		return false
	case m.Pairs || at.list && m.isMap(depth-2) || !at.list && m.isMap(depth-1):
		return true
	default:
		return !at.list && at.name == "value" && depth >= 3 && m.stack[depth-2].list && m.isMap(depth-3)
	}
}

// isMap reports whether the member that a level stands at is one of Maps.
func (m *masker) isMap(i int) bool {
	return i >= 0 && !m.stack[i].list && listed(m.Maps, m.stack[i].name)
}

// variablesNext reports whether an object that comes next would be one of Maps or Objects, or be in one. Each level remembers it: a look at all of them
// would take a body of many levels as many times as long.
func (m *masker) variablesNext() bool {
	at := m.top()
	return at != nil && !at.list && (at.variables || listed(m.Maps, at.name) || listed(m.Objects, at.name))
}

// scalar notes a value that is secret.
func (m *masker) scalar(at span, text string, isText bool) {
	depth := len(m.stack)
	if m.secretNext() {
		if !isText || !m.top().variables || !reference().MatchString(text) {
			m.spans = append(m.spans, at)
		}
		return
	}
	if !isText || depth == 0 {
		return
	}

	top := m.top()
	pair := !top.list && depth >= 3 && m.stack[depth-2].list && m.isMap(depth-3) && !m.isMap(depth-1) // {"key": NAME, "value": value}
	switch {
	case pair && top.name == "key":
		top.key = text
	case pair && top.name == "value":
		if !reference().MatchString(text) {
			top.pairs = append(top.pairs, at)
		}
	case m.Pairs || top.list && m.isMap(depth-2): // NAME=value
		name, value, named := strings.Cut(text, "=")
		if named && SecretName(name) && !reference().MatchString(value) || !named && !m.Pairs {
			m.spans = append(m.spans, at)
		}
	case !top.list && m.isMap(depth-1): // a text in the place of variables
		m.spans = append(m.spans, at)
	}
}

// endPairs masks the values of variables in the levels from one on, whose names are known now, or will not be.
func (m *masker) endPairs(from int) {
	for _, l := range m.stack[max(from, 0):] {
		if l.key == "" || SecretName(l.key) {
			m.spans = append(m.spans, l.pairs...)
		}
	}
}
