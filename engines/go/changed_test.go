package popfib

// Images that are changed by hand and at random: refused, or answering, as the Python of docs/image-format.md has it
// (engines/vectors/changed.py).

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// foundIn is what is found in an image, in the form of changed.py; nothing if it is refused.
func foundIn(image []byte, asked []netip.Addr) (string, error) {
	whole, err := newImage(image)
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, table := range whole.tables {
		if first, _ := whole.Table(table.name); first != table {
			continue
		}
		ipv4, ipv6 := table.Len()
		fmt.Fprintf(&all, "table %s\nroutes %d\n", table.name, ipv4+ipv6)
		for _, address := range asked {
			record, _ := table.Lookup(address)
			match := "-"
			if prefix, of, found := table.Match(address); prefix.IsValid() {
				match = fmt.Sprintf("%d/%d", of.Number(), prefix.Bits())
			} else if found {
				match = fmt.Sprintf("%d/?", of.Number())
			}
			fmt.Fprintf(&all, "%d %s\n", record.Number(), match)
		}
		if table.columns == nil {
			continue
		}
		for number := range min(table.recordCount, 50) {
			var texts []string
			for _, value := range table.Record(number + 1).All() {
				text := "~"
				if value != nil {
					text = strings.NewReplacer("\t", " ", "\n", " ").Replace(textOf(value))
				}
				texts = append(texts, text)
			}
			fmt.Fprintln(&all, strings.Join(texts, "\t"))
		}
	}
	return all.String(), nil
}

func TestChangedImages(t *testing.T) {
	path := "../../target/tmp/changed-images"
	if out, err := exec.Command("python3", "../vectors/changed.py", path).CombinedOutput(); err != nil {
		t.Fatalf("changed.py: %v: %s", err, out)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	part := func() []byte {
		end := 4 + int(u32(file, 0))
		part := file[4:end:end]
		file = file[end:]
		return part
	}
	var asked []netip.Addr
	for line := range strings.Lines(string(part())) {
		b, _ := hex.DecodeString(strings.TrimSpace(line))
		address, _ := netip.AddrFromSlice(b)
		asked = append(asked, address)
	}
	images := 0
	for ; len(file) > 0; images++ {
		name, image, expected := part(), part(), part()
		found, err := foundIn(image, asked)
		if found != string(expected) {
			t.Errorf("%s: %v; %.200q, not %.200q", name, err, found, expected)
		}
	}
	if images <= 10_000 {
		t.Errorf("%d images alone", images)
	}
}
