//! Images in files: saved as a whole or not at all, mapped, shared.

use std::fs;
use std::path::PathBuf;

use popfib::{Image, ImageError, ImageWriter, Options};

use crate::forms::{Random, ask, every_width, rib};

/// A new directory of this test's own.
fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn writer(count: usize) -> ImageWriter {
    let mut writer = ImageWriter::new("test", 0);
    let rib = rib::<u32>(&mut Random(1), count, 9);
    writer.table(&rib, &Options::default(), true).unwrap();
    writer
}

/// The names in a directory.
fn names(directory: &PathBuf) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn opened_and_mapped_images_answer_the_same() {
    let directory = directory("image-same");
    let path = directory.join("t.fib");
    // Small, and large enough for huge pages.
    for count in [0, 100, 100_000] {
        let writer = writer(count);
        writer.save(&path).unwrap();
        let bytes = writer.to_bytes();
        assert!(fs::read(&path).unwrap() == bytes);
        let wanted = ask(&Image::from_bytes(&bytes).unwrap(), 1);
        assert_eq!(ask(&Image::open(&path).unwrap(), 1), wanted);
        // SAFETY: nobody else knows of the file, and it is what was just written.
        let (mapped, trusted) = unsafe {
            (
                Image::map(&path).unwrap(),
                Image::map_trusted(&path).unwrap(),
            )
        };
        // The old file stays for those who have mapped it.
        writer.save(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(ask(&mapped, 1), wanted);
        assert_eq!(ask(&trusted, 1), wanted);
    }
    assert!(names(&directory).is_empty());
}

#[test]
fn what_cannot_be_opened_is_told() {
    let directory = directory("image-bad");
    let path = directory.join("t.fib");
    let both = |wanted: &str| {
        let opened = Image::open(&path).unwrap_err().to_string();
        // SAFETY: nobody writes to the file.
        let mapped = unsafe { Image::map(&path) }.unwrap_err().to_string();
        assert!(
            opened.contains(wanted) && mapped.contains(wanted),
            "{opened}; {mapped}"
        );
    };
    both("No such file");
    fs::write(&path, "").unwrap();
    both("not a popfib image");
    fs::write(&path, "192.0.2.0/24 1\n").unwrap();
    both("not a popfib image");
    let good = every_width(1, 5, &Options::default(), true);
    fs::write(&path, &good[..1000]).unwrap();
    both(&format!("cut off at byte 1000 of {}", good.len()));
    // Also where nothing else is checked.
    // SAFETY: an image cut off is refused before anything is used.
    let error = unsafe { Image::map_trusted(&path) }.unwrap_err();
    assert!(matches!(error, ImageError::Length { given: 1000, .. }));
    let error = Image::open(&directory).unwrap_err().to_string();
    assert!(error.contains("directory"), "{error}");
}

#[test]
fn a_failed_save_leaves_what_was_there() {
    let directory = directory("image-failed");
    let path = directory.join("t.fib");
    fs::write(&path, "old").unwrap();
    let error = writer(5)
        .save(directory.join("none").join("t.fib"))
        .unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert!(writer(5).save(&directory).is_err());
    assert!(writer(5).save("").is_err());
    assert_eq!(names(&directory), ["t.fib"]);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    #[cfg(unix)]
    {
        // A device would be gone after the rename.
        let error = writer(5).save("/dev/null").unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
        // The file behind a link is replaced, not the link.
        let link = directory.join("link.fib");
        std::os::unix::fs::symlink("t.fib", &link).unwrap();
        writer(5).save(&link).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(Image::open(&path).is_ok());
        assert_eq!(names(&directory), ["link.fib", "t.fib"]);
    }
}

/// Pages of this process that map `path`, by /proc/self/smaps: size, and how much
/// of that is private.
#[cfg(target_os = "linux")]
fn mapped(path: &std::path::Path) -> Option<(u64, u64)> {
    let path = path.canonicalize().ok()?;
    let smaps = fs::read_to_string("/proc/self/smaps").ok()?;
    let mut lines = smaps
        .lines()
        .skip_while(|line| !line.ends_with(path.to_str().unwrap()));
    lines.next()?;
    let (mut resident, mut private) = (0, 0);
    for line in lines {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        if !name.ends_with(':') {
            break;
        }
        let kib = words.next().and_then(|word| word.parse::<u64>().ok());
        match name {
            "Rss:" => resident += kib?,
            "Private_Dirty:" | "Anonymous:" => private += kib?,
            _ => {}
        }
    }
    Some((resident, private))
}

/// A mapped image is the system's one copy of the file: nothing of it is this
/// process's own, so any other that maps it has the same pages.
#[test]
#[cfg(target_os = "linux")]
fn a_mapped_image_is_shared() {
    let directory = directory("image-shared");
    let path = directory.join("t.fib");
    writer(100_000).save(&path).unwrap();
    // SAFETY: nobody writes to the file.
    let image = unsafe { Image::map(&path) }.unwrap();
    ask(&image, 1);
    let Some((resident, private)) = mapped(&path) else {
        println!("skipped: no /proc/self/smaps to see the shared pages in");
        return;
    };
    // Validation has read all of it.
    assert!(resident >= image.bytes() as u64 / 1024, "{resident} KiB");
    assert_eq!(private, 0);
    assert!(mapped(&directory.join("t.fib")).is_some());
    // What is opened instead is not mapped.
    drop(image);
    let image = Image::open(&path).unwrap();
    assert_eq!(mapped(&path), None);
    drop(image);
}
