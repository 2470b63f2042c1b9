//go:build !unix

package popfib

// Where files are read and not mapped.

import (
	"errors"
	"math"
	"os"
)

func mapFile(*os.File) ([]byte, func() error, error) {
	return nil, nil, errors.ErrUnsupported
}

// askForMemory fails for what no system gives; more is not known before.
func askForMemory(length uint64) error {
	if length > math.MaxInt/2 {
		return errors.New("not so much can be had")
	}
	return nil
}
