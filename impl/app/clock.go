package app

import (
	"context"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// lookTick is how often the clock is looked at, so that it tells a pause of the server from time in which nothing happened.
const lookTick = compute.MostBetweenLooks / 4

// startClock has the time that decides go on from where the run before left it.
func (s *Server) startClock(ctx context.Context) error {
	return s.store.Read(ctx, func(tx store.Tx) (err error) {
		s.lag, err = tx.Lag()
		s.running.SetLag(s.lag)
		return err
	})
}

// look looks at the clock. It waits for nobody.
func (s *Server) look(context.Context) error {
	s.running.Look()
	return nil
}

// keepTime has the time of day follow a step of the machine's, which nothing is billed for, and keeps the lag for the next start.
func (s *Server) keepTime(ctx context.Context) error {
	s.keeping.Lock()
	defer s.keeping.Unlock()
	step := s.running.Stepped()
	lag := s.running.Lag() + step
	change := lag - s.lag
	if step == 0 && change.Abs() < compute.LeastStep {
		return nil
	}
	adjusted := false
	err := s.store.Write(ctx, func(tx store.Tx) error {
		if step != 0 {
			if err := tx.StepCharges(step); err != nil {
				return err
			}
		}
		if err := tx.SetLag(lag); err != nil {
			return err
		}
		// Here, where no other transaction is between the charges and the clock that theirs are stamped from.
		s.running.Adjust(step)
		adjusted = true
		return nil
	})
	if err != nil {
		if adjusted {
			s.running.Adjust(-step)
		}
		return err
	}
	s.lag = lag
	if step != 0 {
		s.config.Log.Warn("the clock of the machine stepped: nothing falls due by that", "by", step.Round(time.Millisecond))
	}
	if paused := (change - step).Round(time.Millisecond); paused > 0 {
		s.config.Log.Warn("the server was paused: nothing falls due by that", "for", paused)
	}
	return nil
}
