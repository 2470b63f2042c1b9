//! Bodies of many addresses: bytes as they come in, one address after the other out, and in what form their answers are. Addresses are
//! lines, JSON a line, or one list of JSON; in JSON each is a text, or the member `address` of an object.

use std::borrow::Cow;

use memchr::memchr;
use serde::Deserialize;

/// The longest address with what is around it.
const MAX_LENGTH: usize = 4096;

/// The form of addresses and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyForm {
    /// Lines, with tabs between address, prefix and values.
    Lines,
    /// Lines of JSON objects.
    JsonLines,
    /// One list of JSON objects.
    JsonList,
}

/// Addresses that were read so far and not asked yet.
pub(super) struct Questions {
    pub(super) form: BodyForm,
    bytes: Vec<u8>,
    at: usize,
    /// Whether no more bytes will come.
    pub(super) is_whole: bool,
    place: ListPlace,
}

/// Where in a list the next element is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ListPlace {
    Before,
    First,
    Within,
    After,
}

/// What an address may be in JSON besides a text.
#[derive(Deserialize)]
struct AskedObject<'a> {
    #[serde(borrow)]
    address: Cow<'a, str>,
}

impl Questions {
    /// These are the first bytes, and of a list those that begin it.
    pub(super) fn new(bytes: Vec<u8>, is_whole: bool) -> Self {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        let form = match first {
            Some(b'[') => BodyForm::JsonList,
            Some(b'"' | b'{') => BodyForm::JsonLines,
            _ => BodyForm::Lines,
        };
        Self {
            form,
            bytes,
            at: 0,
            is_whole,
            place: ListPlace::Before,
        }
    }

    /// More bytes; `None` if there are no more.
    pub(super) fn push(&mut self, bytes: Option<&[u8]>) {
        self.bytes.drain(..self.at);
        self.at = 0;
        self.bytes.extend_from_slice(bytes.unwrap_or_default());
        self.is_whole |= bytes.is_none();
    }

    /// The next address; `None` if more bytes are needed, or all was read. What is no address is an error with its text; one without a
    /// text ends the body.
    pub(super) fn next(&mut self) -> Option<Result<Cow<'_, str>, QuestionError>> {
        let range = match self.form {
            BodyForm::JsonList => self.element(),
            _ => self.line(),
        };
        let (start, end) = match range {
            Ok(range) => range?,
            Err(error) => {
                (self.at, self.is_whole) = (self.bytes.len(), true);
                self.place = ListPlace::After;
                return Some(Err(QuestionError::Body(error)));
            }
        };
        let piece = self.bytes[start..end].trim_ascii();
        let text = match (self.form, piece) {
            (BodyForm::Lines, piece) => str::from_utf8(piece).ok().map(Cow::Borrowed),
            (_, [b'{', ..]) => {
                let object = serde_json::from_slice::<AskedObject<'_>>(piece).ok();
                object.map(|object| object.address)
            }
            (_, [b'"', text @ .., b'"']) if memchr::memchr2(b'\\', b'"', text).is_none() => {
                str::from_utf8(text).ok().map(Cow::Borrowed)
            }
            (_, piece) => serde_json::from_slice::<String>(piece).ok().map(Cow::Owned),
        };
        let wrong = || QuestionError::Address(String::from_utf8_lossy(piece).into_owned());
        Some(text.ok_or_else(wrong))
    }

    /// Where the next line is.
    fn line(&mut self) -> Result<Option<(usize, usize)>, &'static str> {
        let rest = &self.bytes[self.at..];
        let (length, next) = match memchr(b'\n', rest) {
            Some(length) => (length, length + 1),
            None if self.is_whole && !rest.is_empty() => (rest.len(), rest.len()),
            None if rest.len() > MAX_LENGTH => (rest.len(), rest.len()),
            None => return Ok(None),
        };
        if length > MAX_LENGTH {
            return Err("a line of more than 4096 bytes");
        }
        let start = self.at;
        self.at += next;
        Ok(Some((start, start + length)))
    }

    /// Where the next element of a list is.
    fn element(&mut self) -> Result<Option<(usize, usize)>, &'static str> {
        while let Some(byte) = self.bytes.get(self.at)
            && (byte.is_ascii_whitespace() || self.place == ListPlace::Before)
        {
            if *byte == b'[' {
                self.place = ListPlace::First;
            }
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        if self.place == ListPlace::After {
            return match rest.is_empty() {
                true => Ok(None),
                false => Err("there is something after the list"),
            };
        }
        let (mut is_text, mut is_escaped, mut depth) = (false, false, 0u32);
        for (length, byte) in rest.iter().enumerate() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if is_text => is_escaped = true,
                b'"' => is_text = !is_text,
                _ if is_text => {}
                b'{' | b'[' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                b']' if depth > 0 => depth -= 1,
                b',' if depth > 0 => {}
                b',' | b']' => {
                    let is_empty = length == 0 && self.place == ListPlace::First;
                    let start = self.at;
                    self.at += length + 1;
                    self.place = match byte {
                        b',' => ListPlace::Within,
                        _ => ListPlace::After,
                    };
                    return match is_empty && *byte == b']' {
                        true => self.element(),
                        false => Ok(Some((start, start + length))),
                    };
                }
                _ => {}
            }
            if length > MAX_LENGTH {
                return Err("an element of more than 4096 bytes");
            }
        }
        match self.is_whole {
            true => Err("the list does not end"),
            false => Ok(None),
        }
    }
}

