package observe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
)

// Rooms are the parts of the program whose logs may have a level of their own: the folders of impl, with what is below them, and graphql.
var Rooms = []string{"app", "control", "fault", "graphql", "httpapi", "journal", "loop", "observe", "proxy", "queue", "replica", "runtime", "webhook"}

// levelWords are the levels, as they are written.
var levelWords = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// Levels say what is logged at least.
type Levels struct {
	Level slog.Level            // of what has none of its own
	Rooms map[string]slog.Level // of rooms
}

// ParseLevels reads levels: one for all, and room=level for others, with commas between them. Without one for all it is info.
func ParseLevels(text string) (Levels, error) {
	l := Levels{Level: slog.LevelInfo, Rooms: map[string]slog.Level{}}
	all := false
	for part := range strings.SplitSeq(text, ",") {
		room, word, named := strings.Cut(part, "=")
		if !named {
			word = room
		}
		level, is := levelWords[word]
		_, twice := l.Rooms[room]
		switch {
		case !is:
			return l, fmt.Errorf("%q is no level: it must be debug, info, warn or error, or ROOM=LEVEL", part)
		case !named && all:
			return l, errors.New("there is more than one level for all")
		case !named:
			l.Level, all = level, true
		case twice:
			return l, fmt.Errorf("%s has more than one level", room)
		case !slices.Contains(Rooms, room):
			return l, fmt.Errorf("%q is no room of the log: there are %s", room, strings.Join(Rooms, ", "))
		default:
			l.Rooms[room] = level
		}
	}
	return l, nil
}

// Least is the lowest of the levels.
func (l Levels) Least() slog.Level {
	least := l.Level
	for _, level := range l.Rooms {
		least = min(least, level)
	}
	return least
}

// Handler drops what is below the level of the room that logs it. What next takes must be no more than from Least on.
func (l Levels) Handler(next slog.Handler) slog.Handler {
	if len(l.Rooms) == 0 {
		return next
	}
	return leveled{next, l}
}

type leveled struct {
	slog.Handler
	levels Levels
}

// Enabled reports whether some room logs at the level: which one it is only Handle knows.
func (h leveled) Enabled(_ context.Context, level slog.Level) bool { return level >= h.levels.Least() }

func (h leveled) Handle(ctx context.Context, r slog.Record) error {
	level, own := h.levels.Rooms[roomOf(r.PC)]
	if !own {
		level = h.levels.Level
	}
	if r.Level < level {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h leveled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return leveled{h.Handler.WithAttrs(attrs), h.levels}
}

func (h leveled) WithGroup(name string) slog.Handler {
	return leveled{h.Handler.WithGroup(name), h.levels}
}

// module begins the names of the functions of the program.
const module = "github.com/berthdev/berth/"

// roomOf gives the room of the function that has the program counter of a line of the log; empty: it is in none.
func roomOf(pc uintptr) string {
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	name, ours := strings.CutPrefix(frame.Function, module)
	if !ours {
		return ""
	}
	name = strings.TrimPrefix(name, "impl/") // such as queue.(*Queue).Submit
	if end := strings.IndexAny(name, "/."); end >= 0 {
		name = name[:end]
	}
	return name
}
