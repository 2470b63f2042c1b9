//! Values of records in JSON: a cell of a table in, a JSON value out. Numbers are numbers, lists are arrays.

use popfib_table::{Cell, Scalar};
use serde::{Serialize, Serializer};

/// A value that is written so. A float that is none, or infinite, is null.
#[derive(Clone, Copy, Debug)]
pub struct CellJson<'a>(pub Cell<'a>);

impl Serialize for CellJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Cell::Scalar(scalar) => ScalarJson(scalar).serialize(serializer),
            Cell::List(list) => serializer.collect_seq(list.iter().map(ScalarJson)),
        }
    }
}

/// The same of one scalar.
struct ScalarJson<'a>(Scalar<'a>);

impl Serialize for ScalarJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Scalar::Text(text) => serializer.serialize_str(text),
            Scalar::Integer(number) => serializer.serialize_i128(number),
            // As its text, where all others have a fraction or none.
            Scalar::Float(whole, 0) if whole as i32 as f64 == whole && whole != 0.0 => {
                serializer.serialize_i32(whole as i32)
            }
            Scalar::Float(number, _) => serializer.serialize_f64(number),
            Scalar::Boolean(truth) => serializer.serialize_bool(truth),
        }
    }
}
