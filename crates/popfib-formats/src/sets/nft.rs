//! Sets and maps of nftables (`nft list set`, `nft list ruleset`, scripts): lines in, the elements of address sets out.
//!
//! ```text
//! table inet t {
//!     set bl {
//!         type ipv4_addr
//!         flags interval
//!         elements = { 10.0.0.0/8, 192.0.2.1 timeout 10m comment "x, y",
//!                      198.51.100.4-198.51.100.9 }
//!     }
//! }
//! add element inet t bl { 192.0.2.0/24 }
//! define bogons = { 10.0.0.0/8, 100.64.0.0/10 }
//! ```
//! The value is the name of the set, in maps what the element leads to (`10.0.0.0/8 : jump c`). Rules are nothing to
//! a table, also those with sets of their own: `ip saddr { 10.0.0.0/8 } drop` is no set with a name.
//!
//! What begins elements is known by the last words before the bracket, so that nothing has to be known of the
//! language around sets, which grows with each version of nftables.

use super::tokens::{bare, tokens};
use super::{FilledSets, other_set};
use crate::error::{not, quote};
use crate::grammar::{Grammar, RouteRows, TableEntry, head_text, lines};
use crate::name_rule::MAX_NEXT_HOP_LENGTH;
use crate::words::{is_one_of, may_be_element};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "nftables",
    description: "`nft list set`, `nft list ruleset` and scripts of nftables: sets by name, maps",
    can: &[],
    detect,
    open: |input, options| Ok(lines(NftText::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    head_text(head)
        .map(str::trim_ascii)
        .filter(|line| !line.is_empty())
        // A script begins with the program, and may empty what there was.
        .find(|line| !line.starts_with('#') && *line != "flush ruleset")
        .is_some_and(|line| {
            let words: Vec<_> = tokens(line, SIGNS).take(8).collect();
            let of_family = |family: &str| {
                matches!(family, "ip" | "ip6" | "inet" | "bridge" | "netdev" | "arp")
            };
            match words[..] {
                ["table", family, _, "{", ..] => of_family(family),
                ["add", "element", ..] | ["table", _, "{"] => true,
                [
                    "add" | "destroy" | "delete" | "flush",
                    "table" | "set" | "map",
                    family,
                    ..,
                ] => of_family(family),
                ["define", _, "=", "{", ..] => true,
                _ => false,
            }
        })
}

const SIGNS: &str = "{},=;";

/// The words that may follow an element, beside numbers and texts.
const OF_ELEMENTS: &str = "timeout expires comment counter packets bytes limit rate over until burst quota used kbytes mbytes gbytes last \
    never ct count saved";

#[derive(Default)]
struct NftText {
    /// The last words, newest first.
    last: [String; 3],
    /// The set at hand, whether it holds something else than addresses, and whether it was counted as such.
    name: String,
    is_other: bool,
    is_counted: bool,
    statement: NftStatement,
    /// Whether what is read are elements; then the one at hand.
    inside: bool,
    element: NftTextElement,
    /// The table at hand; the sets and the tables that have elements so far.
    table: String,
    filled: FilledSets,
    filled_tables: FilledSets,
}

/// What the words since the last bracket begin.
#[derive(Default)]
enum NftStatement {
    /// A set or a map in its table.
    Set,
    /// One by a command, `add set ip t a {`.
    AddedSet,
    /// Elements that are added to one.
    Elements,
    /// What takes away a set or some of its elements, a table, or all that there is.
    SetRemoval,
    TableRemoval,
    AllRemoval,
    #[default]
    Other,
}

/// An element and what follows it.
#[derive(Default)]
struct NftTextElement {
    text: String,
    /// In a map: what it leads to.
    value: Option<String>,
    is_concatenated: bool,
}

impl Grammar for NftText {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let mut result = rows.detail();
        for token in tokens(line, SIGNS) {
            let step = if self.inside {
                self.inside(token, rows)
            } else {
                self.outside(token, line, rows)
            };
            // The rest of the line is read all the same.
            result = result.and(step);
        }
        // A statement ends with its line, elements do not.
        if !self.inside {
            result = result.and(self.outside(";", line, rows));
            self.last = Default::default();
        }
        result
    }

    fn end(&mut self, rows: &mut RouteRows) {
        if std::mem::take(&mut self.inside) {
            rows.complain(
                rows.line(),
                "the elements are not ended by a bracket".to_owned(),
            );
        }
    }
}

