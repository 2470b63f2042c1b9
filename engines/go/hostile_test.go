package popfib

// Images that are cut, damaged or made to do harm: each is an error of one line, or it answers without
// leaving its memory; nothing panics, hangs, or takes memory beyond a few times its size.

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// mend makes all checksums, and the length, right again, if there is a section table.
func mend(image []byte) {
	if len(image) < headerLen {
		return
	}
	count := uint64(u32(image, 12))
	if end := headerLen + count*entryLen; end <= uint64(len(image)) {
		table := image[headerLen:end]
		for at := 0; at < len(table); at += entryLen {
			start, length := u64(table, at+8), u64(table, at+16)
			if start <= uint64(len(image)) && length <= uint64(len(image))-start {
				binary.LittleEndian.PutUint32(table[at+24:], crc32.ChecksumIEEE(image[start:start+length]))
			}
		}
		binary.LittleEndian.PutUint32(image[24:], crc32.ChecksumIEEE(table))
	}
	binary.LittleEndian.PutUint64(image[16:], uint64(len(image)))
	binary.LittleEndian.PutUint32(image[60:], crc32.ChecksumIEEE(image[:60]))
}

// all opens every table of an image and asks it for everything. It returns the error of opening.
func all(image []byte, random *rand.Rand) error {
	first, err := FromBytes(image)
	if err != nil && !strings.HasPrefix(err.Error(), "an image of several tables") {
		return err
	}
	var tables []*Table
	if err == nil {
		tables = first.Image().Tables()
	} else {
		// The names are those that the image says.
		whole, err := newImage(image)
		if err != nil {
			return err
		}
		tables = whole.tables
	}
	for _, table := range tables {
		ask(table, random)
	}
	return nil
}

func ask(table *Table, random *rand.Rand) {
	for range 200 {
		var b [16]byte
		random.Read(b[:])
		// Near the few addresses that small tables have.
		if random.Intn(2) == 0 {
			copy(b[:], []byte{10, 1, 2, byte(random.Intn(8))})
		}
		for _, address := range []netip.Addr{netip.AddrFrom16(b), netip.AddrFrom4([4]byte(b[:4]))} {
			record, found := table.Lookup(address)
			prefix, matched, _ := table.Match(address)
			if prefix.IsValid() && !prefix.Contains(address) {
				panic("a prefix does not contain its address")
			}
			if found && table.columns != nil && record.number > table.recordCount || matched.number > 1<<31-1 {
				panic("a record that is none")
			}
			_ = record.String()
		}
	}
	for prefix, record := range table.All() {
		if prefix != prefix.Masked() || record.number == 0 {
			panic("a route that is none")
		}
	}
	for number := range min(table.recordCount, 1000) {
		for range table.Record(number + 1).All() {
		}
	}
}

// bases are small images of many forms.
func bases(t testing.TB) map[string][]byte {
	t.Helper()
	bases := map[string][]byte{}
	read := func(name, path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		bases[name] = b
	}
	read("records", recordsFile)
	files, err := filepath.Glob("testdata/*.fib")
	if err != nil || len(files) == 0 {
		t.Fatal("there is no image in testdata: ", err)
	}
	for _, file := range files {
		read(filepath.Base(file), file)
	}
	bases["flat"] = flatImage()
	return bases
}

// larger are images of the forms that have large roots, or flat blocks.
func larger(t *testing.T) map[string][]byte {
	t.Helper()
	tables, _ := vectors(t)
	larger := map[string][]byte{}
	for _, direct := range []string{"17", "18"} {
		for _, size := range []string{"smallest", "balanced"} {
			b, err := os.ReadFile(compile(t, tables["edges"].text(), "--direct-bits", direct, "--size", size, "--keep", "values"))
			if err != nil {
				t.Fatal(err)
			}
			larger[direct+" "+size] = b
		}
	}
	return larger
}

func TestEveryCutIsAnError(t *testing.T) {
	for name, image := range bases(t) {
		for length := range len(image) {
			if length > 4096 && length%257 != 0 {
				continue
			}
			if _, err := newImage(image[:length:length]); err == nil {
				t.Fatalf("%s: cut off at %d", name, length)
			} else if strings.Contains(err.Error(), "\n") {
				t.Fatalf("%s: an error of several lines: %s", name, err)
			}
		}
		if _, err := newImage(append(append([]byte(nil), image...), 0)); err == nil {
			t.Fatalf("%s: a byte follows", name)
		}
	}
}

