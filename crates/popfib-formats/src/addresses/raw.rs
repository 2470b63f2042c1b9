//! Bare addresses one after the other, 4 or 16 bytes each, in network order: `c0 00 02 01` is 192.0.2.1. For programs that
//! have packed addresses at hand; nothing else is as fast to read.

use std::net::IpAddr;

use super::batch::AddressBatch;
use super::source::{AddressEntry, AddressSource};
use super::window::InputWindow;
use crate::error::{FilePlace, ReadError};
use crate::input::Input;
use crate::registry::Capability::FixedRecords;

pub(super) static IPV4: AddressEntry = AddressEntry {
    name: "raw-ipv4",
    description: "records of 4 bytes in network order; never recognised, has to be named",
    can: &[FixedRecords],
    detect: |_| false,
    open: |input, _| open(input, false),
};

pub(super) static IPV6: AddressEntry = AddressEntry {
    name: "raw-ipv6",
    description: "records of 16 bytes in network order; never recognised, has to be named",
    can: &[FixedRecords],
    detect: |_| false,
    open: |input, _| open(input, true),
};

/// An [`AddressSource`] of records in network order. Never recognised by
/// content: any bytes could be some.
struct RawAddresses {
    window: InputWindow,
    is_ipv6: bool,
}

fn open(input: Input, is_ipv6: bool) -> Result<Box<dyn AddressSource>, ReadError> {
    let window = InputWindow::new(input, 16);
    Ok(Box::new(RawAddresses { window, is_ipv6 }))
}

impl AddressSource for RawAddresses {
    fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        let size = if self.is_ipv6 { 16 } else { 4 };
        while self.window.data().len() < size {
            let place = FilePlace::Byte(self.window.offset());
            if self.window.fill(place)? {
                continue;
            }
            let rest = self.window.data().len();
            if rest == 0 {
                return Ok(false);
            }
            self.window.take(rest);
            return Err(ReadError::invalid(
                self.window.name(),
                place,
                format!("cut off: {rest} bytes left of a record of {size}"),
            ));
        }
        // Whole records; the rest of one stays in the window until it has come.
        let data = self.window.data();
        let count = (data.len() / size).min(AddressBatch::FULL);
        let data = &data[..count * size];
        if self.is_ipv6 {
            for record in data.as_chunks::<16>().0 {
                batch.push(IpAddr::from(*record));
            }
        } else {
            let records = data.as_chunks().0;
            batch.extend_ipv4(records.iter().map(|record| u32::from_be_bytes(*record)));
        }
        self.window.take(count * size);
        Ok(true)
    }
}
