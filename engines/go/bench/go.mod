module example.org/popfib/engines/go/bench

go 1.26.0

require (
	example.org/popfib/engines/go v0.0.0
	github.com/gaissmai/bart v0.30.0
	github.com/oschwald/maxminddb-golang/v2 v2.9.0
)

require golang.org/x/sys v0.49.0 // indirect

replace example.org/popfib/engines/go => ../
