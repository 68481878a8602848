package ship

// Most bounds what may wait for the target.
func Most(bytes int64) func(*Options) { return func(o *Options) { o.most = bytes } }
