//! Manifests, manifest lists and index manifests: which files a table consists of.
//!
//! ```text
//!  snapshot ─> manifest list (list) ─> manifests (decode, encode) ─> entries ─merge─> file set
//!           └> index manifest (index)                      └─ merging: few manifests stay few
//! ```

mod decode;
mod encode;
mod entry;
mod error;
mod file_meta;
mod file_record;
mod filter;
pub mod index;
pub mod list;
mod merge;
pub mod merging;
mod rolling;
mod wire;

#[cfg(test)]
mod tests;

pub use decode::{Decoded, decode_entries, decode_manifest};
pub use encode::encode_entries;
pub use entry::{FileIdentity, FileKind, ManifestEntry};
pub use error::ManifestError;
pub use file_meta::ManifestFileMeta;
pub use filter::ManifestFilter;
pub use index::{DvMeta, GlobalIndexMeta, IndexFileMeta, IndexManifestEntry};
pub use merge::{live_entries, merge_entries};
pub use rolling::{EncodedManifest, RollingManifestWriter};