func TestEveryFlippedBitIsAnError(t *testing.T) {
	for name, image := range bases(t) {
		damaged := append([]byte(nil), image...)
		for at := range damaged {
			if at > 4096 && at%257 != 0 {
				continue
			}
			damaged[at] ^= 1 << (at % 8)
			if _, err := newImage(damaged); err == nil {
				t.Fatalf("%s: byte %d was changed", name, at)
			}
			damaged[at] = image[at]
		}
	}
}

// Most damages with right checksums are found as well; the others have to answer.
func TestDamagesWithRightChecksums(t *testing.T) {
	refuseOrAnswer(t, bases(t), 3000)
}

func TestDamagesOfLargerImages(t *testing.T) {
	refuseOrAnswer(t, larger(t), 100)
}

// damage is a copy of the image with up to three damages, and right checksums.
func damage(random *rand.Rand, image []byte) []byte {
	damaged := append([]byte(nil), image...)
	for range 1 + random.Intn(3) {
		at := random.Intn(len(damaged) - 4)
		// Half of the places are about the end, where the arena of a large table is.
		if len(damaged) > 1<<16 && random.Intn(2) == 0 {
			at = len(damaged) - 4 - random.Intn(1<<12)
		}
		switch random.Intn(5) {
		case 0:
			damaged[at] ^= 1 << random.Intn(8)
		case 1:
			binary.LittleEndian.PutUint32(damaged[at&^3:], random.Uint32())
		case 2:
			from := random.Intn(len(damaged) - 4)
			copy(damaged[at&^3:at&^3+4], damaged[from&^3:])
		case 3:
			binary.LittleEndian.PutUint32(damaged[at&^3:], uint32(random.Intn(300)))
		case 4:
			damaged = damaged[:max(headerLen, len(damaged)-random.Intn(len(damaged)/4))]
		}
		if len(damaged) < 72 {
			break
		}
	}
	mend(damaged)
	return damaged
}

func refuseOrAnswer(t *testing.T, images map[string][]byte, rounds int) {
	random := rand.New(rand.NewSource(1))
	for name, image := range images {
		refused := 0
		start := time.Now()
		for round := range rounds {
			damaged := damage(random, image)
			if err := all(damaged, random); err != nil {
				refused++
			}
			if round%500 == 0 && time.Since(start) > time.Minute {
				t.Fatalf("%s: too slow", name)
			}
		}
		if refused == 0 {
			t.Errorf("%s: nothing was refused", name)
		}
	}
}

func TestErrorsNameFileAndReason(t *testing.T) {
	good, err := os.ReadFile(recordsFile)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(change func(b []byte) []byte) []byte { return change(append([]byte(nil), good...)) }
	path := filepath.Join(t.TempDir(), "t.fib")
	for _, test := range []struct {
		image    []byte
		expected string
	}{
		{nil, "not a popfib image"},
		{[]byte("10.0.0.0/8 x\n"), "not a popfib image: `popfib compile FILE --columns '*' -o IMAGE`"},
		{good[:20], "byte 20 (header): cut off at byte 20 of 64"},
		{good[:5000], "byte 5000 (header): cut off at byte 5000 of 7892"},
		{append(append([]byte(nil), good...), 1, 2), "byte 7892 (header): 2 bytes follow the image's 7892"},
		{changed(func(b []byte) []byte { b[8] = 2; return b }), "an image of version 2.0; this program reads version 3: make it again with `popfib compile`"},
		{changed(func(b []byte) []byte { b[8] = 4; b[10] = 7; return b }), "an image of version 4.7; this program reads version 3: make it again with `popfib compile`"},
		{changed(func(b []byte) []byte { b[17] ^= 1; return b }), "byte 0 (header): the checksum does not match"},
		{changed(func(b []byte) []byte { b[70] ^= 1; return b }), "byte 64 (header): the checksum of the section table does not match"},
		{changed(func(b []byte) []byte { b[len(b)-1] ^= 1; return b }), "of table 2): the checksum does not match"},
		{changed(func(b []byte) []byte { b[68] ^= 1; mend(b); return b }), "byte 64 (section table"},
	} {
		if err := os.WriteFile(path, test.image, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, open := range []func(string, ...Option) (*Table, error){Open, OpenMapped} {
			_, err := open(path, WithName("records"))
			if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), test.expected) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, not %q", err, test.expected)
			}
		}
	}
	_, err = Open(path + ".none")
	if !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	var version *VersionError
	if _, err := FromBytes(changed(func(b []byte) []byte { b[8] = 9; return b })); !errors.As(err, &version) || version.Major != 9 {
		t.Error(err)
	}
	var format *FormatError
	if _, err := FromBytes(good[:len(good)-1]); !errors.As(err, &format) || format.Offset != 7891 {
		t.Error(err)
	}
	if _, err := FromBytes(nil); !errors.Is(err, ErrNotImage) {
		t.Error(err)
	}
	if _, err := Open(recordsFile); err == nil || err.Error() != recordsFile+`: an image of several tables, of which WithName chooses one: "records", "country"` {
		t.Error(err)
	}
	if _, err := Open(recordsFile, WithName("x")); err == nil || err.Error() != recordsFile+`: no table "x" in "records", "country"` {
		t.Error(err)
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a directory was opened")
	}
}

