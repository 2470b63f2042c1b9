//! Tables as queries use them: never changed, shared by all threads, with the texts of their values as DuckDB has them.

use std::borrow::Cow;
use std::io::Read;
use std::sync::OnceLock;

use popfib::NextHop;
use popfib_formats::{Input, LoadOptions, LookupTable, load_for_lookups};

use crate::vector::Text;

/// A table of both families.
pub(crate) struct Table {
    /// With what was left out of it.
    pub(crate) loaded: LookupTable,
    /// What is written for each value, by its number; 0 has the empty one.
    pub(crate) texts: Vec<Text>,
    /// Whether there is one that does not lie inside of its [`Text`].
    pub(crate) has_long: bool,
    integers: OnceLock<Result<Vec<i64>, String>>,
}

impl From<LookupTable> for Table {
    fn from(loaded: LookupTable) -> Self {
        let texts = [Cow::Borrowed("")].into_iter().chain(loaded.table.values());
        let texts: Vec<_> = texts.map(|text| Text::new(text.as_bytes())).collect();
        Self {
            has_long: texts.iter().any(Text::is_long),
            texts,
            loaded,
            integers: OnceLock::new(),
        }
    }
}

impl Table {
    /// The table in a file, an image or in any format that popfib reads.
    ///
    /// # Errors
    /// A line that names the file and says what is wrong with it.
    pub(crate) fn load(
        name: &str,
        reader: Box<dyn Read + Send>,
        options: &LoadOptions,
    ) -> Result<Self, String> {
        let loaded = load_for_lookups(Input::from_reader(name, reader), options);
        Ok(loaded.map_err(|error| error.to_string())?.into())
    }

    /// The built-in table.
    pub(crate) fn built_in() -> Self {
        LookupTable::from(popfib_formats::default_table()).into()
    }

    /// The text of a number that is not 0.
    pub(crate) fn text(&self, number: u32) -> Cow<'_, str> {
        let number = NextHop::new(number);
        number
            .and_then(|number| self.loaded.table.value(number))
            .unwrap_or_default()
    }

    /// All values as integers, 0 for number 0.
    ///
    /// # Errors
    /// One of them is none.
    pub(crate) fn integers(&self) -> Result<&[i64], &str> {
        let parse = |text: Cow<'_, str>| {
            text.parse().map_err(|_| {
                let text = popfib_formats::Escaped(&text);
                format!("the value '{text}' is no integer of 64 bits")
            })
        };
        let values = self.loaded.table.values().map(parse);
        let all = || [Ok(0)].into_iter().chain(values).collect();
        let integers = self.integers.get_or_init(all);
        integers
            .as_ref()
            .map_or_else(|error| Err(&**error), |all| Ok(all.as_slice()))
    }
}
