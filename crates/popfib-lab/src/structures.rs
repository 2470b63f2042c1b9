//! Structures as the command's options ask for them.

use std::time::Duration;

use popfib::{Options, Rib};
use popfib_baselines::{CannotBuild, Key};
use popfib_cli::failure::Failure;
use popfib_cli::image::Opened;
use popfib_eval::{Algorithm, AnyFib, Compiled};

use crate::args::FormArgs;

/// Compiles `rib` in the form that the options ask for.
pub(crate) fn compile<A: Key>(
    rib: &Rib<A>,
    direct_bits: Option<u8>,
    form: &FormArgs,
) -> Result<Compiled<A>, Failure> {
    let algorithm = form.algorithm()?;
    build(rib, direct_bits, algorithm, form).map_err(|error| match error {
        CannotBuild::Compile(error) => error.into(),
        error => format!("{}: {error}", algorithm.name()).into(),
    })
}

/// Builds `algorithm` from `rib`, Poptries in the form that the options ask for.
pub(crate) fn build<A: Key>(
    rib: &Rib<A>,
    direct_bits: Option<u8>,
    algorithm: Algorithm,
    form: &FormArgs,
) -> Result<Compiled<A>, CannotBuild> {
    let options = Options::default()
        .direct_bits(direct_bits)
        .aggregation(!form.no_aggregation);
    popfib_eval::build(rib, algorithm, &options)
}

/// The Fib of an image as it is, whose form no option changes any more.
pub(crate) fn of_image<A: Key>(
    opened: &Opened,
    direct_bits: Option<u8>,
    form: &FormArgs,
) -> Result<Compiled<A>, Failure> {
    if direct_bits.is_some() || form.no_aggregation {
        return Err(opened.is_compiled("--direct-bits and --no-aggregation are"));
    }
    let narrow = opened
        .image
        .table::<A>()
        .and_then(|table| table.narrow_fib());
    Ok(Compiled {
        fib: match narrow {
            Some(fib) => Box::new(fib.clone()) as Box<dyn AnyFib<A>>,
            None => Box::new(opened.fib::<A>()?),
        },
        compile_time: Duration::ZERO,
    })
}