// A header that promises much takes no memory.
func TestMemoryIsBoundedByTheFile(t *testing.T) {
	good, err := os.ReadFile(recordsFile)
	if err != nil {
		t.Fatal(err)
	}
	header := append([]byte(nil), good[:headerLen]...)
	binary.LittleEndian.PutUint64(header[16:], 1<<40)
	binary.LittleEndian.PutUint32(header[12:], 1<<31)
	binary.LittleEndian.PutUint32(header[60:], crc32.ChecksumIEEE(header[:60]))
	path := filepath.Join(t.TempDir(), "t.fib")
	if err := os.WriteFile(path, header, 0o600); err != nil {
		t.Fatal(err)
	}
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Open(path); err == nil {
		t.Error("a header alone was opened")
	}
	// A sparse file is as long as it says, where the file system has such files.
	for _, length := range []int64{1 << 62, 1 << 43} {
		binary.LittleEndian.PutUint64(header[16:], uint64(length))
		binary.LittleEndian.PutUint32(header[60:], crc32.ChecksumIEEE(header[:60]))
		for _, folder := range []string{"/dev/shm", t.TempDir()} {
			file, err := os.CreateTemp(folder, "popfib")
			if err != nil {
				continue
			}
			defer os.Remove(file.Name())
			file.Write(header)
			if file.Truncate(length) == nil {
				if _, err := Open(file.Name()); err == nil {
					t.Errorf("a sparse file of %d bytes was opened", length)
				}
			}
			file.Close()
		}
	}
	binary.LittleEndian.PutUint64(header[16:], 1<<40)
	binary.LittleEndian.PutUint32(header[60:], crc32.ChecksumIEEE(header[:60]))
	if file, err := os.Open("/dev/zero"); err == nil {
		info, _ := file.Stat()
		if _, err := readImage(file, info); !errors.Is(err, ErrNotImage) {
			t.Error(err)
		}
		// After a header that promises a terabyte, only what comes is kept.
		if _, err := readImage(strings.NewReader(string(header)), info); err == nil {
			t.Error("a header alone was read")
		}
		file.Close()
	}
	runtime.ReadMemStats(&now)
	if taken := now.TotalAlloc - before.TotalAlloc; taken > 1<<20 {
		t.Errorf("%d bytes were taken", taken)
	}
	runtime.ReadMemStats(&before)
	for name, image := range bases(t) {
		runtime.ReadMemStats(&before)
		if _, err := newImage(image); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&now)
		if taken := now.TotalAlloc - before.TotalAlloc; taken > 2*uint64(len(image))+1<<16 {
			t.Errorf("%s: %d bytes were taken for %d", name, taken, len(image))
		}
	}
}

