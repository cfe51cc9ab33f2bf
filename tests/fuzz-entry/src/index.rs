//! Index files: deletion vectors and hashes.

use tidewater_index::{
    DeletionVector, DvEntry, check_dv_layout, decode_dv_entries, decode_dv_file, decode_hashes,
    encode_dv_files, encode_hashes,
};

const PATH: &str = "/t/index/index-0";

/// Checksums keep most changes out, so what they leave is also read as the body of a vector of either kind.
pub(crate) fn deletion_vector_file(bytes: &[u8]) {
    check(bytes);
    for magic in [[0x5e, 0x43, 0xf2, 0xd0], [0xd1, 0xd3, 0x39, 0x64]] {
        let body = [&magic, bytes].concat();
        let Ok(length) = i32::try_from(body.len()) else {
            return;
        };
        let sum = crc32fast::hash(&body);
        let frame = [&[1], &length.to_be_bytes()[..], &body, &sum.to_be_bytes()];
        check(&frame.concat());
    }
}

fn check(bytes: &[u8]) {
    let Ok(entries) = decode_dv_entries(PATH, bytes) else {
        return;
    };
    for entry in &entries {
        let vector = &entry.vector;
        assert_eq!(vector.cardinality() > 0, vector.last().is_some());
        let rows = vector.last().unwrap_or(0).saturating_sub(5000);
        let window = rows..rows + 6000;
        let left = vector.live_mask(window.clone());
        let deleted = left.map_or(0, |mask| mask.len() - mask.count_set_bits());
        assert_eq!(deleted as u64, vector.cardinality_in(window));
    }
    // A stored vector takes twelve bytes for each bitmap up to its last one: not for positions that no file has.
    if entries
        .iter()
        .any(|entry| entry.vector.last() >= Some(1 << 40))
    {
        return;
    }
    let names: Vec<String> = (0..entries.len())
        .map(|number| number.to_string())
        .collect();
    let vectors: Vec<(&str, &DeletionVector)> = names
        .iter()
        .map(String::as_str)
        .zip(entries.iter().map(|entry| &entry.vector))
        .collect();
    let Ok(files) = encode_dv_files(vectors, None) else {
        return;
    };
    let again = decode_dv_entries(PATH, &files[0].bytes).expect("its own bytes");
    let vectors = |entries: &[DvEntry]| -> Vec<DeletionVector> {
        entries.iter().map(|entry| entry.vector.clone()).collect()
    };
    assert_eq!(vectors(&again), vectors(&entries));
    check_dv_layout(PATH, &again, &files[0].ranges).expect("its own list");
    let listed = decode_dv_file(PATH, &files[0].bytes, &files[0].ranges);
    assert_eq!(listed.expect("its own list").len(), entries.len());
}

pub(crate) fn hash_index(bytes: &[u8]) {
    if let Ok(hashes) = decode_hashes(PATH, bytes) {
        assert_eq!(encode_hashes(&hashes), bytes);
    }
}
