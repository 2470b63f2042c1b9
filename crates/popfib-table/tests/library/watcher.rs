//! Files that are published, broken, removed and published again, while others read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use popfib_table::{Table, WatchedFiles, Watcher};
use tempfile::TempDir;

const OFTEN: Duration = Duration::from_millis(1);
const SOON: Duration = Duration::from_secs(20);

/// Puts a file in the place of another.
fn publish(path: &Path, content: &str) {
    let next = path.with_extension("next");
    fs::write(&next, content).unwrap();
    fs::rename(next, path).unwrap();
}

/// The table of lines of a prefix and a value.
fn load(path: &Path) -> Result<Table, io::Error> {
    let route = |line: &str| {
        let (prefix, value) = line.split_once(' ').ok_or(io::ErrorKind::InvalidData)?;
        Ok((prefix.parse().map_err(io::Error::other)?, value.to_owned()))
    };
    fs::read_to_string(path)?.lines().map(route).collect()
}

type News = Receiver<Result<(), io::Error>>;

/// A watcher of the table at `path`, and what it tells.
fn watch(path: &Path) -> (Watcher<Table, io::Error>, News) {
    let (send, told) = mpsc::channel();
    let file = path.to_owned();
    let tell = move |news| send.send(news).unwrap();
    let watcher = Watcher::start(vec![path.to_owned()], OFTEN, move || load(&file), tell);
    (watcher.unwrap(), told)
}

fn value(table: &Table) -> String {
    let number = table.lookup("10.1.2.3".parse().unwrap()).unwrap();
    table.value(number).unwrap().into_owned()
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.txt");
    (folder, path)
}

#[test]
fn what_is_wrong_is_told_once_and_changes_nothing() {
    let (_folder, path) = folder();
    let file = path.clone();
    let missing = Watcher::start(vec![path.clone()], OFTEN, move || load(&file), drop);
    assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);

    publish(&path, "10.0.0.0/8 east\n");
    let (watcher, told) = watch(&path);
    let expect = |kind| {
        let news = told.recv_timeout(SOON).unwrap();
        assert_eq!(news.err().map(|error| error.kind()), kind);
    };
    let first = watcher.current();
    fs::remove_file(&path).unwrap();
    expect(Some(io::ErrorKind::NotFound));
    for wrong in ["10.0.0.0/33 x\n", "10.0.0.0/33 y\n"] {
        publish(&path, wrong);
        sleep(OFTEN * 20);
    }
    // The second is wrong for the same reason.
    expect(Some(io::ErrorKind::Other));
    sleep(OFTEN * 50);
    assert!(told.try_recv().is_err());
    assert!(watcher.reload().is_err());
    assert!(Arc::ptr_eq(&first, &watcher.current()));
    assert_eq!((value(&first).as_str(), watcher.version()), ("east", 1));

    publish(&path, "10.0.0.0/8 west\n");
    expect(None);
    assert_eq!(
        (value(&watcher.current()).as_str(), watcher.version()),
        ("west", 2)
    );
    // The same error after a success is told.
    publish(&path, "10.0.0.0/33 x\n");
    expect(Some(io::ErrorKind::Other));
    publish(&path, "10.0.0.0/8 south\n");
    expect(None);
    watcher.reload().unwrap();
    assert_eq!(watcher.version(), 4);

    let mut reader = watcher.reader();
    drop(watcher);
    publish(&path, "10.0.0.0/8 east\n");
    assert!(told.recv_timeout(SOON).is_err(), "it follows after its end");
    assert_eq!(value(reader.current()), "south");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_written_in_place_is_read_when_it_is_complete() {
    let (_folder, path) = folder();
    fs::write(&path, "10.0.0.0/8 east\n").unwrap();
    let (watcher, told) = watch(&path);
    for part in [
        "10.0.0.0/8 w",
        "10.0.0.0/8 we",
        "10.0.0.0/8 wes",
        "10.0.0.0/8 west\n",
    ] {
        let begin = Instant::now();
        fs::write(&path, part).unwrap();
        sleep(WatchedFiles::INTERVAL / 4);
        let now = value(&watcher.current());
        assert!(
            now == "east" || begin.elapsed() >= WatchedFiles::INTERVAL,
            "{now}"
        );
    }
    while value(&watcher.current()) != "west" {
        told.recv_timeout(SOON).unwrap().unwrap();
    }
}

#[test]
fn a_folder_changes_with_its_files() {
    let (folder, path) = folder();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let other = inner.join("other.txt");
    publish(&path, "10.0.0.0/8 east\n");
    let mut files = WatchedFiles::new(vec![folder.path().to_owned()]);
    assert!(files.are_there() && !files.are_replaced(false));
    // At once: what takes the place of another is complete.
    publish(&other, "10.0.0.0/8 west\n");
    assert!(files.are_replaced(false) && !files.are_replaced(false));
    publish(&path, "10.0.0.0/8 other\n");
    assert!(files.are_replaced(false) && !files.are_replaced(false));
    fs::remove_file(&other).unwrap();
    assert!(files.are_replaced(false) && !files.are_replaced(false));
    assert!(!WatchedFiles::new(vec![path, other]).are_there());
}

#[test]
fn readers_see_whole_tables() {
    const PARTS: u32 = 64;
    let (_folder, path) = folder();
    let table = |generation: u32| {
        let lines = (0..PARTS).map(|part| format!("10.{part}.0.0/16 {generation}-{part}\n"));
        lines.collect::<String>()
    };
    publish(&path, &table(0));
    let (watcher, told) = watch(&path);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut reader = watcher.reader();
                while !is_over.load(Ordering::Relaxed) {
                    let table = reader.current();
                    let found = |part| {
                        let number = table.lookup([10, part, 1, 2].into()).unwrap();
                        table.value(number).unwrap().into_owned()
                    };
                    let generation = found(0).strip_suffix("-0").unwrap().to_owned();
                    for part in 0..PARTS {
                        assert_eq!(found(part as u8), format!("{generation}-{part}"));
                    }
                }
            });
        }
        for generation in 1..50 {
            publish(&path, &table(generation));
            told.recv_timeout(SOON).unwrap().unwrap();
            let now = watcher.current();
            assert!(value(&now).starts_with(&format!("{generation}-")));
        }
        is_over.store(true, Ordering::Relaxed);
    });
}
