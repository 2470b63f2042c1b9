//! Tables to measure on where a real one is not enough or not at hand: the
//! Poptrie paper's synthetic extensions of a real table ([`syn`]), and tables
//! made from a seed, of any size up to the paper's projection ([`synthetic`]).

pub mod syn;
pub mod synthetic;
