package control

import (
	"math"

	"github.com/berthdev/berth/impl/compute"
)

// unpaged is a page that has the whole list, as far as there is room.
func unpaged(room compute.Room) compute.Page { return compute.Page{Limit: math.MaxInt32, Room: room} }

var errTooLong error = compute.Errorf(compute.Rejected, "the list is too long to be read at once")

// within gives a list that was read as far as there was room. Rejected if that is not all of it.
func within[T any](all []T, whole bool, err error) ([]T, error) {
	if err == nil && !whole {
		err = errTooLong
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

// whole gives a list that was read as one page. Rejected if there was no room for all of it.
func whole[T any](all []T, next compute.Position, err error) ([]T, error) {
	if err == nil && next != (compute.Position{}) {
		err = errTooLong
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}
