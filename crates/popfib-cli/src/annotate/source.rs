//! Where addresses come from: a file of any format.

use std::path::Path;

use popfib_formats::{
    AddressBatch, AddressFile, AddressFormat, AddressOptions, AddressSource, Input, Side,
};
#[cfg(feature = "parquet")]
use popfib_parquet::ParquetAddresses;

use super::AnnotateArgs;
use crate::failure::Failure;
use crate::output::note;
use crate::table::counted;

/// A file of addresses.
pub(super) enum Source {
    File(Box<AddressFile>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetAddresses>),
}

impl Source {
    /// Opens `input`, which is the file at `path`.
    pub(super) fn open(
        path: &Path,
        mut input: Input,
        args: &AnnotateArgs,
    ) -> Result<Self, Failure> {
        let format = args.input_format.map(|format| format.0);
        let detected = format.unwrap_or_else(|| AddressFormat::detect(&mut input));
        if detected == AddressFormat::Parquet && path.as_os_str() != "-" {
            return Self::open_parquet(path, args);
        }
        let options = AddressOptions {
            column: args.column.clone(),
            side: if args.sources {
                Side::Source
            } else {
                Side::Destination
            },
            ..AddressOptions::default()
        };
        Ok(Self::File(Box::new(AddressFile::open(
            input, format, &options,
        )?)))
    }

    #[cfg(feature = "parquet")]
    fn open_parquet(path: &Path, args: &AnnotateArgs) -> Result<Self, Failure> {
        let column = args.column.clone().unwrap_or_default();
        let source = ParquetAddresses::open(path, &column)?;
        Ok(Self::Parquet(Box::new(
            source.skip_invalid(args.table.read.skip_invalid),
        )))
    }

    #[cfg(not(feature = "parquet"))]
    fn open_parquet(path: &Path, _: &AnnotateArgs) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let name = name.escape_debug();
        Err(format!("{name}: this popfib was built without Parquet").into())
    }

    /// Replaces what is in `batch` by the next addresses; false at the end.
    pub(super) fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, Failure> {
        match self {
            Self::File(file) => Ok(file.next_batch(batch)?),
            #[cfg(feature = "parquet")]
            Self::Parquet(file) => Ok(file.next_batch(batch)?),
        }
    }

    /// Notes what of the file `name` is not in the answers.
    pub(super) fn note_left_out(&self, name: &str, skipped: u64) {
        match self {
            Self::File(file) => {
                if skipped > 0 {
                    let unit = format!("invalid {}", file.format().unit());
                    note(format_args!("{name}: {} skipped", counted(skipped, &unit)));
                }
                if let AddressFile::Pcap(packets) = &**file
                    && packets.not_ip() > 0
                {
                    let packets = counted(packets.not_ip(), "packet");
                    note(format_args!(
                        "{name}: {packets} without an IP address left out"
                    ));
                }
            }
            #[cfg(feature = "parquet")]
            Self::Parquet(file) => {
                if file.skipped() > 0 {
                    let rows = counted(file.skipped(), "row");
                    note(format_args!("{name}: {rows} without a valid address"));
                }
            }
        }
    }
}
