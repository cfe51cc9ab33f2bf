//! Where an export goes: a file that appears when it is whole, or a stream.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::error::{ExportError, Result};

const BUFFER_BYTES: usize = 256 << 10;

/// Where the bytes of an export go.
pub struct Destination(Kind);

enum Kind {
    File {
        path: PathBuf,
        file: BufWriter<NamedTempFile>,
    },
    Stream(Box<dyn Write + Send>),
}

impl std::fmt::Debug for Destination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

impl Destination {
    /// A file, which takes the place of one that is there. Until [`super::ExportWriter::finish`] the bytes are in a temporary file
    /// beside it. A device or a pipe is written to as it is.
    ///
    /// # Errors
    /// [`ExportError::Write`] if no file can be made in its folder.
    pub fn file(path: &Path) -> Result<Self> {
        let special =
            std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir());
        if special {
            let opened = std::fs::OpenOptions::new().write(true).open(path);
            let stream = opened.map_err(|source| ExportError::Write {
                file: path.display().to_string(),
                source,
            })?;
            return Ok(Self::stream(BufWriter::with_capacity(BUFFER_BYTES, stream)));
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let made = tempfile::Builder::new()
            .prefix(".tidewater-export-")
            .suffix(".tmp")
            .tempfile_in(folder);
        let file = made.map_err(|source| ExportError::Write {
            file: path.display().to_string(),
            source,
        })?;
        Ok(Self(Kind::File {
            path: path.to_owned(),
            file: BufWriter::with_capacity(BUFFER_BYTES, file),
        }))
    }

    /// A stream, such as standard output.
    pub fn stream(stream: impl Write + Send + 'static) -> Self {
        Self(Kind::Stream(Box::new(stream)))
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self.0, Kind::File { .. })
    }

    pub(super) fn name(&self) -> String {
        match &self.0 {
            Kind::File { path, .. } => path.display().to_string(),
            Kind::Stream(_) => "standard output".to_owned(),
        }
    }

    /// Flushes a stream; gives a file its name, with everything on the disk.
    pub(super) fn finish(self) -> Result<()> {
        let name = self.name();
        let write = |source| ExportError::Write {
            file: name.clone(),
            source,
        };
        match self.0 {
            Kind::Stream(mut stream) => stream.flush().map_err(write),
            Kind::File { path, file } => {
                let file = file
                    .into_inner()
                    .map_err(|error| write(error.into_error()))?;
                file.as_file().sync_all().map_err(write)?;
                share(file.as_file()).map_err(write)?;
                let kept = file.persist(path).map_err(|error| write(error.error))?;
                drop(kept);
                Ok(())
            }
        }
    }
}

/// Temporary files are for their owner's eyes only; an export may be read as other new files are.
fn share(file: &std::fs::File) -> std::io::Result<()> {
    let mut permissions = file.metadata()?.permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o644);
    file.set_permissions(permissions)
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.0 {
            Kind::File { file, .. } => file.write(bytes),
            Kind::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.0 {
            Kind::File { file, .. } => file.flush(),
            Kind::Stream(stream) => stream.flush(),
        }
    }
}
