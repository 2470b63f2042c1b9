//! What a file became ([`Loaded`]): routes, a table, prefixes or VRPs, with what is known of the file and what was left out of it.

use std::ops::{Deref, DerefMut};

use popfib::image::Source;

use crate::names::counted;

/// What was loaded from a file, where it comes from, and what it lacks of that.
#[derive(Clone, Debug, Default)]
pub struct Loaded<T> {
    /// The name of the file.
    pub name: String,
    /// What is known of where it comes from: the file, or what an image says.
    pub sources: Vec<Source>,
    /// How many routes were replaced by a later one for the same prefix.
    pub replaced: u64,
    /// How many routes have a value that is absent, or a record without any, for the user: one line.
    pub absent: Option<String>,
    /// Which column of several is its value, where none was asked for, for the user: one line.
    pub unread: Option<String>,
    /// How many invalid lines, or records of a binary file, were skipped.
    pub skipped: u64,
    /// Which [updates](crate::LoadOptions::updates) were applied, for the user: one line.
    pub applied: Option<String>,
    /// What else was left out, for the user: one line each.
    pub notes: Vec<String>,
    /// What the file became.
    pub content: T,
}

impl<T> Loaded<T> {
    /// What has these sources, of which nothing was left out.
    pub fn new(name: String, sources: Vec<Source>, content: T) -> Self {
        let empty = Loaded::<()> {
            name,
            sources,
            ..Loaded::default()
        };
        empty.map(|()| content)
    }

    /// The same of what `map` makes of its content.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> Loaded<U> {
        Loaded {
            name: self.name,
            sources: self.sources,
            replaced: self.replaced,
            absent: self.absent,
            unread: self.unread,
            skipped: self.skipped,
            applied: self.applied,
            notes: self.notes,
            content: map(self.content),
        }
    }

    /// What was applied and what is lacking of the file, for the user, one line each: replaced routes, skipped lines, updates, values
    /// that are absent, the notes, and what was not asked for.
    pub fn remarks(&self) -> Vec<String> {
        let replaced = (self.replaced > 0).then(|| {
            let routes = counted(self.replaced, "route");
            format!("{routes} replaced by a later line for the same prefix")
        });
        let skipped = (self.skipped > 0).then(|| {
            let lines = counted(self.skipped, "invalid line");
            format!("{lines} skipped")
        });
        let notes = self.applied.iter().chain(&self.absent).chain(&self.notes);
        let counts = replaced.into_iter().chain(skipped);
        counts.chain(notes.chain(&self.unread).cloned()).collect()
    }
}

impl<T> Deref for Loaded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.content
    }
}

impl<T> DerefMut for Loaded<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.content
    }
}
