//! An object of JSON in, its members out one by one, so that whoever reads it says of each what it is.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::node::OrderedMembers;
use super::{parse, reason};
use crate::error::{not, quote};
use crate::words::is_one_of;

pub(crate) type MemberPairs<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

/// The members of an object in their order.
pub(crate) fn pairs(text: &str) -> Result<MemberPairs<'_>, String> {
    let OrderedMembers(members) = parse(text)?;
    Ok(members)
}

/// The members of an object that have not been read yet.
pub(crate) struct Members<'a>(pub(crate) BTreeMap<Cow<'a, str>, &'a RawValue>);

impl<'a> Members<'a> {
    pub(crate) fn of(text: &'a str) -> Result<Self, String> {
        let mut by_name = BTreeMap::new();
        for (name, value) in pairs(text)? {
            if by_name.insert(name.clone(), value).is_some() {
                return Err(format!("{} twice in an object", quote(&*name)));
            }
        }
        Ok(Self(by_name))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// What a member is, if it is there.
    pub(crate) fn take<T: Deserialize<'a>>(&mut self, name: &str) -> Result<Option<T>, String> {
        let value = self.0.remove(name);
        let read = value.map(|value| serde_json::from_str(value.get()));
        read.transpose()
            .map_err(|e| format!("{name}: {}", reason(&e)))
    }

    /// What a member is that has to be there.
    pub(crate) fn need<T: Deserialize<'a>>(&mut self, name: &str) -> Result<T, String> {
        self.take(name)?
            .ok_or_else(|| format!("no member {}", quote(name)))
    }

    /// The object that a member is.
    pub(crate) fn object(&mut self, name: &str) -> Result<Self, String> {
        Self::of(self.need::<&RawValue>(name)?.get())
    }

    /// The same, or what is no value at all.
    pub(crate) fn optional<T: Deserialize<'a> + Default>(
        &mut self,
        name: &str,
    ) -> Result<T, String> {
        Ok(self.take(name)?.unwrap_or_default())
    }

    /// The members of the object that a member is; names may be equal.
    pub(crate) fn pairs(&mut self, name: &str) -> Result<MemberPairs<'a>, String> {
        let object = self.take::<&RawValue>(name)?;
        object.map_or_else(|| Ok(Vec::new()), |object| pairs(object.get()))
    }

    /// An error if anything is left but what is known to be of no effect: names with blanks between them.
    pub(crate) fn end(&self, known: &str) -> Result<(), String> {
        let unknown = |name: &&Cow<'_, str>| !is_one_of(known, name);
        match self.0.keys().find(unknown) {
            None => Ok(()),
            Some(name) => Err(not(&**name, "a member that is known")),
        }
    }
}
