//go:build unix

package popfib

// A file in; its bytes out, mapped.

import (
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"
)

func mapFile(file *os.File) ([]byte, func() error, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	size := info.Size()
	// What is shorter than a header cannot be an image, which reading it tells best.
	if !info.Mode().IsRegular() || size < headerLen {
		return nil, nil, errors.ErrUnsupported
	}
	if int64(int(size)) != size {
		return nil, nil, fmt.Errorf("%d bytes are more than can be mapped here", size)
	}
	mapped, err := syscall.Mmap(int(file.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return mapped, func() error { return syscall.Munmap(mapped) }, nil
}

// askForMemory fails where the system would not give so many bytes.
func askForMemory(length uint64) error {
	if length > math.MaxInt {
		return syscall.ENOMEM
	}
	asked, err := syscall.Mmap(-1, 0, int(length), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	return syscall.Munmap(asked)
}
