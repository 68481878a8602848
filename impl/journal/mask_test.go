package journal

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const token = "brt_abcdefghij_0123456789012345678901234567890123456789"

// known is what is secret in the tests.
var known = Secrets{Names: []string{"password", "secret"}, Maps: []string{"env"}}

func TestMask_HidesWhatIsMarked(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"name":"a","password":"b"}`:                           `{"name":"a","password":"***"}`,
		`{"password":7,"x":1}`:                                  `{"password":"***","x":1}`,
		`{"password":{"a":"b","c":[1,"d"]},"e":"f"}`:            `{"password":{"a":"***","c":["***","***"]},"e":"f"}`,
		`{"p\u0061ssword" : "b\"c" , "x":1}`:                    `{"p\u0061ssword" : "***" , "x":1}`,
		`{"password":"a","password":"b"}`:                       `{"password":"***","password":"***"}`,
		`{"inner":{"password":"b"}}`:                            `{"inner":{"password":"***"}}`,
		`{"PassWord":"b"}`:                                      `{"PassWord":"***"}`,
		`{"logins":[{"secret":"a"},{"secret":"b","user":"c"}]}`: `{"logins":[{"secret":"***"},{"secret":"***","user":"c"}]}`,
		`{"logins":{"secrets":"stays"}}`:                        `{"logins":{"secrets":"stays"}}`,
		`{"env":{"HF_TOKEN":"a","EPOCHS":"3","DB_PASSWORD":"b","accessSecret":"c","PUBLIC_KEY":"d"}}`:    `{"env":{"HF_TOKEN":"***","EPOCHS":"3","DB_PASSWORD":"***","accessSecret":"***","PUBLIC_KEY":"d"}}`,
		`{"env":{"HF_TOKEN":"{{ RUNPOD_SECRET_hf }}"}}`:                                                  `{"env":{"HF_TOKEN":"{{ RUNPOD_SECRET_hf }}"}}`,
		`{"pod":{"env":["HF_TOKEN=a","EPOCHS=3"]}}`:                                                      `{"pod":{"env":["***","EPOCHS=3"]}}`,
		`{"env":[{"key":"HF_TOKEN","value":"a"},{"value":"b","key":"API_KEY"},{"key":"N","value":"c"}]}`: `{"env":[{"key":"HF_TOKEN","value":"***"},{"value":"***","key":"API_KEY"},{"key":"N","value":"c"}]}`,
		`{"env":[{"value":"nameless"}]}`:                                                                 `{"env":[{"value":"***"}]}`,
		`{"env":[{"key":"A_KEY","value":"a","value":"b"}]}`:                                              `{"env":[{"key":"A_KEY","value":"***","value":"***"}]}`,
		`{"env":"text"}`:             `{"env":"***"}`,
		`{"env":["A=1","text"]}`:     `{"env":["A=1","***"]}`,
		`[{"password":"elsewhere"}]`: `[{"password":"***"}]`,
		`"text"`:                     `"text"`,
		``:                           ``,
	} {
		require.Equal(t, want, string(known.Mask([]byte(body), false)), body)
	}
	require.Equal(t, `{"a":{"value":"***"}}`, string(Secrets{Names: []string{"value"}}.Mask([]byte(`{"a":{"value":"x"}}`), false)))
	require.Equal(t, `{"e":["***","N=1"],"t":"***"}`, string(Secrets{Pairs: true}.Mask([]byte(`{"e":["A_KEY=x","N=1"],"t":"B_SECRET=1"}`), false)))
	require.Equal(t, `{`, string(Secrets{}.Mask([]byte(`{`), false)), "nothing is secret in it")
}

func TestMask_KnowsVariablesHoweverDeep(t *testing.T) {
	t.Parallel()
	began := time.Now()
	deep := func(within string, levels int) string {
		return within + strings.Repeat(`{"a":`, levels) + `{"A_KEY":"b","n":"A_KEY=c"}` + strings.Repeat("}", levels)
	}
	const levels = 100_000
	shown, masked := deep("", levels), strings.Replace(deep("", levels), `"b"`, `"***"`, 1)
	for body, want := range map[string]string{
		`{"env":` + shown + `,"x":` + shown + `}`: `{"env":` + masked + `,"x":` + shown + `}`,
		`{"env":{"y":[` + shown + `]}}`:           `{"env":{"y":[` + shown + `]}}`,
		`{"old":` + shown + `,"env":"A=b"}`:       `{"old":` + masked + `,"env":"***"}`,
	} {
		require.True(t, want == string(Secrets{Maps: []string{"env"}, Objects: []string{"old"}}.Mask([]byte(body), false)), body[:20])
	}
	require.Less(t, time.Since(began), 30*time.Second, "by a look at all levels at each it would be minutes")
}

func TestMask_ShowsNothingOfALogin(t *testing.T) {
	t.Parallel()
	logins := Secrets{Whole: []string{"s3Config"}}
	for body, want := range map[string]string{
		`{"input":{"a":"b"},"s3Config":{"acessSecert":"c","port":9,"more":[{"region":"d"}]}}`: `{"input":{"a":"b"},"s3Config":{"acessSecert":"***","port":"***","more":[{"region":"***"}]}}`,
		`[{"id":"a","s3Config":{"x":"{{ y }}"}}]`:                                             `[{"id":"a","s3Config":{"x":"***"}}]`,
		`{"s3Config":"text","input":"shown"}`:                                                 `{"s3Config":"***","input":"shown"}`,
		`{"s3\u0043onfig":{"a":"b"}}`:                                                         `{"s3\u0043onfig":{"a":"***"}}`,
		`{"s3Config":{"a":nope,"b":"c"}}`:                                                     `{"s3Config":{"a":***`,
		`{"input":{"a":nope},"s3Config":{"b":"c"}`:                                            `{"input":{"a":***`,
		`{"input":{"a":nope},"b":"shown"}`:                                                    `{"input":{"a":nope},"b":"shown"}`,
	} {
		require.Equal(t, want, string(logins.Mask([]byte(body), false)), body)
	}

	whole := `{"input":{},"s3Config":{"a":"hunter22","b":{"c":["hunter22"]}}}`
	for i := range whole {
		require.NotContains(t, string(logins.Mask([]byte(whole[:i]), true)), "hun", whole[:i])
	}
}

func TestMask_HidesWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"name":"a",password:"b"}`:   `{"name":"a",***`,
		`password=b`:                  `***`,
		`{"name":"a"} password`:       `{"name":"a"} ***`,
		`{"name":"a","password":"b`:   `{"name":"a","password":***`,
		`{"password":"b","x":nope}`:   `{"password":"***","x":***`,
		`{"name":"a","password":"b"`:  `{"name":"a","password":"***"***`,
		`{"name":"a","password":"b"]`: `{"name":"a","password":"***"***`,
	} {
		require.Equal(t, want, string(known.Mask([]byte(body), false)), body)
	}
	for body, want := range map[string]string{
		`{"input":`:                          `{"input":`,
		"\xff":                               "\xff",
		`{"input":{},env:{"A_KEY":"b"}}`:     `{"input":{},***`,
		`{"input":{},"\u0065nv" {}`:          `{"input":{},"\u0065nv" ***`,
		`{"input" "\u0065nv"`:                `{"input" ***`,
		`{"env":{"A_KEY":nope,"B_KEY":"c"}}`: `{"env":{"A_KEY":***`,
		`{"env":["A_KEY=b`:                   `{"env":[***`,
	} {
		require.Equal(t, want, string(Secrets{Maps: []string{"env"}}.Mask([]byte(body), false)), body)
	}
}

func TestMask_KnowsWhatWasCut(t *testing.T) {
	t.Parallel()
	whole := `{"name":"long","password":"hunter22","env":{"A_KEY":"hunter22","B":"c"},"list":[{"key":"x"}],"env":[{"key":"A_KEY","value":"hunter22"}]}`
	for i := range whole {
		masked := string(known.Mask([]byte(whole[:i]), true))
		for n := 3; n <= len("hunter22"); n++ {
			require.NotContains(t, masked, "hunter22"[:n], whole[:i])
		}
	}
	require.Equal(t, `{"name":"lo`, string(known.Mask([]byte(`{"name":"lo`), true)))
	require.Equal(t, `{"name":"long",`, string(known.Mask([]byte(`{"name":"long",`), true)))
}

func TestText_HidesKeysWhereverTheyAre(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a " + token + " b":                      "a *** b",
		token[:20]:                               "***",
		"https://user:hunter2@host/p?x=1":        "https://user:***@host/p?x=1",
		"postgres://u:a:b@h/db and http://h/a@b": "postgres://u:***@h/db and http://h/a@b",
		"http://h/hook?x=1&api_key=abc&y=2":      "http://h/hook?x=1&api_key=***&y=2",
		"nothing of it":                          "nothing of it",
		"a token=b is no parameter":              "a token=b is no parameter",

		`{"webhook":"http://h/hook?x=1\u0026token=abc\u0026y=2"}`: `{"webhook":"http://h/hook?x=1\u0026token=***\u0026y=2"}`,
		"http://h/hook?Secret=abc#x and http://h/?apiKey=d":       "http://h/hook?Secret=***#x and http://h/?apiKey=***",
	} {
		require.Equal(t, want, string(Text([]byte(text))), text)
	}
	require.Equal(t, "x *** y", string(Text([]byte("x mysecrettoken y"), "mysecrettoken")))
	require.Equal(t, "x is y", string(Text([]byte("x is y"), "is")), "a short one is a part of words")
}

func TestExchange_KeepsNoKey(t *testing.T) {
	t.Parallel()
	const other = "another-token-of-mine"
	e := sent(New(DefaultBounds()), Exchange{
		Path: "/v2/" + token + "/a%62c/brt%5Fabcdefghij_x/" + other, Query: "api_key=" + other + "&x=1&API_KEY=a&y=" + token + "&token=abc&z=%62rt_abcdefghij_0&w=%zz",
		Credentials: []string{other}, Resources: []Resource{{"endpoint", token}},
		Request: Sent{
			Headers: map[string][]string{
				"Authorization": {"Bearer " + token}, "Cookie": {"a=b"}, "X-Api-Key": {other}, "X-Auth-Token": {"abc"}, "Idempotency-Key": {"kept"}, "X-Other": {"a " + token, other},
			},
			Body: []byte(`{"input":"` + token + " " + other + `"}`),
		},
		Response: Sent{Headers: map[string][]string{"Set-Cookie": {"a=b"}, "Location": {"/x?api_key=abc"}}, Body: []byte(`{"key":"` + token + `"}`)},
	})
	require.Equal(t, "/v2/***/a%62c/***/***", e.Path)
	require.Equal(t, "api_key=***&x=1&API_KEY=***&y=***&token=***&z=***&w=***", e.Query)
	require.Equal(t, []Resource{{"endpoint", "***"}}, e.Resources)
	require.Equal(t, []Header{
		{"Authorization", "***"}, {"Cookie", "***"}, {"Idempotency-Key", "kept"}, {"X-Api-Key", "***"}, {"X-Auth-Token", "***"}, {"X-Other", "a ***"}, {"X-Other", "***"},
	}, e.Request.Headers)
	require.Equal(t, []Header{{"Location", "/x?api_key=***"}, {"Set-Cookie", "***"}}, e.Response.Headers)
	require.Equal(t, `{"input":"*** ***"}`, e.Request.Body.Text)
	require.Equal(t, `{"key":"***"}`, e.Response.Body.Text)
}

func TestExchange_LooksForFewCredentials(t *testing.T) {
	t.Parallel()
	masked := func(n int) *Entry {
		x := Exchange{Path: "/v2/pods", Query: "x=1", Request: Sent{Body: []byte("secret-of-0 secret-of-0-and-more kept")}}
		for i := range n {
			x.Credentials = append(x.Credentials, "short", "secret-of-"+strconv.Itoa(i), "secret-of-0", "secret-of-0-and-more")
		}
		return sent(New(DefaultBounds()), x)
	}

	e := masked(mostCredentials - 1)
	require.Equal(t, "*** *** kept", e.Request.Body.Text, "each counts once, and none stays in part")
	require.Equal(t, []string{"/v2/pods", "x=1"}, []string{e.Path, e.Query})

	e = masked(mostCredentials)
	require.Equal(t, Masked, e.Request.Body.Text)
	require.Equal(t, []string{"/***/***", Masked}, []string{e.Path, e.Query})
	require.Empty(t, e.Response.Body.Text)
}

func TestExchange_MasksBeforeItCuts(t *testing.T) {
	t.Parallel()
	j := New(Bounds{Entries: 9, Body: 40, Bytes: 1 << 20})
	for i := range 80 {
		body := []byte(strings.Repeat("x", i) + " " + token + " http://u:hunter22@h/")
		e := sent(j, Exchange{Request: Sent{Body: body, Length: int64(len(body))}})
		require.NotContains(t, e.Request.Body.Text, "brt_")
		require.NotContains(t, e.Request.Body.Text, "hunter")
	}
}

func TestSecretName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"PASSWORD", "PGPASSWORD", "db_password", "HF_TOKEN", "apiKey", "AWS_SECRET_ACCESS_KEY", "accessSecret", "CLIENTSECRET", "JUPYTER_PASSWORD", "DB_PASS", "MYSQL_PWD", "SSHKEY"} {
		require.True(t, SecretName(name), name)
	}
	for _, name := range []string{"", "EPOCHS", "MONKEY", "TOKENIZERS", "PUBLIC_KEY", "PATH", "max_tokens", "AUTHOR"} {
		require.False(t, SecretName(name), name)
	}
}

func TestHeader_HidesKeysByWhateverNameTheyCome(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Authorization", "X-Api-Key", "Api-Key", "X-Runpod-Api-Key", "X-ApiKey", "My_Api_Key", "X-Auth-Token", "Cookie"} {
		require.Equal(t, Masked, header(name, "hunter22", nil), name)
	}
	require.Equal(t, "shown", header("Idempotency-Key", "shown", nil))
}
