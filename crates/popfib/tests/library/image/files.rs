//! Images in files: opened, mapped, shared.

use std::fs;
use std::path::PathBuf;

use popfib::image::Keep;
use popfib::{Image, ImageError, ImageWriter, Options};

use super::forms::{Random, ask, every_width, rib};

/// A new directory of this test's own.
fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn writer(count: usize) -> ImageWriter {
    let mut writer = ImageWriter::new(0);
    writer.table("test", &[]).unwrap();
    let rib = rib::<u32>(&mut Random(1), count, 9);
    writer
        .family(&rib, &Options::default(), Keep::Routes)
        .unwrap();
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
        let bytes = writer.to_bytes();
        writer.write(fs::File::create(&path).unwrap()).unwrap();
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
        // The file stays for those who have mapped it.
        fs::remove_file(&path).unwrap();
        assert_eq!(ask(&mapped, 1), wanted);
        assert_eq!(ask(&trusted, 1), wanted);
    }
    assert!(names(&directory).is_empty());
}

#[test]
fn lent_images_answer_the_same() {
    let bytes = writer(1_000).to_bytes();
    let wanted = ask(&Image::from_bytes(&bytes).unwrap(), 1);
    let space = vec![0; bytes.len() + 65].leak();
    let aligned = space.as_ptr().align_offset(64);
    space[aligned..][..bytes.len()].copy_from_slice(&bytes);
    let lent = &space[aligned..][..bytes.len()];
    assert_eq!(ask(&Image::from_static(lent).unwrap(), 1), wanted);
    // SAFETY: it is what was just written.
    let trusted = unsafe { Image::from_static_trusted(lent) }.unwrap();
    assert_eq!(ask(&trusted, 1), wanted);
    assert!(!format!("{trusted:?}").contains("[137"), "shows all bytes");
    Image::from_static(&lent[..lent.len() - 1]).unwrap_err();

    // Where sections would not be aligned.
    let space = vec![0; bytes.len() + 65].leak();
    let odd = space.as_ptr().align_offset(64) + 1;
    space[odd..][..bytes.len()].copy_from_slice(&bytes);
    let copied = Image::from_static(&space[odd..][..bytes.len()]).unwrap();
    assert_eq!(ask(&copied, 1), wanted);
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
    let good = every_width(1, 5, &Options::default(), Keep::Routes);
    fs::write(&path, &good[..1000]).unwrap();
    both(&format!("cut off at byte 1000 of {}", good.len()));
    // Also where nothing else is checked.
    // SAFETY: an image cut off is refused before anything is used.
    let error = unsafe { Image::map_trusted(&path) }.unwrap_err();
    assert!(matches!(error, ImageError::Length { given: 1000, .. }));
    let error = Image::open(&directory).unwrap_err().to_string();
    assert!(error.contains("directory"), "{error}");
}

/// What /proc/PID/smaps says of the pages of a process that map a file, in KiB.
#[cfg(target_os = "linux")]
#[derive(Default)]
struct Mapped {
    resident: u64,
    private: u64,
    shared: u64,
    /// Each page counted by its part: 1 of so many who have it.
    proportional: u64,
}

/// `None` if the process does not map `path`, or there is nothing to tell it by.
#[cfg(target_os = "linux")]
fn mapped(process: &str, path: &std::path::Path) -> Option<Mapped> {
    let path = path.canonicalize().ok()?;
    let smaps = fs::read_to_string(format!("/proc/{process}/smaps")).ok()?;
    let mut lines = smaps
        .lines()
        .skip_while(|line| !line.ends_with(path.to_str().unwrap()));
    lines.next()?;
    let mut mapped = Mapped::default();
    for line in lines {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        if !name.ends_with(':') {
            break;
        }
        let kib = words.next().and_then(|word| word.parse::<u64>().ok());
        match name {
            "Rss:" => mapped.resident += kib?,
            "Private_Dirty:" | "Anonymous:" => mapped.private += kib?,
            "Shared_Clean:" | "Shared_Dirty:" => mapped.shared += kib?,
            "Pss:" => mapped.proportional += kib?,
            _ => {}
        }
    }
    Some(mapped)
}

/// A mapped image is the system's one copy of the file: nothing of it is this
/// process's own, and another that maps it has the same pages. The other is
/// this test again, told by a variable to be it.
#[test]
#[cfg(target_os = "linux")]
fn two_processes_share_a_mapped_image() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    const OTHER: &str = "POPFIB_TEST_MAPS_IMAGE";
    const MAPPED: &str = "the image is mapped";
    let map = |path: &std::path::Path| {
        // SAFETY: nobody writes to the file.
        let image = unsafe { Image::map(path) }.unwrap();
        ask(&image, 1);
        image
    };
    if let Some(path) = std::env::var_os(OTHER) {
        let image = map(path.as_ref());
        println!("{MAPPED}");
        // Until the first process has seen enough.
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        drop(image);
        return;
    }

    let directory = directory("image-shared");
    let path = directory.join("t.fib");
    let mut file = fs::File::create(&path).unwrap();
    writer(100_000).write(&mut file).unwrap();
    // Pages that are not on the disk would count as private.
    file.sync_all().unwrap();
    let image = map(&path);
    let Some(alone) = mapped("self", &path) else {
        println!("skipped: two_processes_share_a_mapped_image: no /proc/self/smaps");
        return;
    };
    // Validation has read all of it.
    let size = image.bytes() as u64 / 1024;
    assert!(alone.resident >= size, "{} KiB", alone.resident);
    assert_eq!(alone.private, 0);

    let mut other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg("image::files::two_processes_share_a_mapped_image")
        .env(OTHER, &path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(other.stdout.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    let is_mapped = lines.any(|line| line.contains(MAPPED));
    assert!(is_mapped, "the other process maps the image");
    for process in ["self", &other.id().to_string()] {
        let both = mapped(process, &path).unwrap();
        assert!(both.resident >= size);
        assert_eq!(both.private, 0);
        assert_eq!(both.shared, both.resident, "every page is the other's, too");
        assert!(both.proportional * 2 <= both.resident + 8);
    }
    drop(other.stdin.take());
    // It also reports as a test.
    lines.for_each(drop);
    assert!(other.wait().unwrap().success());

    // What is opened instead is not mapped.
    drop(image);
    let image = Image::open(&path).unwrap();
    assert!(mapped("self", &path).is_none());
    drop(image);
}
