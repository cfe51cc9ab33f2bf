//! The floor under any planner: the bytes of all manifests of the latest snapshot, decompressed and looked at once, none decoded.

use std::path::{Path, PathBuf};

use tidewater_format::{Snapshot, manifest_list};

use super::Limit;
use crate::answer::Answer;
use crate::error::{BenchError, Result};

/// Repeats of which the best is told beside the first.
const WARM: usize = 5;

impl Limit {
    /// `folder` is that of a table.
    pub(super) fn meta_plan(&self) -> Result<Answer> {
        let mut all = Vec::with_capacity(WARM);
        let mut entries = 0;
        for _ in 0..=WARM {
            let start = self.env.monotonic();
            entries = self.touch_manifests()?;
            all.push(self.since(start));
        }
        let best = all.iter().copied().fold(f64::INFINITY, f64::min);
        Ok(
            Answer::new(all.first().copied().unwrap_or_default(), entries)
                .with("plan_full_s", best),
        )
    }

    fn touch_manifests(&self) -> Result<u64> {
        let snapshots = self.folder.join("snapshot");
        let listed = std::fs::read_dir(&snapshots).map_err(BenchError::file(&snapshots))?;
        let numbers = listed.flatten().filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.strip_prefix("snapshot-")?.parse::<u64>().ok()
        });
        let newest = numbers
            .max()
            .ok_or_else(|| BenchError::Wrong("the table has no snapshot".to_owned()))?;
        let snapshot = Snapshot::from_json(&read(&snapshots.join(format!("snapshot-{newest}")))?)?;
        let manifests = self.folder.join("manifest");
        let mut files: Vec<PathBuf> = Vec::new();
        for list in [&snapshot.base_manifest_list, &snapshot.delta_manifest_list] {
            let metas = manifest_list::decode(&read(&manifests.join(list))?)?;
            files.extend(metas.into_iter().map(|meta| manifests.join(meta.file_name)));
        }
        let counts = self.spread(&files, |path| {
            let (entries, raw) = undo_blocks(&read(path)?)
                .ok_or_else(|| BenchError::Wrong(format!("{} is no container", path.display())))?;
            let touched = raw.iter().fold(0_u64, |sum, byte| sum + u64::from(*byte));
            Ok(if touched == u64::MAX { 0 } else { entries })
        })?;
        Ok(counts.iter().sum())
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(BenchError::file(path))
}

/// Entries and raw bytes of an Avro container.
fn undo_blocks(container: &[u8]) -> Option<(u64, Vec<u8>)> {
    let mut rest = container.get(4..)?;
    let mut zstd = false;
    loop {
        let count = number(&mut rest)?;
        if count == 0 {
            break;
        }
        if count < 0 {
            number(&mut rest)?;
        }
        for _ in 0..count.unsigned_abs() {
            let (key, value) = (bytes(&mut rest)?, bytes(&mut rest)?);
            zstd |= key == b"avro.codec" && value == b"zstandard";
        }
    }
    rest = rest.get(16..)?;
    let (mut entries, mut raw) = (0, Vec::new());
    while !rest.is_empty() {
        entries += number(&mut rest)?.unsigned_abs();
        let block = bytes(&mut rest)?;
        if zstd {
            raw.extend(zstd::decode_all(block).ok()?);
        } else {
            raw.extend_from_slice(block);
        }
        rest = rest.get(16..)?;
    }
    Some((entries, raw))
}

fn bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(number(rest)?).ok()?;
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

/// A zigzag number of seven bits a byte.
fn number(rest: &mut &[u8]) -> Option<i64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, left) = rest.split_first()?;
        *rest = left;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_zigzag_and_end_with_the_bytes() {
        let mut bytes: &[u8] = &[0x00, 0x01, 0x02, 0xac, 0x02, 0x80];
        let numbers: Vec<_> = std::iter::from_fn(|| number(&mut bytes)).collect();
        assert_eq!(numbers, [0, -1, 1, 150]);
    }
}