// What a later minor version may add is skipped; what the order of sections forbids is not.
func TestSectionsThatAreNotKnown(t *testing.T) {
	metadata := []byte("name\tlater\nsomething\telse\n")
	description := append(words{0, 0, 1, 16, 255, 0, 0, 0}, make([]byte, 32)...)
	description[24] = 1
	arena := words{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	build := func(add func(w *imageWriter)) []byte {
		var w imageWriter
		w.add(0, 0, kindMetadata, nil)
		w.add(1, 0, kindMetadata, metadata)
		add(&w)
		image := w.image()
		image[10] = 7
		mend(image)
		return image
	}
	table, err := FromBytes(build(func(w *imageWriter) {
		w.add(1, 0, 300, []byte("later"))
		w.add(1, 16, kindFib, []byte("of other keys"))
		w.add(1, 32, 2, nil)
		w.add(1, 32, kindFib, description)
		w.add(1, 32, kindFib+1, words{1, 0, 0, 0})
		w.add(1, 32, kindFib+2, arena)
		w.add(1, 32, 300, []byte("later"))
	}))
	if err != nil {
		t.Fatal(err)
	}
	for address, expected := range map[string]uint32{"192.0.2.1": 1, "2001:db8::1": 0} {
		if record, _ := table.Lookup(netip.MustParseAddr(address)); record.Number() != expected || table.Name() != "later" {
			t.Errorf("%s: %d in %q", address, record.Number(), table.Name())
		}
	}
	for reason, add := range map[string]func(w *imageWriter){
		"no IPv4 FIB arena": func(w *imageWriter) {
			w.add(1, 32, kindFib, description)
			w.add(1, 32, kindFib+1, words{1, 0, 0, 0})
		},
		"no metadata of table 2":    func(w *imageWriter) { w.add(3, 0, kindMetadata, metadata) },
		"sections are not in order": func(w *imageWriter) { w.add(1, 0, kindMetadata, metadata) },
		"the table has no name":     func(w *imageWriter) { w.add(2, 0, kindMetadata, []byte("source\tx\n")) },
		"a line is malformed":       func(w *imageWriter) { w.add(2, 0, kindMetadata, []byte("name\tx\ty\n")) },
		"the last line is cut off":  func(w *imageWriter) { w.add(2, 0, kindMetadata, []byte("name\tx")) },
		"the answer 1 is none there is": func(w *imageWriter) {
			w.add(1, 0, kindColumns, append(words{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, append(make([]byte, 8), 'x')...))
			w.add(1, 0, kindValues, nil)
			w.add(1, 0, kindValues+partTextEnds, nil)
			w.add(1, 32, kindFib, description)
			w.add(1, 32, kindFib+1, words{1, 0, 0, 0})
			w.add(1, 32, kindFib+2, arena)
		},
	} {
		if _, err := newImage(build(add)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v, not %s", err, reason)
		}
	}
}

func TestAPipeIsRead(t *testing.T) {
	good, err := os.ReadFile(recordsFile)
	if err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = writer.Write(good)
		writer.Close()
	}()
	info, err := reader.Stat()
	if err != nil {
		t.Fatal(err)
	}
	image, err := readImage(reader, info)
	if err != nil || string(image) != string(good) {
		t.Fatal(err)
	}
}

func TestMapped(t *testing.T) {
	table, err := OpenMapped(recordsFile, WithName("records"))
	if err != nil {
		t.Fatal(err)
	}
	city, err := ColumnOf[string](table, "names.city")
	if err != nil {
		t.Fatal(err)
	}
	record, _ := table.Lookup(netip.MustParseAddr("10.1.2.3"))
	name, _ := city.Of(record)
	if err := table.Image().Close(); err != nil {
		t.Fatal(err)
	}
	if err := table.Image().Close(); err != nil {
		t.Fatal(err)
	}
	// Texts are copies.
	if name != "Wien" {
		t.Error(name)
	}
}

func FuzzImage(f *testing.F) {
	for _, image := range bases(f) {
		if len(image) < 1<<17 {
			f.Add(image)
		}
	}
	f.Fuzz(func(t *testing.T, image []byte) {
		image = append([]byte(nil), image...)
		if len(image) > 8 {
			copy(image, magic+"\x03\x00")
		}
		mend(image)
		_ = all(image, rand.New(rand.NewSource(1)))
	})
}
