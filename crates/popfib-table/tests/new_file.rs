//! Files that are there as a whole or not at all, whatever happens meanwhile.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use popfib::{Image, ImageWriter};
use popfib_table::{NewFile, save_image};

/// A new directory of this test's own.
fn directory(name: &str) -> PathBuf {
    // Not below the target directory, which others may have no way to.
    let path = std::env::temp_dir().join(format!("popfib-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory");
    path
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string())
        .map(|name| name.expect("a name"))
        .collect();
    names.sort();
    names
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(text.as_bytes())?;
    file.finish()
}

#[test]
fn a_link_to_nothing_is_followed() {
    let directory = directory("new-file-links");
    fs::create_dir(directory.join("sub")).expect("a directory");
    // Relative to where each link is.
    symlink("sub/second", directory.join("first")).expect("a link");
    symlink("../file", directory.join("sub/second")).expect("a link");
    for text in ["made", "replaced"] {
        write(&directory.join("first"), text).expect("written");
        assert_eq!(
            fs::read_to_string(directory.join("file")).expect("it is there"),
            text
        );
        assert_eq!(names(&directory), ["file", "first", "sub"]);
        assert!(directory.join("first").is_symlink() && directory.join("sub/second").is_symlink());
    }
    symlink("none/file", directory.join("astray")).expect("a link");
    assert!(write(&directory.join("astray"), "").is_err());
    symlink("round", directory.join("round")).expect("a link");
    assert!(write(&directory.join("round"), "").is_err());
    fs::remove_dir_all(directory).expect("removed");
}

#[test]
fn permissions_are_those_of_the_old_file() {
    let directory = directory("new-file-permissions");
    let path = directory.join("file");
    fs::write(&path, "old").expect("written");
    // Of whom the new file is, it does not run as the old one's owner or group.
    for mode in [0o600, 0o664, 0o6755] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("set");
        write(&path, "new").expect("written");
        let now = fs::metadata(&path).expect("it is there").permissions();
        assert_eq!(now.mode() & 0o7777, mode & 0o777);
    }
    // Its group is the old one's, where this process may say so.
    if std::os::unix::fs::chown(&path, None, Some(65_533)).is_ok() {
        write(&path, "newer").expect("written");
        assert_eq!(fs::metadata(&path).expect("it is there").gid(), 65_533);
    }
    // Where it may not, members of another group may do what all others may.
    #[cfg(target_os = "linux")]
    if std::os::unix::fs::chown(&directory, Some(65_534), None).is_ok() {
        fs::set_permissions(&path, Permissions::from_mode(0o674)).expect("set");
        as_nobody(|| write(&path, "newest")).expect("written");
        let now = fs::metadata(&path).expect("it is there");
        assert_ne!(now.gid(), 65_533);
        assert_eq!(now.permissions().mode() & 0o777, 0o644);
    }
    fs::remove_dir_all(directory).expect("removed");
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_may_not_be_read_is_no_failure() {
    let directory = directory("new-file-unreadable");
    fs::set_permissions(&directory, Permissions::from_mode(0o333)).expect("set");
    let path = directory.join("file");
    let (listed, written) = as_nobody(|| {
        let listed = fs::read_dir(&directory).is_ok();
        (listed, [write(&path, "old"), write(&path, "new")])
    });
    fs::set_permissions(&directory, Permissions::from_mode(0o700)).expect("set");
    assert!(!listed, "the test has a directory that may be read");
    for written in written {
        written.expect("what is in its place is no failure");
    }
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "new");
    assert_eq!(names(&directory), ["file"]);
    fs::remove_dir_all(directory).expect("removed");
}

/// The process that is killed is this test again, told by a variable to be it.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_process_leaves_nothing() {
    use std::io::{BufRead, BufReader, Read};
    use std::os::unix::fs::OpenOptionsExt;
    use std::process::{Command, Stdio};

    const VICTIM: &str = "POPFIB_TEST_IS_KILLED";
    if let Some(path) = std::env::var_os(VICTIM) {
        let mut file = NewFile::create(path).expect("a file");
        file.write_all(&[7; 100_000]).expect("written");
        println!("half of it is written");
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        return;
    }
    let directory = directory("new-file-killed");
    let mut options = fs::OpenOptions::new();
    let options = options.write(true).custom_flags(libc::O_TMPFILE);
    if let Err(error) = options.open(&directory) {
        println!("skipped: a_killed_process_leaves_nothing: no files without a name: {error}");
        return;
    }
    let path = directory.join("file");
    for old in [false, true] {
        let mut victim = Command::new(std::env::current_exe().expect("a program"))
            .args(["--exact", "--nocapture", "a_killed_process_leaves_nothing"])
            .env(VICTIM, &path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let lines = BufReader::new(victim.stdout.take().expect("piped")).lines();
        let mut lines = lines.map_while(Result::ok);
        assert!(lines.any(|line| line.contains("half of it is written")));
        victim.kill().expect("killed");
        victim.wait().expect("it ended");
        let left: &[&str] = if old { &["file"] } else { &[] };
        assert_eq!(names(&directory), left);
        fs::write(&path, "old").expect("written");
    }
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "old");
    fs::remove_dir_all(directory).expect("removed");
}

fn save(path: impl AsRef<Path>) -> std::io::Result<()> {
    let mut image = ImageWriter::new(0);
    image.table("test", &[]).expect("a table");
    save_image(&image, path)
}

#[test]
fn a_failed_save_leaves_what_was_there() {
    let directory = directory("image-failed");
    let path = directory.join("t.fib");
    fs::write(&path, "old").unwrap();
    let error = save(directory.join("none").join("t.fib")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert!(save(&directory).is_err());
    assert!(save("").is_err());
    assert_eq!(names(&directory), ["t.fib"]);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    // A device would be gone after the rename.
    let error = save("/dev/null").unwrap_err().to_string();
    assert!(error.contains("not a regular file"), "{error}");
    // The file behind a link is replaced, not the link.
    let link = directory.join("link.fib");
    std::os::unix::fs::symlink("t.fib", &link).unwrap();
    save(&link).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(Image::open(&path).is_ok());
    // Who has the old file open keeps it.
    let old = fs::File::open(&path).unwrap();
    save(&path).unwrap();
    assert_ne!(
        old.metadata().unwrap().ino(),
        fs::metadata(&path).unwrap().ino()
    );
    assert_eq!(names(&directory), ["link.fib", "t.fib"]);
}

/// Runs `body` in this thread with the file rights of the user "nobody", if this is root; else as it is.
#[cfg(target_os = "linux")]
fn as_nobody<T>(body: impl FnOnce() -> T) -> T {
    const NOBODY: libc::uid_t = 65534;
    // SAFETY: the calls take a number and touch no memory; they concern this thread alone.
    let before = unsafe { libc::setfsuid(NOBODY) };
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
    // SAFETY: as above.
    unsafe { libc::setfsuid(before as libc::uid_t) };
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
