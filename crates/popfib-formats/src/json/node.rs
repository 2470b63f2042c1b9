//! JSON as the columns of a record, with numbers as they are written.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Error;
use serde_json::value::RawValue;

use crate::leaves::Node;
use crate::record::Kind;

/// What `json` holds.
///
/// Takes time in proportion to its length and its depth, which the parser limits.
pub(super) fn node(json: &str) -> Result<Node<'_>, Error> {
    let json = json.trim();
    Ok(match json.as_bytes().first() {
        Some(b'"') => Node::Scalar(Kind::Text, serde_json::from_str::<Text<'_>>(json)?.0),
        Some(b'{') => {
            let Members(members) = serde_json::from_str(json)?;
            let members = members.into_iter();
            let members = members.map(|(key, value)| Ok::<_, Error>((key, node(value.get())?)));
            Node::Map(members.collect::<Result<_, _>>()?)
        }
        Some(b'[') => {
            let elements: Vec<&RawValue> = serde_json::from_str(json)?;
            let elements = elements.into_iter().map(|element| node(element.get()));
            Node::Array(elements.collect::<Result<_, _>>()?)
        }
        Some(b't' | b'f') => Node::Scalar(Kind::Boolean, Cow::Borrowed(json)),
        Some(b'n') | None => Node::Null,
        Some(_) => Node::Scalar(Kind::Written, Cow::Borrowed(json)),
    })
}

/// A string, without a copy where it has no escapes.
#[derive(serde::Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The members of an object in their order.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<Text<'de>, &RawValue>()? {
                    members.push((key.0, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}
