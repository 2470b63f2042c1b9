// SPDX-License-Identifier: MIT OR Apache-2.0

// Attaches filter.bpf.c to an interface by cilium/ebpf, and prints what it has counted when it is interrupted: packets, bytes and
// value. The map is the one that `popfib xdp load` fills, before or after.
//
//	clang -O2 -g -target bpf -mcpu=v2 -I engines/bpf -c engines/bpf/examples/filter.bpf.c -o filter.o
//	popfib xdp load drop.txt
//	go run . -object filter.o -device eth0
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

// count is struct popfib_count, of one CPU.
type count struct {
	Packets, Bytes uint64
}

func run(object, device, pin string) error {
	spec, err := ebpf.LoadCollectionSpec(object)
	if err != nil {
		return err
	}
	// Maps are pinned there by their names, and found if they are already.
	options := ebpf.CollectionOptions{Maps: ebpf.MapOptions{PinPath: pin}}
	collection, err := ebpf.NewCollectionWithOptions(spec, options)
	if err != nil {
		return err
	}
	defer collection.Close()
	port, err := net.InterfaceByName(device)
	if err != nil {
		return err
	}
	attached, err := link.AttachXDP(link.XDPOptions{Program: collection.Programs["filter"], Interface: port.Index})
	if err != nil {
		return err
	}
	defer attached.Close()
	fmt.Fprintln(os.Stderr, "attached to", device)

	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	<-interrupted
	return printCounts(collection.Maps["popfib_counts"])
}

func printCounts(counts *ebpf.Map) error {
	var (
		value   uint32
		ofCPUs  []count
		entries = counts.Iterate()
	)
	for entries.Next(&value, &ofCPUs) {
		var sum count
		for _, of := range ofCPUs {
			sum.Packets += of.Packets
			sum.Bytes += of.Bytes
		}
		if sum.Packets > 0 {
			fmt.Printf("%d\t%d\t%d\n", sum.Packets, sum.Bytes, value)
		}
	}
	return entries.Err()
}

func main() {
	object := flag.String("object", "filter.o", "compiled filter.bpf.c")
	device := flag.String("device", "eth0", "interface")
	pin := flag.String("pin", "/sys/fs/bpf", "folder in which maps are pinned")
	flag.Parse()
	if err := run(*object, *device, *pin); err != nil {
		log.Fatal(err)
	}
}
