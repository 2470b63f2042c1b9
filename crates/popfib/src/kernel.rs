//! What comes with a [`Kernel`](crate::Kernel), a way to look up many addresses: the error for one that is not there.

pub use crate::batch::KernelError;
