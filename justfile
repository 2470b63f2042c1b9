# Every script by a short name, with a line on what it does; `just` lists them. Everything works without it.

_default:
    @just --list --unsorted

# ---------------------------------------------------------------- checks

# What to run before a commit
test *args:
    scripts/test {{ args }}

# The laboratory, after a change in lab/ (--all: as CI; --long)
lab-test *args:
    lab/test {{ args }}

# What CI runs
ci:
    .ci/run

# Who may import whom, where unsafe stands, lengths of files
layers *args:
    scripts/check-layers {{ args }}

# What two commits answer differently, over one shelf of files
compare *args:
    scripts/compare {{ args }}

# Words that have a better one
words *args:
    scripts/check-words {{ args }}

# Type names with more than one meaning
names *args:
    scripts/check-names {{ args }}

# What docs/doors.md says of each door
doors *args:
    scripts/check-doors {{ args }}

# The Markdown of all documents (--fix wraps it)
markdown *args:
    scripts/check-markdown {{ args }}

# Lists of what others may use, written again (--check)
api *args:
    scripts/api {{ args }}

# The commands of README and guides, and all links
readme *args:
    scripts/check-readme {{ args }}

# The pictures of the documentation (--check, --lab)
pictures *args:
    scripts/pictures {{ args }}

# The C library's tests (--quick)
test-c *args:
    crates/popfib-capi/test {{ args }}

# The Python package's tests (--quick, --spark)
test-python *args:
    scripts/test-python {{ args }}

# The DuckDB extension's tests (--quick)
test-duckdb *args:
    crates/popfib-duckdb/test {{ args }}

# The page of `popfib explore` in a browser (--figures, --pictures)
test-explore *args:
    scripts/test-explore {{ args }}

# The npm package's tests, in Node and a browser
test-npm *args:
    crates/popfib-wasm/test {{ args }}

# The PostgreSQL extension's tests, in a server of their own
test-postgresql *args:
    engines/postgresql/test {{ args }}

# The Go package's tests (--quick)
test-go *args:
    engines/go/test {{ args }}

# The processor for the OpenTelemetry Collector
test-otelcol:
    engines/go/otelcol/test

# popfib in BPF programs, in namespaces of its own (--quick, --linux VERSION)
test-bpf *args:
    engines/bpf/test {{ args }}

# A command by another Linux in an emulator
emulate version *command:
    engines/bpf/emulate {{ version }} {{ command }}

# The reader for the JVM (--quick)
test-jvm *args:
    engines/jvm/test {{ args }}

# The functions of Spark SQL, in sessions of Spark
test-spark *versions:
    engines/jvm/spark/test {{ versions }}

# The function of the guide to Flink, in Flink
test-flink:
    engines/jvm/flink/test

# popfib clickhouse inside of ClickHouse
test-clickhouse *args:
    engines/clickhouse/test {{ args }}

# popfibd beside FRR, BIRD, GoBGP, ExaBGP and the kernel
test-daemons *args:
    scripts/test-daemons {{ args }}

# Programs of docs/pipelines by the configurations of their pages (names of pages)
test-pipelines *args:
    scripts/test-pipelines {{ args }}

# The README's two commands in a minimal Debian
test-minimal:
    scripts/test-minimal

# The packages of a release, where nothing of Rust is
test-packages *args:
    scripts/test-packages {{ args }}

# The guides as a site, in target/site/out
site *args:
    scripts/site {{ args }}

# All orders of what runs at the same time, by a model checker
loom *args:
    scripts/loom {{ args }}

# The library's unsafe code in an interpreter that finds undefined behaviour
miri *args:
    scripts/miri {{ args }}

# Races, by the thread sanitizer
tsan *args:
    scripts/tsan {{ args }}

# Faults in the core, each of which the tests must find
faults *args:
    scripts/seed-faults {{ args }}

# One fuzz target, until it is stopped
fuzz target:
    cargo +nightly fuzz run {{ target }}

# ---------------------------------------------------------------- what is made

# The files of a release, without uploading any (--check: metadata only)
release *args="--dry-run":
    scripts/release {{ args }}

# The DuckDB extension
build-duckdb *args:
    crates/popfib-duckdb/build {{ args }}

# The npm package
build-npm *args:
    crates/popfib-wasm/build {{ args }}

# The built-in table, from the packages that it comes from (--check)
default-table *args:
    scripts/default-table {{ args }}

# Tables, addresses and answers for the tests of all doors
vectors:
    engines/vectors/generate.py

# Images that are changed by hand and at random, with what a reader finds in each
changed-images *args:
    engines/vectors/changed.py {{ args }}

