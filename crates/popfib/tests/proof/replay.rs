//! Inputs of the fuzz target: the kept ones, and as many random ones as a test run has time for.

use crate::cases;
use crate::operations::{Input, run};
use crate::tables::Random;
use arbitrary::{Arbitrary, Unstructured};
use std::path::Path;

/// Runs what the bytes spell, as the fuzz target would.
fn run_bytes(bytes: &[u8]) -> usize {
    run(&Input::arbitrary(&mut Unstructured::new(bytes)).unwrap())
}

/// Everything that once failed, and a few inputs that go far.
#[test]
fn kept_inputs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions/operations");
    if !folder.is_dir() {
        println!("skipped: kept_inputs: no fuzz folder (a package without its repository)");
        return;
    }
    let mut replayed = 0;
    for file in folder.read_dir().unwrap() {
        let path = file.unwrap().path();
        println!("{}", path.display());
        let operations = run_bytes(&std::fs::read(&path).unwrap());
        assert!(operations > 0, "no operation in it");
        replayed += 1;
    }
    assert!(replayed > 0, "{} is empty", folder.display());
}

#[test]
fn random_inputs() {
    let mut random = Random::new(18);
    for _ in 0..cases(1_000) {
        let words = random.between(1, 400);
        let bytes: Vec<u8> = (0..words)
            .flat_map(|_| random.bits().to_le_bytes())
            .collect();
        assert!(run_bytes(&bytes) > 0);
    }
}
