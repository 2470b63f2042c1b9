//! What is asked of the CPU itself. Which kernels it can run is in `batch/cpu.rs`.

#[cfg(all(target_arch = "x86_64", feature = "std"))]
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Whether the CPU has the instructions for which code that counts bits is compiled a second time.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[inline(always)]
pub(crate) fn has_popcnt() -> bool {
    // A constant where the whole build is for such a CPU.
    if cfg!(all(
        target_feature = "popcnt",
        target_feature = "bmi1",
        target_feature = "bmi2"
    )) {
        return true;
    }
    // 0 before the CPU was asked. One load and one test, which the standard library has for each of the three, with a call
    // behind each.
    static HAS: AtomicU8 = AtomicU8::new(0);
    const NO: u8 = 1;
    const YES: u8 = 2;

    #[cold]
    #[inline(never)]
    fn ask() -> bool {
        let has = std::arch::is_x86_feature_detected!("popcnt")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2");
        HAS.store(if has { YES } else { NO }, Relaxed);
        has
    }

    match HAS.load(Relaxed) {
        0 => ask(),
        has => has == YES,
    }
}

/// Has the memory at `at` fetched into the cache, if there is any. Stable Rust has no portable instruction for that: where it knows
/// none for the CPU, nothing happens.
#[inline(always)]
pub(crate) fn prefetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is no access: it may lie outside of any memory. All of x86-64 has the instruction.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Defines a method that is another, compiled a second time for CPUs that count bits by one instruction: without it each count takes a dozen.
/// `$counted` names what is compiled for them; `$any` is the method with the body, which has to be `#[inline(always)]`.
macro_rules! counted {
    ($(#[$about:meta])* $vis:vis fn $name:ident, $counted:ident(
        &$self:ident, $($arg:ident: $type:ty),*) -> $out:ty = $any:ident
    ) => {
        $crate::cpu::counted! { @ $(#[$about])* $vis $name $counted $any [&$self] $self ($($arg: $type),*) -> $out }
    };
    ($(#[$about:meta])* $vis:vis fn $name:ident, $counted:ident(
        &mut $self:ident, $($arg:ident: $type:ty),*) -> $out:ty = $any:ident
    ) => {
        $crate::cpu::counted! { @ $(#[$about])* $vis $name $counted $any [&mut $self] $self ($($arg: $type),*) -> $out }
    };
    (@ $(#[$about:meta])* $vis:vis $name:ident $counted:ident $any:ident [$($me:tt)+] $self:ident
        ($($arg:ident: $type:ty),*) -> $out:ty
    ) => {
        $(#[$about])*
        // A test and a call; elsewhere the body, which is too long to be in every caller.
        #[cfg_attr(all(target_arch = "x86_64", feature = "std"), inline)]
        $vis fn $name($($me)+, $($arg: $type),*) -> $out {
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            if $crate::cpu::has_popcnt() {
                // SAFETY: the CPU has what the method was compiled for.
                return unsafe { $self.$counted($($arg),*) };
            }
            $self.$any($($arg),*)
        }

        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        #[target_feature(enable = "popcnt,bmi1,bmi2")]
        fn $counted($($me)+, $($arg: $type),*) -> $out {
            $self.$any($($arg),*)
        }
    };
}

pub(crate) use counted;