# The chart of the README's rates
rates:
    cd lab && cargo run -p popfib-report --example rates >../docs/pictures/rates.svg

# ---------------------------------------------------------------- benchmarks; lab/README.md has them all

# Lookups by algorithm, kernel and traffic: popfib-lab bench
bench *args:
    cd lab && cargo run --release -- bench {{ args }}

# The papers' evaluation as a report: popfib-lab evaluate
evaluate *args:
    cd lab && cargo run --release -- evaluate {{ args }}

# Lookups and maps beside DPDK, prefix-trie, treebitmap and bart
bench-peers *args:
    lab/bench/peers {{ args }}

# Rates, bytes, compiling and changes by number of routes, beside others
bench-sweep *args:
    lab/bench/sweep {{ args }}

# Lookups in the kernel beside LPM_TRIE, of two tables
bench-bpf *args:
    scripts/bench-bpf {{ args }}

# measure changes of routes while a BPF program looks up
bench-bpf-live *args:
    scripts/bench-bpf-live {{ args }}

# Reading, images, annotate, aggregate and diff; MRT beside bgpkit-parser
bench-tables *args:
    lab/bench/tables {{ args }}

# Sets, lists and rov beside wc, netaddr, aggregate6, aggregate and bgpq4
bench-lists *args:
    lab/bench/lists {{ args }}

# Changes of ipset's and nft's lists beside loading them whole
bench-firewalls *args:
    lab/bench/firewalls {{ args }}

# Values of records of a MaxMind database beside libmaxminddb
bench-records *args:
    lab/bench/records {{ args }}

# Columns and full records in Python beside MaxMind's reader
bench-records-python *args:
    target/python/bin/python lab/bench/records.py {{ args }}

# Records in JavaScript beside mmdb-lib and maxmind
bench-records-javascript *args:
    cd target/npm && node ../../lab/bench/records.js {{ args }}

# Annotating with three columns beside one
bench-columns *args:
    lab/bench/columns {{ args }}

# A table with all its columns in forms that have them all
bench-convert *args:
    lab/bench/convert {{ args }}

# Loading by two builds: time and memory
bench-values *args:
    lab/bench/values {{ args }}

# Many lists as sets, beside iprange
bench-sets *args:
    lab/bench/sets {{ args }}

# Everyday tasks beside what people do them with
bench-tasks *args:
    lab/bench/tasks {{ args }}

# Updates, and a table at a time, beside bgpdump
bench-updates *args:
    lab/bench/updates {{ args }}

# Joins of tables and blocklists
bench-join *args:
    lab/bench/join {{ args }}

# Annotating, searching and counting logs beside cat and grepcidr
bench-logs *args:
    lab/bench/logs {{ args }}

# popfibd, as routers and clients see it
bench-popfibd *args:
    lab/bench/popfibd {{ args }}

# popfibd by HTTP, beside nginx with its module geoip2
bench-http *args:
    lab/bench/http {{ args }}

# Bulk lookups from C beside Rust
bench-c *args:
    lab/bench/c {{ args }}

# Python beside pytricia and Rust
bench-python *args:
    target/python/bin/python lab/bench/python.py {{ args }}

# Spark beside its own join by ranges
bench-spark *args:
    target/python/bin/python lab/bench/spark.py {{ args }}

# The functions of Spark SQL beside a constant and Python, after test-python --spark and test-spark (--image, --rows)
bench-spark-sql *args:
    taskset -c 1 target/python/bin/python engines/jvm/spark/bench.py {{ args }}

# DuckDB beside its own joins
bench-duckdb *args:
    lab/bench/duckdb {{ args }}

# ClickHouse beside its ip_trie
bench-clickhouse *args:
    lab/bench/clickhouse.py {{ args }}

# PostgreSQL beside its indexes by GiST
bench-postgresql *args:
    lab/bench/postgresql.py {{ args }}

# The Go package beside bart and maxminddb-golang
bench-go *args:
    cd engines/go/bench && GOMAXPROCS=1 taskset -c 1 go test -bench . {{ args }}

# The processor for the OpenTelemetry Collector beside one by maxminddb-golang (POPFIB, CITY)
bench-otelcol *args:
    cd engines/go/otelcol && GOMAXPROCS=1 taskset -c 1 go test -run '^$' -bench . {{ args }}

# The reader for the JVM beside IPAddress and MaxMind's
bench-jvm *args:
    mvn -q -B -f engines/jvm/pom.xml -pl reader,bench package -DskipTests
    taskset -c 1 engines/jvm/bench/run {{ args }}

# JavaScript beside npm packages
bench-javascript table mmdb:
    cd target/npm && node ../../lab/bench/javascript.js {{ table }} {{ mmdb }}
