//go:build !unix

package popfib

// Where files are read and not mapped.

import (
	"errors"
	"os"
)

func mapFile(*os.File) ([]byte, func() error, error) {
	return nil, nil, errors.ErrUnsupported
}
