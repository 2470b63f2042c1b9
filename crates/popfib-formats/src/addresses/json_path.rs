//! The strings at a path of a JSON object, where they stand in its text.
//!
//! serde_json reads the object and skips what the path does not lead to; what it leads to is kept as
//! a slice of the line, so that its place is known and nothing is copied.

use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Calls `each` with where every value stands that `path` leads to in the object `line`: keys, and of an
/// array each element, or the one of a number in the path. Stops at what is no JSON.
pub(super) fn values(line: &[u8], path: &[String], each: &mut dyn FnMut(Range<usize>)) {
    let Ok(text) = std::str::from_utf8(line) else {
        return;
    };
    let mut found = |raw: &RawValue| {
        let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
        each(start..start + raw.get().len());
    };
    let mut json = serde_json::Deserializer::from_str(text);
    let at = At {
        path,
        each: &mut found,
    };
    // What came before an error was found all the same.
    let _ = at.deserialize(&mut json);
}

/// A place on the way.
struct At<'p, 'f> {
    path: &'p [String],
    each: &'f mut dyn FnMut(&RawValue),
}

impl<'de> DeserializeSeed<'de> for At<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        if self.path.is_empty() {
            let value: &RawValue = serde::Deserialize::deserialize(json)?;
            (self.each)(value);
            return Ok(());
        }
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for At<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let mut is_found = false;
        while let Some(is_next) = map.next_key_seed(Is(&self.path[0]))? {
            // Of a key that is there twice, the first.
            if is_next && !is_found {
                is_found = true;
                map.next_value_seed(At {
                    path: &self.path[1..],
                    each: &mut *self.each,
                })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<(), S::Error> {
        let number: Option<usize> = self.path[0].parse().ok();
        for index in 0.. {
            let path = if number.is_some() {
                &self.path[1..]
            } else {
                self.path
            };
            let is_asked = number.is_none_or(|number| number == index);
            let next = if is_asked {
                list.next_element_seed(At {
                    path,
                    each: &mut *self.each,
                })?
            } else {
                list.next_element::<IgnoredAny>()?.map(|_| ())
            };
            if next.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Whether a key is this one.
struct Is<'p>(&'p str);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str, path: &str) -> Vec<String> {
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        let mut found = Vec::new();
        values(line.as_bytes(), &path, &mut |range| {
            found.push(line[range].to_owned());
        });
        found
    }

    #[test]
    fn paths_lead_through_objects_and_arrays() {
        let line = r#" {"a": 1, "src": {"ip" : "1.2.3.4", "port": 80, "ip": "no"}, "list": [{"ip": "5.6.7.8"}, 3, {"ip": ["::1"]}]} "#;
        for (path, expected) in [
            ("a", &["1"][..]),
            ("src.ip", &[r#""1.2.3.4""#]),
            ("list.ip", &[r#""5.6.7.8""#, r#"["::1"]"#]),
            ("list.0.ip", &[r#""5.6.7.8""#]),
            ("list.2.ip.0", &[r#""::1""#]),
            ("list.7.ip", &[]),
            ("src.none", &[]),
            ("a.b", &[]),
            ("src", &[r#"{"ip" : "1.2.3.4", "port": 80, "ip": "no"}"#]),
        ] {
            assert_eq!(found(line, path), expected, "{path}");
        }
    }

    #[test]
    fn what_is_no_json_has_nothing_or_what_came_before() {
        for line in [
            "",
            "[",
            "nonsense",
            "{\"ip\"",
            "{\"ip\":",
            "{\"x\":1,}",
            "{\"ip\":\"1.2.3.4",
        ] {
            assert!(found(line, "ip").is_empty(), "{line}");
        }
        assert_eq!(found(r#"{"ip":"1.2.3.4","cut":"#, "ip"), [r#""1.2.3.4""#]);
        let deep = "[".repeat(100_000);
        assert!(found(&deep, "ip").is_empty());
        assert!(found(&format!("{{\"x\":{deep}"), "ip").is_empty());
    }
}
