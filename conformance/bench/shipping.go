package main

// shipping measures a server that ships its database to a folder beside the same server that does not.
func (b *bench) shipping() error {
	plain, err := b.serve(b.directory())
	if err != nil {
		return err
	}
	defer plain.stop()
	ships, err := b.launch(b.directory(), "", nil, "--backup-to", b.directory())
	if err != nil {
		return err
	}
	if ships, err = b.withKey(ships); err != nil {
		return err
	}
	defer ships.stop()
	b.heading()

	one := func(s *server) func() (reading, error) {
		return s.thenIdle(func() (reading, error) { return s.latency(b.length, s.post("run", kilobyte)) })
	}
	for _, r := range []row{
		{name: "/run with --backup-to, 64 connections", reference: b.submissions(plain), measured: b.submissions(ships), unit: "requests/s", asked: atLeast(0.7)},
		{name: "/run with --backup-to, one connection", reference: one(plain), measured: one(ships), unit: "µs, median", asked: atMost(1.1)},
	} {
		if err := r.print(b); err != nil {
			return err
		}
	}
	return nil
}
