//! Gives the shared library its soname, which the linker of a C program writes down.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let os = std::env::var("CARGO_CFG_TARGET_OS");
    if matches!(
        os.as_deref(),
        Ok("linux" | "android" | "freebsd" | "netbsd" | "openbsd")
    ) {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libpopfib.so.0");
    }
}