impl NftText {
    /// A token that is no element: learns the name and the type of sets, and notices where elements begin.
    fn outside(&mut self, token: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        if may_be_element(token) {
            rows.ignore(token);
            rows.leave_out("prefix", " outside of sets")?;
        }
        let last = std::mem::take(&mut self.last);
        let [newest, second, third] = last.each_ref().map(String::as_str);
        if let (";" | "{" | "}", false) = (token, newest.is_empty()) {
            match self.statement {
                NftStatement::SetRemoval => self.filled.removal(Some(bare(newest)), line, rows)?,
                NftStatement::TableRemoval => {
                    self.filled_tables.removal(Some(newest), line, rows)?
                }
                NftStatement::AllRemoval => self.filled.removal(None, line, rows)?,
                _ => {}
            }
        }
        match (token, newest, second, third) {
            ("{", "=", "elements", _) => self.begin(rows)?,
            // Any other word may be an operator: `ip saddr != { 10.0.0.0/8 } drop`, `devices = { eth0 }`.
            ("{", "=", name, "define" | "redefine") => {
                if third == "redefine" {
                    self.filled.removal(Some(name), line, rows)?;
                }
                self.named(name);
                self.begin(rows)?;
            }
            ("{", name, "table", _) | ("{", name, _, "table") => name.clone_into(&mut self.table),
            ("{", name, table, _) => match self.statement {
                // One word is its name.
                NftStatement::Set if !matches!(table, "set" | "map") => {
                    return Err(not(line.trim(), "the name of a set"));
                }
                NftStatement::Set | NftStatement::AddedSet => self.named(name),
                NftStatement::Elements => {
                    table.clone_into(&mut self.table);
                    self.named(name);
                    self.begin(rows)?;
                }
                _ => {}
            },
            ("element", "add" | "create", ..) => self.statement = NftStatement::Elements,
            ("element" | "set" | "map", "delete" | "destroy" | "flush", ..) => {
                self.statement = NftStatement::SetRemoval;
            }
            ("table", "delete" | "destroy", ..) => self.statement = NftStatement::TableRemoval,
            ("ruleset", "flush", ..) => self.statement = NftStatement::AllRemoval,
            ("set" | "map", "", ..) => self.statement = NftStatement::Set,
            ("set" | "map", "add" | "create", "", _) => self.statement = NftStatement::AddedSet,
            (kind, "type", ..) => self.is_other = !matches!(kind, "ipv4_addr" | "ipv6_addr"),
            // `type ipv4_addr . inet_service`: an address and a port.
            (".", _, "type", _) => self.is_other = true,
            _ => {}
        }
        if matches!(token, ";" | "{" | "}") {
            self.statement = NftStatement::Other;
        } else {
            let [newest, second, _] = last;
            self.last = [token.to_owned(), newest, second];
        }
        Ok(())
    }

    /// What follows is about the set `name`, of which nothing is known yet.
    fn named(&mut self, name: &str) {
        bare(name).clone_into(&mut self.name);
        self.is_other = false;
        self.is_counted = false;
    }

    /// Elements follow.
    fn begin(&mut self, rows: &mut RouteRows) -> Result<(), String> {
        self.inside = true;
        self.element = NftTextElement::default();
        self.filled.add(&self.name);
        self.filled_tables.add(&self.table);
        match self.is_other && !std::mem::replace(&mut self.is_counted, true) {
            true => other_set(rows),
            false => Ok(()),
        }
    }

    /// A token among elements; one ends with a comma or the bracket. What follows its text is a timeout, a counter or a
    /// comment, and passed over.
    fn inside(&mut self, token: &str, rows: &mut RouteRows) -> Result<(), String> {
        match token {
            "," | "}" => {
                self.inside = token == ",";
                let element = std::mem::take(&mut self.element);
                // Nothing may follow the last comma.
                if self.is_other || element.text.is_empty() {
                    return Ok(());
                }
                if element.is_concatenated {
                    let text = quote(element.text);
                    return Err(format!("{text}: more than an address"));
                }
                rows.elements(
                    &element.text,
                    element.value.as_deref().unwrap_or(&self.name),
                )
            }
            _ if self.is_other || self.element.text.is_empty() => {
                // It is read at its end, which may be in another line, and in a set of other things not at all.
                rows.ignore(token);
                token.clone_into(&mut self.element.text);
                Ok(())
            }
            "." => {
                self.element.is_concatenated = true;
                Ok(())
            }
            ":" => {
                self.element.value = Some(String::new());
                Ok(())
            }
            word => {
                if let Some(value) = &mut self.element.value {
                    // One that is too long is refused at its end, however long it gets.
                    if value.len() > MAX_NEXT_HOP_LENGTH {
                        return Ok(());
                    }
                    // A verdict with its target: `jump chain`.
                    if !value.is_empty() {
                        value.push(' ');
                    }
                    value.push_str(bare(word));
                    return Ok(());
                }
                let is_number = word.starts_with(|c: char| c.is_ascii_digit());
                match is_number && !may_be_element(word)
                    || word.starts_with('"')
                    || is_one_of(OF_ELEMENTS, word)
                {
                    true => Ok(()),
                    false => Err(not(word, "known after an element")),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table_format::LoadOptions;
    use crate::values::ValueBook;

    #[test]
    fn a_value_over_many_lines_is_refused_and_not_gathered() {
        let mut nft = NftText::default();
        let mut rows = RouteRows::new(ValueBook::default(), &LoadOptions::default());
        let head = "map m { type ipv4_addr : verdict; elements = { 10.0.0.0/8 :";
        nft.read("", head, &mut rows).unwrap();
        let line = "a".repeat(10_000);
        for _ in 0..1000 {
            nft.read("", &line, &mut rows).unwrap();
        }
        let value = nft.element.value.as_ref().expect("a map's");
        assert!(value.capacity() < 100_000, "{}", value.capacity());
        let error = nft.read("", "}", &mut rows).unwrap_err();
        assert!(
            error.contains("a next hop of more than 60000 bytes"),
            "{error}"
        );
    }
}
