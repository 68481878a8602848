package ship

// Most bounds what may wait for the target.
func Most(bytes int64) func(*Options) { return func(o *Options) { o.most = bytes } }

// Least has another base made after so many bytes of the log.
func Least(bytes int64) func(*Options) { return func(o *Options) { o.least = bytes } }

// Prune removes what nobody needs who goes back no further than to a moment.
var Prune = prune
