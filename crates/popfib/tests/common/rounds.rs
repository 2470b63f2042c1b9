//! How long a test goes on.

/// `all` where the environment variable `POPFIB_ROUNDS` is `all`, as `scripts/test --all` sets it; else `few`.
pub(crate) fn rounds<N>(few: N, all: N) -> N {
    match std::env::var_os("POPFIB_ROUNDS") {
        Some(rounds) if rounds == "all" => all,
        _ => few,
    }
}
