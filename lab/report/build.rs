//! Tells the crate which compiler builds it, and which commit of the tree this is.

use std::env;
use std::process::Command;

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let compiler = answer(&rustc, &["--version"]);
    let commit = answer("git", &["rev-parse", "--short=12", "HEAD"]);
    // What differs from the commit is no longer that commit.
    let is_changed = answer("git", &["status", "--porcelain", "--untracked-files=no"]).is_some();
    let commit = match commit {
        Some(commit) if is_changed => format!("{commit}, changed"),
        Some(commit) => commit,
        None => "unknown".into(),
    };
    let compiler = compiler.unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=POPFIB_COMPILER={compiler}");
    println!("cargo::rustc-env=POPFIB_COMMIT={commit}");
    let target = env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=POPFIB_TARGET={target}");
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(head) = answer("git", &["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={head}");
    }
}

/// What a program says, if it is there and says something.
fn answer(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