/// Why there is no address.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum QuestionError {
    /// This is none.
    Address(String),
    /// The rest of the body cannot be read.
    Body(&'static str),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The addresses of a body in parts of so many bytes, with `!` before what is none.
    fn read(body: &str, part: usize) -> (BodyForm, Vec<String>) {
        let mut parts = body.as_bytes().chunks(part);
        let first = parts.next().unwrap_or_default();
        let mut questions = Questions::new(first.to_vec(), false);
        let mut all = Vec::new();
        loop {
            while let Some(next) = questions.next() {
                all.push(match next {
                    Ok(text) => text.into_owned(),
                    Err(QuestionError::Address(text)) => format!("!{text}"),
                    Err(QuestionError::Body(reason)) => format!("! {reason}"),
                });
            }
            if questions.is_whole {
                return (questions.form, all);
            }
            questions.push(parts.next());
        }
    }

    #[test]
    fn forms_are_known_by_their_first_byte_and_read_in_any_parts() {
        let long = "x".repeat(5000);
        let cases = [
            ("", BodyForm::Lines, vec![]),
            (
                "::1\r\n\n192.0.2.1",
                BodyForm::Lines,
                vec!["::1", "", "192.0.2.1"],
            ),
            (
                "\"::1\"\n{\"address\":\"::2\",\"x\":1}\n7\n",
                BodyForm::JsonLines,
                vec!["::1", "::2", "!7"],
            ),
            ("[]", BodyForm::JsonList, vec![]),
            (" [ ] \n", BodyForm::JsonList, vec![]),
            (
                "[\"::1\" , {\"x\":[1,2],\"address\":\"::2\"},\n\"a,]\\\"\",7,]",
                BodyForm::JsonList,
                vec!["::1", "::2", "a,]\"", "!7", "!"],
            ),
            (
                "[\"::1\"",
                BodyForm::JsonList,
                vec!["! the list does not end"],
            ),
            (
                "[\"::1\"] x",
                BodyForm::JsonList,
                vec!["::1", "! there is something after the list"],
            ),
            (
                &format!("::1\n{long}\n::2\n"),
                BodyForm::Lines,
                vec!["::1", "! a line of more than 4096 bytes"],
            ),
            (
                &format!("[\"{long}\"]"),
                BodyForm::JsonList,
                vec!["! an element of more than 4096 bytes"],
            ),
        ];
        for (body, form, all) in cases {
            for part in [3, 7, 10_000] {
                assert_eq!(
                    read(body, part),
                    (form, all.iter().map(|text| text.to_string()).collect()),
                    "{body} {part}"
                );
            }
        }
    }
}
