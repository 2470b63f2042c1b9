//! What a user can choose about a form.

/// What a list or a database is called, and for which lengths the prefixes of a list are; for forms that have these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// The name of the list, or the type of the database, which readers of MaxMind's ask for (`GeoLite2-City`); `popfib` if
    /// `None`, or what the values of a database are.
    pub name: Option<String>,
    /// What a database says of itself; what its sources say if `None`.
    pub description: Option<String>,
    /// The least length that matches, `ge` of most languages.
    pub ge: Option<u8>,
    /// The greatest length that matches; prefixes that are longer match alone.
    pub le: Option<u8>,
}
