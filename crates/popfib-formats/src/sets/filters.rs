//! Lists of prefixes in languages with brackets (Junos, BIRD, OpenBGPD, pf, sets of IOS XR): lines of a configuration
//! in, the prefixes of its lists out.
//!
//! ```text
//! prefix-list NN { 1.0.0.0/24; }             route-filter-list NN { 1.0.4.0/22 upto /24; }
//! set policy-options prefix-list NN 1.0.0.0/24
//! define NN = [ 1.0.0.0/24, 1.0.4.0/22{22,24}, 10.0.0.0/8+ ];
//! prefix-set "NN" { 1.0.4.0/22 prefixlen 22 - 24 }
//! table <nn> persist { 10.0.0.0/8, 192.0.2.1 }
//! prefix-set NN
//!  1.0.0.0/24,
//!  1.0.4.0/22 le 24
//! end-set
//! ```
//! One grammar for all of them: what differs is which words begin a list, and which bracket or word ends it. A
//! grammar for each would be the same code five times, and bgpq4 writes all of them.

use super::FilledSets;
use super::tokens::{bare, tokens};
use crate::error::{not, quote};
use crate::grammar::{Grammar, RouteRows, TableEntry, head_text, lines};
use crate::words::{is_one_of, looks_like_prefix};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "filters",
    description: "prefix lists of Junos, sets of BIRD, OpenBGPD and IOS XR, tables of pf, as bgpq4 writes them, too; their names",
    can: &[],
    detect,
    open: |input, options| Ok(lines(Filters::default(), input, options)),
};

/// The signs that are tokens of their own.
const SIGNS: &str = "{}[],;=!";

fn detect(head: &[u8]) -> bool {
    head_text(head)
        .map(str::trim_ascii)
        .find(|line| {
            let comments = ["#", "/*", "//", "!"];
            !line.is_empty() && !comments.iter().any(|sign| line.starts_with(sign))
        })
        // The first line that is no comment begins a list, or what lists stand in.
        .is_some_and(|line| {
            let words: Vec<_> = tokens(line, SIGNS).take(8).collect();
            match words[..] {
                ["policy-options" | "prefix", "{", ..]
                | [
                    "prefix-list" | "route-filter-list" | "prefix-set" | "policy-statement",
                    _,
                    "{",
                    ..,
                ]
                | ["prefix-set", _]
                | ["no", "prefix-set", _]
                | ["define", _, "=", "[", ..]
                | [_, "=", "[", ..] => true,
                ["set", "policy-options", kind, ..] => {
                    is_one_of(OPENERS, kind) || kind == "policy-statement"
                }
                ["table", name, ..] => name.starts_with('<') && words.contains(&"{"),
                _ => false,
            }
        })
}

/// The words that a name and its prefixes follow.
const OPENERS: &str = "prefix-list route-filter-list prefix-set";

/// The words that say for which lengths an element is.
const BOUNDS: &str = "upto orlonger longer prefix-length-range through prefixlen or-longer maxlen - >= <= > < ge le eq";

#[derive(Default)]
struct Filters {
    /// The words of the line so far, outside of a list.
    words: Vec<String>,
    name: String,
    /// What ends the list at hand, and the brackets open in it.
    close: Option<&'static str>,
    depth: u32,
    /// Whether bounds may follow an element, and are not noted yet.
    after_element: bool,
    /// Whether a term of a policy has elements, and nothing says yet what becomes of them.
    is_open_term: bool,
    filled: FilledSets,
}

impl Grammar for Filters {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let mut result = rows.detail();
        // A comment of IOS XR. Between OpenBGPD's and pf's brackets it is an exception.
        if line.trim_start().starts_with('!') && self.close != Some("}") {
            return result;
        }
        let mut words = tokens(line, SIGNS).peekable();
        // Of Junos, and of IOS XR: the list is named, or all are concerned.
        if self.close.is_none()
            && let Some("delete" | "deactivate" | "inactive:" | "no") = words.peek().copied()
        {
            let name = words
                .skip_while(|word| !is_one_of(OPENERS, word) && *word != "policy-statement")
                .nth(1);
            return match line.trim_start().starts_with("inactive:") {
                true => Err(format!("{}: what is not active", quote(line.trim()))),
                false => self.filled.removal(name.map(bare), line, rows),
            };
        }
        for token in words {
            let step = match self.close {
                Some(close) => self.inside(close, token, rows),
                None => self.outside(token, rows),
            };
            // The rest of the line is read all the same.
            result = result.and(step);
        }
        // Of IOS XR, which has no bracket: the list begins with the next line.
        if self.close.is_none() && self.words.len() == 2 && self.words[0] == "prefix-set" {
            self.begin(1, "end-set");
        }
        self.words.clear();
        result
    }

    fn end(&mut self, rows: &mut RouteRows) {
        if let Some(close) = self.close.take() {
            rows.complain(rows.line(), format!("the list is not ended by \"{close}\""));
        }
    }
}

