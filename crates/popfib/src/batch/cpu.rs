//! Which kernels the CPU can run, and what kind of CPU it is.
//!
//! Each asks for every feature that its functions are compiled with: the
//! smaller ones (`popcnt`, `bmi1`, `bmi2`) come with the larger ones in
//! every CPU ever made, but not in every virtual machine. Where the build has no
//! vector kernels (`batch/mod.rs`), no CPU has them.

/// Whether the CPU has all of the features; without `std` only what the build targets counts.
macro_rules! has {
    ($($feature:tt),+) => {{
        #[cfg(all(
            target_arch = "x86_64",
            target_pointer_width = "64",
            target_feature = "sse2",
            feature = "std"
        ))]
        {
            // A constant where the whole build is for such a CPU.
            $(std::arch::is_x86_feature_detected!($feature))&&+
        }
        #[cfg(not(all(
            target_arch = "x86_64",
            target_pointer_width = "64",
            target_feature = "sse2",
            feature = "std"
        )))]
        {
            cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) $(&& cfg!(target_feature = $feature))+
        }
    }};
}

pub(super) fn has_avx2() -> bool {
    has!("avx2", "popcnt", "bmi1", "bmi2")
}

pub(super) fn has_avx512bw() -> bool {
    has!("avx512f", "avx512bw", "avx512dq", "avx512vl") && has!("popcnt", "bmi1", "bmi2")
}

pub(super) fn has_avx512() -> bool {
    has_avx512bw() && has!("avx512vpopcntdq")
}
