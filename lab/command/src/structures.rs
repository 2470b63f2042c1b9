//! Structures as the command's options ask for them.

use popfib::{Options, Rib};
use popfib_baselines::{CannotBuild, Key};
use popfib_eval::{Algorithm, Compiled};

use crate::args::FormArgs;
use crate::program::Failure;

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
