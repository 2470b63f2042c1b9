//! Sources made of two parts: a cutter, which takes the file apart, and a grammar,
//! which knows what a piece means.
//!
//! ```text
//! Input -> Lines or Items -> Grammar -> RouteRows -> RouteSource
//! bytes    pieces            routes and faults       routes, one at a time
//! ```
//! [`Lines`] cuts a file into lines, [`Items`] a JSON document into items. What a
//! [`Grammar`] finds in them goes to [`RouteRows`]. [`lines`], [`listing`] and
//! [`document`] put the parts together. So a grammar is a few functions that know nothing of inputs, and most formats share
//! one way to number lines, to report errors and to go on after them.

use crate::account::Account;
use crate::error::ReadError;
use crate::input::Input;
use crate::items::Items;
use crate::lines::Lines;
use crate::prompt::Prompt;
use crate::route::{Route, RouteSource};
use crate::table_format::LoadOptions;
use crate::values::ValueBook;
use crate::words::not_a_route;

// What else a file of a grammar consists of.
pub(crate) use crate::input::{head_lines, head_text};
pub(crate) use crate::rows::RouteRows;
pub(crate) use crate::table_format::TableEntry;

/// What the pieces of one format mean.
pub(crate) trait Grammar: Send {
    /// Reads a piece; hands its routes to `rows`, or says what else it is ([`RouteRows::detail`] and what
    /// follows it): a piece without either is invalid, as is a line with a prefix that is neither read nor ignored. `key` is that
    /// of a member of a JSON object, empty for all else.
    ///
    /// An error concerns this piece alone.
    fn read(&mut self, key: &str, text: &str, rows: &mut RouteRows) -> Result<(), String>;

    /// Whether what is in the member `key`, an object or a list, are the pieces, rather
    /// than its value as a whole; `key` is empty for an outermost object. For JSON.
    fn opens(&mut self, _key: &str, _is_list: bool, _rows: &mut RouteRows) -> bool {
        false
    }

    /// There are no more pieces: hands out what was waiting for them, at most
    /// one route. Called until there is nothing left.
    fn end(&mut self, _rows: &mut RouteRows) {}

    /// As [`RouteSource::notes`].
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// As [`RouteSource::says_none`].
    fn says_none(&self) -> bool {
        true
    }

    /// What the values of its routes go into ([`RouteRows::values`]), with the columns that it reads. Called once.
    fn values(&mut self) -> ValueBook {
        ValueBook::default()
    }
}

/// The lines of `input`, each read by `grammar`.
pub(crate) fn lines(
    grammar: impl Grammar + 'static,
    input: Input,
    options: &LoadOptions,
) -> Box<dyn RouteSource> {
    source(Lines::new(input), Box::new(grammar), None, options)
}

/// As [`lines`], for what a router printed: commands are skipped.
pub(crate) fn listing(
    grammar: impl Grammar + 'static,
    input: Input,
    options: &LoadOptions,
) -> Box<dyn RouteSource> {
    let prompt = Some(Prompt::default());
    source(Lines::new(input), Box::new(grammar), prompt, options)
}

/// The items of the JSON in `input`, each read by `grammar`.
pub(crate) fn document(
    grammar: impl Grammar + 'static,
    input: Input,
    options: &LoadOptions,
) -> Box<dyn RouteSource> {
    source(Items::new(input), Box::new(grammar), None, options)
}

fn source(
    cutter: impl Cutter + 'static,
    mut grammar: Box<dyn Grammar>,
    prompt: Option<Prompt>,
    options: &LoadOptions,
) -> Box<dyn RouteSource> {
    Box::new(GrammarSource {
        cutter,
        rows: RouteRows::new(grammar.values(), options),
        grammar,
        prompt,
        at_end: false,
    })
}

/// What takes a file apart.
trait Cutter: Send {
    /// Goes to the next piece; false at the end. `opens` is [`Grammar::opens`].
    ///
    /// # Errors
    /// Those of the file. What is wrong with the piece alone comes from the others.
    fn advance(&mut self, opens: &mut dyn FnMut(&str, bool) -> bool) -> Result<bool, ReadError>;

    /// The number of the line that the piece begins in.
    fn number(&self) -> u64;

