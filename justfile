# Short names for common commands; `just` lists them. Everything works without it.

_default:
    @just --list

# Every check, as CI runs them
test:
    scripts/test --all

# What to run before a commit
quick:
    scripts/test

fmt:
    cargo fmt --all

clippy:
    cargo clippy --workspace --all-targets --all-features -- -D warnings

# Layers of crates and modules, places of unsafe code
layers:
    scripts/check-layers --self-test
    scripts/check-layers

doc:
    cargo doc --workspace --no-deps --all-features

# Lookup rates; arguments go to `popfib-lab bench`
bench *args:
    cargo run --release -p popfib-lab -- bench {{args}}

# One fuzz target, until it is stopped
fuzz target:
    cargo +nightly fuzz run {{target}}
