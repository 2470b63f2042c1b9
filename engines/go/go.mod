module example.org/popfib/engines/go

go 1.24
