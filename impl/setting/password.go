package setting

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// What may be a password: a parameter of a URL, and, in what is no URL, what follows a name and a colon or password=.
var (
	passwordParameter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(password=)[^&]*`) })
	passwordBefore    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`:\S*@`) })
	passwordAfter     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(password=).*`) })
)

// Redacted gives a value as it is shown: without a password that a URL has before its host or among its parameters. It is empty where
// that cannot be known.
func Redacted(value string) string {
	if !strings.Contains(value, "://") {
		return passwordAfter().ReplaceAllString(passwordBefore().ReplaceAllString(value, ":xxxxx@"), "${1}xxxxx")
	}
	u, err := url.Parse(value)
	if err != nil {
		return ""
	}
	return passwordParameter().ReplaceAllString(u.Redacted(), "${1}xxxxx")
}

// HasPassword reports whether there is, or may be, a password in what should be a URL.
func HasPassword(value string) bool {
	u, err := url.Parse(value)
	if err != nil || !strings.Contains(value, "://") {
		return passwordBefore().MatchString(value) || passwordAfter().MatchString(value)
	}
	_, before := u.User.Password()
	return before || passwordParameter().MatchString(value) || u.Query().Has("password") || u.Query().Has("sslpassword")
}
