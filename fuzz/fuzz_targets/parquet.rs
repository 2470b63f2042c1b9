//! Damaged Parquet files: their column is read and they are annotated, with an end, and no more rows than they
//! say, or there is an error of one line.
//!
//! An input is the edits of a small file that `base` picks, or, if there is no such file, a whole file.
#![no_main]

use std::fs;
use std::io::Write;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use popfib_formats::AddressBatch;
use popfib_formats::addresses::ColumnId;
use popfib_parquet::{ParquetAddresses, ParquetAnnotator, ParquetAnswers};
use popfib_table::{Dictionary, Records};

/// Small files of every kind of column.
const BASES: [&[u8]; 4] = [
    include_bytes!("../regressions/parquet/seed-text"),
    include_bytes!("../regressions/parquet/seed-dictionary"),
    include_bytes!("../regressions/parquet/seed-numbers"),
    include_bytes!("../regressions/parquet/seed-packed"),
];

/// A file of this process alone.
fn path() -> &'static std::path::Path {
    static PATH: OnceLock<std::path::PathBuf> = OnceLock::new();
    PATH.get_or_init(|| std::env::temp_dir().join(format!("popfib-fuzz-{}", std::process::id())))
}

fn input(data: &[u8]) -> Vec<u8> {
    let Some((base, edits)) = data.split_first() else {
        return Vec::new();
    };
    let Some(base) = BASES.get(usize::from(*base)) else {
        return data.to_vec();
    };
    let mut file = base.to_vec();
    for edit in edits.as_chunks::<3>().0 {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % file.len();
        file[at] = edit[2];
    }
    file
}

fuzz_target!(|data: &[u8]| {
    // The library's panics become errors; those that do not still end the target.
    std::panic::set_hook(Box::new(|_| {}));
    let file = fs::File::create(path()).and_then(|mut file| file.write_all(&input(data)));
    file.expect("a file in the directory of temporary files");
    let check = |error: popfib_parquet::ParquetError| {
        assert!(!error.to_string().contains('\n'), "{error}");
    };
    let mut source = match ParquetAddresses::open(path(), &[ColumnId::Number(1)], None) {
        Ok(source) => source.skip_invalid(data.len() % 2 == 0),
        Err(error) => return check(error),
    };
    let mut names = Dictionary::new();
    let number = names.intern("a");
    let mut answers = ParquetAnswers::new(&Records::of_values(names), true);
    answers.push("10.0.0.0/8", number);
    let (columns, answers) = (["prefix", "next_hop"], [answers]);
    let mut writer = match ParquetAnnotator::new("out", Some(&source), &columns, &answers) {
        Ok(writer) => writer,
        Err(error) => return check(error),
    };
    let (mut batch, mut bytes) = (AddressBatch::new(), Vec::new());
    // A few bytes may stand for 2^31 nulls.
    for _ in 0..64 {
        match source.next_batch(&mut batch) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return check(error),
        }
        let numbers = vec![1; batch.len()];
        if let Err(error) = writer.write(&batch, Some(&source), &[&numbers], &answers) {
            return check(error);
        }
        writer.take(&mut bytes);
    }
    if let Err(error) = writer.finish(&answers) {
        check(error);
    }
});
