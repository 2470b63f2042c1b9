//! Answers to addresses of HTTP: a match in, a line or an object of JSON out, as `popfib lookup` prints them.

use std::io::Write;
use std::net::IpAddr;

use popfib::IpPrefix;
use popfib_feed::Target;
use popfib_table::{IPV6_TEXT, PrefixText, write_ip};
use serde::Serialize;

use super::questions::{BodyForm, QuestionError};

/// Appends the answer to an address.
pub(super) fn write_answer(
    to: &mut Vec<u8>,
    form: BodyForm,
    address: IpAddr,
    found: Option<(IpPrefix, &Target)>,
) {
    let mut text = [0; IPV6_TEXT];
    let length = write_ip(address, &mut text);
    let address = &text[..length];
    if form == BodyForm::Lines {
        to.extend_from_slice(address);
        let Some((prefix, value)) = found else {
            return to.extend_from_slice(b"\t-\t-");
        };
        to.push(b'\t');
        to.extend_from_slice(PrefixText::new(prefix).as_bytes());
        write!(to, "\t{value}").expect("memory takes it");
        if value.is_restored() {
            to.extend_from_slice(b"\tstale");
        }
        return;
    }
    to.extend_from_slice(b"{\"address\":\"");
    to.extend_from_slice(address);
    let Some((prefix, value)) = found else {
        return to.extend_from_slice(b"\",\"prefix\":null,\"next_hop\":null}");
    };
    to.extend_from_slice(b"\",\"prefix\":\"");
    to.extend_from_slice(PrefixText::new(prefix).as_bytes());
    to.extend_from_slice(b"\",\"next_hop\":");
    json(to, &value.to_string());
    // From a snapshot, and not confirmed since.
    if value.is_restored() {
        to.extend_from_slice(b",\"stale\":true");
    }
    to.push(b'}');
}

/// Appends what is wrong with an address or with all that follows.
pub(super) fn write_error(to: &mut Vec<u8>, form: BodyForm, error: &QuestionError) {
    let (address, error) = match error {
        QuestionError::Address(text) => (Some(&text[..]), "not an IP address"),
        QuestionError::Body(error) => (None, *error),
    };
    match form {
        BodyForm::Lines => {
            let address = address
                .map(|text| format!("{text:?}: "))
                .unwrap_or_default();
            write!(to, "error: {address}{error}").expect("memory takes it");
        }
        _ => json(to, &AnswerError { address, error }),
    }
}

/// An error of an address, as JSON.
#[derive(Serialize)]
struct AnswerError<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<&'a str>,
    error: &'a str,
}

fn json(to: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    serde_json::to_writer(to, value).expect("names are texts");
}

/// A line of JSON.
pub(super) fn json_line(value: &impl Serialize) -> Vec<u8> {
    let mut line = Vec::new();
    json(&mut line, value);
    line.push(b'\n');
    line
}