    /// The piece, and its key.
    fn piece(&self) -> Result<(&str, &str), ReadError>;

    /// Looks whether all of the piece is accounted for.
    fn accounted(account: &Account, text: &str) -> Result<(), String>;

    /// The error of a fault in this line.
    fn invalid(&self, line: u64, reason: String) -> ReadError;
}

impl Cutter for Lines {
    fn advance(&mut self, _: &mut dyn FnMut(&str, bool) -> bool) -> Result<bool, ReadError> {
        self.advance()
    }

    fn number(&self) -> u64 {
        self.number()
    }

    fn piece(&self) -> Result<(&str, &str), ReadError> {
        Ok(("", self.text()?))
    }

    fn accounted(account: &Account, text: &str) -> Result<(), String> {
        account.of_line(text)
    }

    fn invalid(&self, line: u64, reason: String) -> ReadError {
        self.invalid_at(line, reason)
    }
}

impl Cutter for Items {
    fn advance(&mut self, opens: &mut dyn FnMut(&str, bool) -> bool) -> Result<bool, ReadError> {
        self.advance(opens)
    }

    fn number(&self) -> u64 {
        self.line()
    }

    fn piece(&self) -> Result<(&str, &str), ReadError> {
        Ok((self.key(), self.json()?))
    }

    fn accounted(account: &Account, text: &str) -> Result<(), String> {
        match account.is_known() {
            true => Ok(()),
            false => Err(not_a_route(text)),
        }
    }

    fn invalid(&self, line: u64, reason: String) -> ReadError {
        self.invalid(line, reason)
    }
}

/// The [`RouteSource`] made of a cutter and a grammar. One code for all grammars of a cutter: a call for each piece costs less than
/// thirty copies take to compile (docs/experiments/build.md, 255).
struct GrammarSource<C> {
    cutter: C,
    grammar: Box<dyn Grammar>,
    /// Where commands are skipped.
    prompt: Option<Prompt>,
    rows: RouteRows,
    at_end: bool,
}

impl<C: Cutter> GrammarSource<C> {
    /// Reads the next piece; false at the end.
    fn advance(&mut self) -> Result<bool, ReadError> {
        let (grammar, rows) = (&mut self.grammar, &mut self.rows);
        if !self
            .cutter
            .advance(&mut |key, is_list| grammar.opens(key, is_list, rows))?
        {
            return Ok(false);
        }
        rows.at_line(self.cutter.number());
        let (key, text) = self.cutter.piece()?;
        if self
            .prompt
            .as_ref()
            .is_some_and(|prompt| prompt.begins(text))
        {
            return Ok(true);
        }
        let read = grammar.read(key, text, rows);
        let read = read.and_then(|()| C::accounted(rows.account(), text));
        if let Err(reason) = read {
            // Above the routes, a line that the grammar does not know may be the command that printed them.
            let is_command = match &mut self.prompt {
                Some(prompt) if !rows.has_routes() => prompt.learn(text),
                _ => false,
            };
            if !is_command {
                rows.complain(rows.line(), reason);
            }
        }
        Ok(true)
    }
}

impl<C: Cutter> RouteSource for GrammarSource<C> {
    fn next_route(&mut self) -> Result<Option<Route>, ReadError> {
        loop {
            if let Some((line, reason)) = self.rows.take_flaw() {
                return Err(self.cutter.invalid(line, reason));
            }
            if self.rows.has_found() {
                return Ok(self.rows.take_found());
            }
            if !self.at_end {
                self.at_end = !self.advance()?;
                continue;
            }
            self.grammar.end(&mut self.rows);
            if self.rows.is_idle() {
                self.rows.settle_best();
            }
            if self.rows.is_idle() {
                self.rows.settle_unused(None);
                return Ok(None);
            }
        }
    }

    fn values(&mut self) -> &mut ValueBook {
        &mut self.rows.values
    }

    fn table(&self) -> Option<(usize, &str)> {
        self.rows.table_of_last()
    }

    fn has_values(&self) -> bool {
        self.rows.has_values() || self.rows.values.reads_columns()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.grammar.notes();
        notes.extend(self.rows.notes());
        notes
    }

    fn says_none(&self) -> bool {
        self.grammar.says_none()
    }
}