impl Filters {
    /// Prefixes follow, up to `close`; the word at `name` is what their list is called.
    fn begin(&mut self, name: usize, close: &'static str) {
        let name = self.words.get(name).map_or("", |name| bare(name));
        name.clone_into(&mut self.name);
        self.close = Some(close);
        self.depth = 0;
        self.after_element = false;
        self.filled.add(&self.name);
    }

    /// The error of a list whose name is missing or more than a word.
    fn no_name(&self) -> String {
        let words = self.words.join(" ");
        not(words, "the name of a list")
    }

    /// A token outside of a list. Junos has prefixes here, too: in `set` commands, and in the `route-filter`s of a policy.
    fn outside(&mut self, token: &str, rows: &mut RouteRows) -> Result<(), String> {
        let word = |n: usize| self.words.get(n).map_or("", String::as_str);
        let count = self.words.len();
        match token {
            "{" => {
                let opener = self.words.iter().position(|w| is_one_of(OPENERS, w));
                let policy = self.words.iter().position(|w| w == "policy-statement");
                match opener {
                    // One word is the name.
                    Some(at) if at + 2 == count => self.begin(at + 1, "}"),
                    Some(_) => return Err(self.no_name()),
                    None if word(0) == "table" && word(1).starts_with('<') => self.begin(1, "}"),
                    // `prefix { ... }` of OpenBGPD, which has no name.
                    None if count == 1 && word(0) == "prefix" => self.begin(usize::MAX, "}"),
                    None => {
                        self.is_open_term &= word(0) != "term";
                        if let Some(at) = policy {
                            bare(word(at + 1)).to_owned().clone_into(&mut self.name);
                        }
                    }
                }
                self.words.clear();
            }
            "[" if count >= 2 && word(count - 1) == "=" => {
                if word(0) == "define" && count != 3 {
                    return Err(self.no_name());
                }
                self.begin(count - 2, "]");
                self.words.clear();
            }
            ";" | "}" => {
                self.words.clear();
                self.after_element = false;
            }
            _ if looks_like_prefix(token) => {
                let policy = self.words.iter().position(|w| w == "policy-statement");
                let name = if word(0) == "set" && count >= 2 && is_one_of(OPENERS, word(count - 2))
                {
                    word(count - 1)
                } else if count >= 1 && word(count - 1) == "route-filter" {
                    policy.map_or(self.name.as_str(), |at| word(at + 1))
                } else {
                    let text = quote(token);
                    return Err(format!("{text}: a prefix outside of a list"));
                };
                self.after_element = true;
                let name = bare(name).to_owned();
                self.filled.add(&name);
                self.is_open_term |= policy.is_some() || word(count - 1) == "route-filter";
                self.words.clear();
                return rows.elements(token, &*name);
            }
            _ if self.after_element && is_one_of(BOUNDS, token) => {
                self.after_element = false;
                rows.bounded();
            }
            "accept" => self.is_open_term = false,
            "reject" if std::mem::take(&mut self.is_open_term) => {
                return Err(
                    "a term that rejects its prefixes: an exception to the policy".to_owned(),
                );
            }
            _ => self.words.push(token.to_owned()),
        }
        Ok(())
    }

    /// A token in a list that `close` ends. Brackets inside hold bounds and are passed over.
    fn inside(&mut self, close: &str, token: &str, rows: &mut RouteRows) -> Result<(), String> {
        let is_bound = |word: &str| {
            let of_number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'/' | b'-');
            is_one_of(BOUNDS, word) || word.bytes().all(of_number)
        };
        match token {
            "}" if self.depth > 0 => self.depth -= 1,
            _ if token == close && self.depth == 0 => {
                self.close = None;
                self.after_element = false;
            }
            "{" => {
                self.depth += 1;
                // In BIRD's sets these are bounds.
                if close == "]" && std::mem::take(&mut self.after_element) {
                    rows.bounded();
                }
            }
            _ if self.depth > 0 && !looks_like_prefix(token) => {}
            "," | ";" => self.after_element = false,
            // Words of these languages that change nothing.
            "exact" | "type" | "prefix" | "=" => {}
            "!" => return Err("an exception to the list".to_owned()),
            _ if looks_like_prefix(token.trim_end_matches('+')) && !token.starts_with('/') => {
                let text = token.trim_end_matches('+');
                let name = std::mem::take(&mut self.name);
                let found = rows.elements(text, &*name);
                self.name = name;
                found?;
                self.after_element = text == token;
                if text != token {
                    rows.bounded();
                }
            }
            _ if is_bound(token) => {
                if std::mem::take(&mut self.after_element) {
                    rows.bounded();
                }
            }
            _ => return Err(not(token, "a prefix")),
        }
        Ok(())
    }
}
