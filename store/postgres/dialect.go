package postgres

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/berthdev/berth/store/sqldb"
)

// dialect is PostgreSQL's.
type dialect struct{}

// otherWords are what package sqldb says in SQLite's words. PostgreSQL chooses its indexes by itself.
var otherWords = strings.NewReplacer(
	"/* FOR KEY SHARE */", "FOR KEY SHARE",
	"INDEXED BY jobs_open_or_failed", "",
	"INDEXED BY jobs_open", "",
	"INDEXED BY jobs_of_endpoint", "",
	"INDEXED BY webhooks_due", "",
	"NOT INDEXED ", "",
	"json_each(volume_ids)", "jsonb_array_elements_text(volume_ids::jsonb)",
	"max(began_at, ", "greatest(began_at, ",
	"max(?, coalesce(", "greatest(?, coalesce(",
	"max(?2, coalesce(", "greatest(?2, coalesce(",
	"1 << 62", "1::bigint << 62",
	"ended_at IS ?", "ended_at IS NOT DISTINCT FROM ?",
	"WHERE declared AND", "WHERE declared <> 0 AND",
	"WHERE NOT declared", "WHERE declared = 0",
)

// argument is the place of one, which has a number if it is named twice.
var argument = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\?(\d*)`) })

// Statement gives a statement in PostgreSQL's words, where every argument has a number.
func (dialect) Statement(query string) string {
	n := 0
	return argument().ReplaceAllStringFunc(otherWords.Replace(query), func(place string) string {
		if place != "?" {
			return "$" + place[1:]
		}
		n++
		return "$" + strconv.Itoa(n)
	})
}

// loads are the statements that may take longer than others may.
var loads = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, query := range sqldb.Loads() {
		all[dialect{}.Statement(query)] = true
	}
	return all
})

// IsUnique reports by its code whether err says that a unique value is taken.
func (dialect) IsUnique(err error) bool { return codeOf(err) == uniqueViolation }

// codeOf gives the code of an error of PostgreSQL (SQLSTATE); "" if it is another one.
func codeOf(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

const uniqueViolation = "23505"
