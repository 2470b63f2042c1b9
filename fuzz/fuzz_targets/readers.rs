//! What the targets of `popfib-formats` share: any bytes as a table and as updates.

#![allow(dead_code)] // each target uses its own part

use std::io::Cursor;

use popfib_formats::{
    Format, Input, LoadOptions, PeerFilter, ReadError, RouteValue, UpdateFormat, UpdateOptions,
    open_routes, open_updates,
};

fn input(data: &[u8]) -> Input {
    Input::from_reader("fuzz", Cursor::new(data.to_vec()))
}

/// No more routes or errors than bytes: whatever is handed out has been in the file.
fn check(count: usize, error: Option<ReadError>, data: &[u8]) {
    assert!(count <= data.len() + 1, "{count} of {} bytes", data.len());
    if let Some(error) = error {
        let message = error.to_string();
        assert!(!message.contains(char::is_control), "{message:?}");
    }
}

/// Reads a table in the format called `name`, going on after what is invalid.
pub(crate) fn table(name: &str, data: &[u8]) {
    let format = Format::by_name(name).expect("a format of that name");
    let choice = data.last().copied().unwrap_or_default();
    let options = LoadOptions {
        format: Some(format),
        mask: choice & 1 != 0,
        peer: (choice & 2 != 0).then_some(PeerFilter::Index(usize::from(choice >> 6))),
        value: match choice >> 2 & 3 {
            0 | 1 => RouteValue::NextHop,
            2 => RouteValue::OriginAs,
            _ => RouteValue::Peer,
        },
        ..LoadOptions::new()
    };
    let mut source = open_routes(input(data), &options).expect("opening reads nothing yet");
    let mut events = 0;
    loop {
        let (error, go_on) = match source.next_route() {
            Ok(Some(route)) => {
                assert!(route.value.is_some());
                (None, true)
            }
            Ok(None) => break,
            Err(error) => {
                let go_on = error.is_invalid_line();
                (Some(error), go_on)
            }
        };
        events += 1;
        check(events, error, data);
        if !go_on {
            break;
        }
    }
    assert!(source.next_route().is_ok_and(|route| route.is_none()));
}

/// Reads updates in the format called `name`.
pub(crate) fn updates(name: &str, data: &[u8]) {
    let choice = data.last().copied().unwrap_or_default();
    let options = UpdateOptions {
        format: UpdateFormat::by_name(name),
        mask: choice & 1 != 0,
        peer: (choice & 2 != 0).then_some(PeerFilter::Index(usize::from(choice >> 6))),
        ..UpdateOptions::default()
    };
    let mut source = open_updates(input(data), &options).expect("opening reads nothing yet");
    let mut events = 0;
    loop {
        let (error, go_on) = match source.next_update() {
            Ok(Some(_)) => (None, true),
            Ok(None) => break,
            Err(error) => {
                let go_on = error.is_invalid_line();
                (Some(error), go_on)
            }
        };
        events += 1;
        check(events, error, data);
        if !go_on {
            break;
        }
    }
    assert!(source.out_of_order() <= events as u64);
}
