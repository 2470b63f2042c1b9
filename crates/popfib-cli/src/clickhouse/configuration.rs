//! The configuration of a function, as ClickHouse reads it: the arguments of this command in, XML out.

use std::ffi::OsString;

use popfib_formats::quote;
use popfib_program::failure::Failure;

use crate::synonyms::shell_word;

/// The XML of a function that returns a column of the type `returns`. Its command is the one that runs now, without the options
/// that ask for XML.
pub(super) fn xml(name: &str, argument: &str, returns: &str) -> Result<String, Failure> {
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !first || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        let name = quote(name.as_bytes());
        return Err(format!(
            "--xml: {name} is no name of a function: letters, digits and _, no digit first"
        )
        .into());
    }
    let mut command = vec!["exec popfib".to_owned()];
    let mut given = std::env::args_os().skip(1);
    while let Some(word) = given.next() {
        let word = word.into_string().map_err(|word: OsString| {
            format!("--xml: {:?} is not UTF-8, and XML is", word.as_os_str())
        })?;
        match word.as_str() {
            "--xml" | "--argument" => drop(given.next()),
            _ if word.starts_with("--xml=") || word.starts_with("--argument=") => {}
            _ => command.push(shell_word(&word)),
        }
    }
    let (argument, returns) = (escaped(argument), escaped(returns));
    let command = escaped(&command.join(" "));
    Ok(format!(
        "<functions>
    <function>
        <type>executable_pool</type>
        <name>{name}</name>
        <argument><type>{argument}</type></argument>
        <return_type>{returns}</return_type>
        <format>Native</format>
        <execute_direct>0</execute_direct>
        <command>{command}</command>
    </function>
</functions>
"
    ))
}

/// A text as XML has it.
fn escaped(text: &str) -> String {
    let mut xml = String::new();
    for c in text.chars() {
        match c {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            // As they are, a reader would take them for blanks, or drop them.
            '\n' | '\r' | '\t' => xml.push_str(&format!("&#{};", u32::from(c))),
            c => xml.push(c),
        }
    }
    xml
}
