package compute

import (
	"regexp"
	"strings"
	"sync"
	"time"
)

// Secret is a text of a user that the environment of pods, endpoints and templates refers to by its name. What it says is sealed
// and stored apart.
type Secret struct {
	ID          SecretID
	UserID      UserID
	Name        string // the user's secrets have different ones, also where case is ignored
	Description string // empty: none
	CreatedAt   time.Time
	ChangedAt   time.Time // of the value; zero: it is that of the creation
}

const (
	// SecretValueBytes is how many bytes of UTF-8 the value of a secret has fewer than (rule secrets.value.bytes).
	SecretValueBytes = 16_777_216
	// SecretDescriptionBytes is how many bytes of UTF-8 the description of a secret has at most (rule secrets.description.bytes).
	SecretDescriptionBytes = 65_535
	// VariableBytes is how many bytes a variable can have, with its name and what lies between: Linux starts no program with a
	// longer one.
	VariableBytes = 131_071
	// EnvironmentBytes is how many bytes an environment with secrets in it has at most, for the same reason.
	EnvironmentBytes = 2_097_152
)

// secretReference is how an environment refers to a secret.
var secretReference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{\s*RUNPOD_SECRET_([a-zA-Z_][a-zA-Z0-9_.\-/]*)\s*\}\}`)
})

// SecretNames gives the names of the secrets that an environment refers to, each once, in no order.
func SecretNames(env map[string]string) (names []string) {
	seen := map[string]bool{}
	for _, value := range env {
		if !strings.Contains(value, "RUNPOD_SECRET_") {
			continue
		}
		for _, found := range secretReference().FindAllStringSubmatch(value, -1) {
			if !seen[found[1]] {
				seen[found[1]] = true
				names = append(names, found[1])
			}
		}
	}

	return names
}

// FillSecrets gives the environment with the values of secrets in place of what refers to them. A reference to a name that is not
// in values stays as it is. Rejected where a variable, which it names, or all together become longer than a program can be started
// with: nothing of that length is made.
func FillSecrets(env, values map[string]string) (map[string]string, error) {
	filled := make(map[string]string, len(env))
	total := 0
	for name, value := range env {
		now, refers := len(name)+len(value)+1, false
		for _, found := range secretReference().FindAllStringSubmatch(value, -1) {
			if text, ok := values[found[1]]; ok {
				now, refers = now+len(text)-len(found[0]), true
			}
		}
		total += now

		switch {
		case refers && now > VariableBytes:
			return nil, Errorf(Rejected, "env: %s has %d bytes with the secrets that it names, and a program takes at most %d", name, now, VariableBytes)
		case total > EnvironmentBytes:
			return nil, Errorf(Rejected, "env: it has over %d bytes with the secrets that it names", EnvironmentBytes)
		}

		filled[name] = secretReference().ReplaceAllStringFunc(value, func(reference string) string {
			if text, ok := values[secretReference().FindStringSubmatch(reference)[1]]; ok {
				return text
			}
			return reference
		})
	}

	return filled, nil
}
