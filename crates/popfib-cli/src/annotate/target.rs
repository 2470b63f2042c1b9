//! Where the answers go: standard output, or a file that is there as a whole or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::failure::Failure;
use crate::output::Output;

/// Standard output or a file.
pub(super) enum Target {
    Standard(Output),
    File { path: PathBuf, file: NewFile },
}

pub(super) enum NewFile {
    /// Written beside the file that it will replace; gone if it is dropped before.
    Temporary { file: NamedTempFile, place: PathBuf },
    /// A device or a pipe, which must not be replaced.
    Direct(File),
}

impl Target {
    /// Standard output if there is no path or it is `-`.
    pub(super) fn new(path: Option<&Path>) -> Result<Self, Failure> {
        match path {
            None => Ok(Self::Standard(Output::new())),
            Some(path) if path.as_os_str() == "-" => Ok(Self::Standard(Output::new())),
            Some(path) => {
                let file = NewFile::create(path).map_err(|error| failure(path, &error))?;
                Ok(Self::File {
                    path: path.to_owned(),
                    file,
                })
            }
        }
    }

    /// Writes `bytes`, which are best many.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Standard(output) => output.bytes(bytes),
            Self::File { path, file } => {
                let file: &mut dyn Write = match file {
                    NewFile::Temporary { file, .. } => file,
                    NewFile::Direct(file) => file,
                };
                file.write_all(bytes).map_err(|error| failure(path, &error))
            }
        }
    }

    /// Hands what is written to a reader of standard output.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        match self {
            Self::Standard(output) => output.flush(),
            Self::File { .. } => Ok(()),
        }
    }

    /// Puts the file into its place.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        self.flush()?;
        match self {
            Self::File {
                path,
                file: NewFile::Temporary { file, place },
            } => file
                .persist(place)
                .map(drop)
                .map_err(|error| failure(&path, &error.error)),
            _ => Ok(()),
        }
    }
}

impl NewFile {
    fn create(path: &Path) -> io::Result<Self> {
        // The file behind a symbolic link is replaced, not the link.
        let place = match fs::canonicalize(path) {
            Ok(place) => {
                let kind = fs::metadata(&place)?.file_type();
                if kind.is_dir() {
                    return Err(io::ErrorKind::IsADirectory.into());
                }
                if !kind.is_file() {
                    return Ok(Self::Direct(File::options().write(true).open(&place)?));
                }
                place
            }
            Err(_) => path.to_owned(),
        };
        let directory = match place.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let file = Builder::new()
            .prefix(".popfib-")
            // As any new file has, less the umask; temporary files are private otherwise.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(directory)?;
        Ok(Self::Temporary { file, place })
    }
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    format!("{}: {error}", path.display().to_string().escape_debug()).into()
}
