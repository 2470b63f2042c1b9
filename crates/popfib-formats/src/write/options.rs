//! What can be chosen of a list.

/// What a list is called and for which lengths its prefixes are, in forms that have this.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// The name of the list; `popfib` if `None`.
    pub name: Option<String>,
    /// The least length that matches, `ge` of most languages.
    pub ge: Option<u8>,
    /// The greatest length that matches; prefixes that are longer match alone.
    pub le: Option<u8>,
}
