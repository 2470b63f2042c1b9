package popfib

// A file or bytes in; a table of verified bytes out, which are a copy or the mapped file.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// An Option changes what is opened.
type Option func(*options)

type options struct {
	name  string
	named bool
}

// WithName chooses the table of this name. Without it, the image has to have one table alone.
func WithName(name string) Option {
	return func(o *options) { o.name, o.named = name, true }
}

// Open reads an image into memory, validates all of it, and returns its table. What happens to the file
// later does not matter. O(bytes); it needs memory of the size of the file and less than once more.
func Open(path string, with ...Option) (*Table, error) {
	table, _, err := openFile(path, with)
	return table, err
}

// openFile is Open, and what was the file's metadata.
func openFile(path string, with []Option) (*Table, fs.FileInfo, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	image, err := readImage(file, info)
	if err != nil {
		return nil, info, inFile(path, err)
	}
	table, err := fromOwned(image, with)
	return table, info, inFile(path, err)
}

// OpenMapped maps the file instead of copying it, so that all processes share one copy, validates it,
// and returns its table. It is only right as long as nobody writes to the file: a program that changes
// it makes answers wrong, or a lookup panic or not end, and one that cuts it off ends the process by
// SIGBUS. "popfib compile" never does either, but puts a new file in the place of the old one, of
// which the mapping remains.
//
// [Image.Close] takes the mapping away. Where files cannot be mapped (other systems than Unix), the
// file is read as by Open.
func OpenMapped(path string, with ...Option) (*Table, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	mapped, unmap, err := mapFile(file)
	if errors.Is(err, errors.ErrUnsupported) {
		return Open(path, with...)
	}
	if err != nil {
		return nil, inFile(path, err)
	}
	table, err := fromOwned(mapped, with)
	if err != nil {
		_ = unmap()
		return nil, inFile(path, err)
	}
	table.image.unmap = unmap
	return table, nil
}

// Close takes the mapping of OpenMapped away. No lookup may run then or follow: it would end the
// process. It does nothing for other images, which garbage collection frees, and if it is called again.
func (i *Image) Close() error {
	unmap := i.unmap
	i.unmap = nil
	if unmap == nil {
		return nil
	}
	return unmap()
}

// FromBytes validates a copy of the bytes of an image, and returns its table.
func FromBytes(image []byte, with ...Option) (*Table, error) {
	// What begins like no image is not copied.
	if _, err := checkHeader(image[:min(headerLen, len(image))]); err != nil {
		return nil, err
	}
	return fromOwned(bytes.Clone(image), with)
}

// fromOwned returns the table of bytes that nobody changes.
func fromOwned(bytes []byte, with []Option) (*Table, error) {
	var o options
	for _, option := range with {
		option(&o)
	}
	image, err := newImage(bytes)
	if err != nil {
		return nil, err
	}
	if !o.named && len(image.tables) == 1 {
		return image.tables[0], nil
	}
	if !o.named {
		return nil, fmt.Errorf("an image of several tables, of which WithName chooses one: %s", image.names())
	}
	return image.Table(o.name)
}

func inFile(path string, err error) error {
	if err == nil {
		return nil
	}
	var ofFile *fs.PathError
	if errors.As(err, &ofFile) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// readImage reads an image whose header says how long it is. A header that lies makes no memory be
// taken: of a file that is no regular one, no more is taken at a time than has come so far.
func readImage(from io.Reader, info fs.FileInfo) ([]byte, error) {
	var header [headerLen]byte
	n, err := io.ReadFull(from, header[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	length, err := checkHeader(header[:n])
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && uint64(info.Size()) != length {
		if size := uint64(info.Size()); size < length {
			return nil, cutOff(size, length)
		}
		return nil, &FormatError{length, "header", fmt.Sprintf("%d bytes follow the image's %d", uint64(info.Size())-length, length)}
	}
	if length < headerLen || length > 1<<62 {
		return nil, &FormatError{16, "header", "its length is none that it can have"}
	}
	if info.Mode().IsRegular() {
		// The length of a sparse file says nothing, and without memory for it make would end the process.
		if err := askForMemory(length); err != nil {
			return nil, fmt.Errorf("no memory for the image's %d bytes: %w", length, err)
		}
		image := make([]byte, length)
		copy(image, header[:])
		if n, err := io.ReadFull(from, image[headerLen:]); err == io.ErrUnexpectedEOF || err == io.EOF {
			return nil, cutOff(uint64(headerLen+n), length)
		} else if err != nil {
			return nil, err
		}
		return image, nil
	}
	var image bytes.Buffer
	image.Write(header[:])
	if _, err := io.CopyN(&image, from, int64(length-headerLen)); err == io.EOF {
		return nil, cutOff(uint64(image.Len()), length)
	} else if err != nil {
		return nil, err
	}
	// What follows is not read; that there is something is an error.
	if more, _ := io.ReadFull(from, header[:1]); more > 0 {
		return nil, &FormatError{length, "header", "bytes follow the image"}
	}
	return image.Bytes(), nil
}
