package postgres

// StatementTimeout has another bound of what one statement may take, in milliseconds.
func StatementTimeout(ms string) Option {
	return func(o *options) { o.timeout = ms }
}
