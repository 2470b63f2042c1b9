//! The handle `popfib_watcher`: the path of an image that is published again and again in, the newest image out.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use std::ffi::CString;
use std::time::Duration;

use popfib::{Image, ImageError};
use popfib_table::{WatchedFiles, Watcher};

use crate::border::{border, border_or, make_handle, required};
use crate::error::Errno;
use crate::image::{self, CImage};
use crate::memory::{free_on_heap, make_on_heap};

/// What a `popfib_watcher` points to.
struct CWatcher(Watcher<Image, ImageError>);

/// `popfib_watch_fn`.
type TellFn = unsafe extern "C" fn(*mut c_void, c_int, *const c_char);

/// A function of the caller's, and what it is called with.
struct Teller(Option<TellFn>, *mut c_void);

// SAFETY: the caller lets the thread of the watcher call it, which is the only one that does.
unsafe impl Send for Teller {}

impl Teller {
    fn tell(&self, path: &CStr, news: Result<(), ImageError>) {
        let Self(Some(tell), user) = *self else {
            return;
        };
        let Err(error) = news else {
            // SAFETY: as the caller promises.
            return unsafe { tell(user, 0, ptr::null()) };
        };
        let text = format!("{}: {error}", path.to_string_lossy());
        let text = CString::new(text).unwrap_or_default();
        // SAFETY: as the caller promises; the text lives until it returns.
        unsafe { tell(user, Errno::from(error).code(), text.as_ptr()) }
    }
}

/// # Safety
/// `file` is null or a string; `watcher` is null or a place for a pointer. Until the watcher is freed, `tell` is null, or may be called
/// with `user` by one thread of popfib's. What `popfib_image_open` asks for with this mode holds for each file at the path.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_watcher_open(
    file: *const c_char,
    mode: u32,
    interval: u32,
    tell: Option<TellFn>,
    user: *mut c_void,
    watcher: *mut *mut CWatcher,
) -> c_int {
    let make = || {
        // SAFETY: null or a string, as the caller promises.
        let path = unsafe { image::path(file)? }.to_owned();
        let mode = image::check_mode(mode)?;
        let interval = match interval {
            0 => WatchedFiles::INTERVAL,
            milliseconds => Duration::from_millis(milliseconds.into()),
        };
        // SAFETY: not null, hence a string.
        let (name, teller) = (
            unsafe { CStr::from_ptr(file) }.to_owned(),
            Teller(tell, user),
        );
        let paths = vec![path.clone()];
        // SAFETY: as the caller promises.
        let load = move || unsafe { image::open(&path, mode) };
        let tell = move |news| border_or((), || teller.tell(&name, news));
        let watcher = Watcher::start(paths, interval, load, tell)?;
        make_on_heap(CWatcher(watcher))
    };
    // SAFETY: null or a place for a pointer, as the caller promises.
    unsafe { make_handle(watcher, make) }
}

/// # Safety
/// `watcher` is null or live.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_watcher_version(watcher: *const CWatcher) -> u64 {
    // SAFETY: null or live, as the caller promises.
    unsafe { watcher.as_ref() }.map_or(0, |watcher| watcher.0.version())
}

/// # Safety
/// `watcher` is null or live; `image` is null or a place for a pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_watcher_image(
    watcher: *const CWatcher,
    image: *mut *mut CImage,
) -> c_int {
    // SAFETY: null or live, as the caller promises.
    let make = || CImage::hand_out(unsafe { required(watcher)? }.0.current());
    // SAFETY: null or a place for a pointer, as the caller promises.
    unsafe { make_handle(image, make) }
}

/// # Safety
/// `watcher` is null or live.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_watcher_reload(watcher: *const CWatcher) -> c_int {
    border(|| {
        // SAFETY: null or live, as the caller promises.
        Ok(unsafe { required(watcher)? }.0.reload()?)
    })
}

/// # Safety
/// `watcher` is null, or live and used by no other thread meanwhile, and not used again.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_watcher_free(watcher: *mut CWatcher) {
    // SAFETY: null, or from `make_on_heap`, live and not used again, as the caller promises.
    unsafe { free_on_heap(watcher) }
}
