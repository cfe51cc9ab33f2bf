//! Files that say what a table is: JSON and Avro.

use tidewater_format::{
    AvroCodec, Consumer, ManifestFilter, Snapshot, TableSchema, Tag, index_manifest, manifest,
    parse_hint,
};

fn codec() -> AvroCodec {
    AvroCodec::from_name("zstd", 1).unwrap()
}

pub(crate) fn snapshot(bytes: &[u8]) {
    if let Ok(snapshot) = Snapshot::from_json(bytes) {
        let again = Snapshot::from_json(&snapshot.to_json()).expect("its own json");
        assert_eq!(again, snapshot);
    }
}

pub(crate) fn tag(bytes: &[u8]) {
    if let Ok(tag) = Tag::from_json(bytes) {
        let again = Tag::from_json(&tag.to_json()).expect("its own json");
        assert_eq!(again, tag);
    }
}

pub(crate) fn consumer(bytes: &[u8]) {
    if let Ok(consumer) = Consumer::from_json(bytes) {
        let again = Consumer::from_json(&consumer.to_json()).expect("its own json");
        assert_eq!(again, consumer);
    }
}

pub(crate) fn hint(bytes: &[u8]) {
    if let Some(id) = parse_hint(bytes) {
        assert_eq!(parse_hint(&tidewater_format::format_hint(id)), Some(id));
    }
}

pub(crate) fn schema(bytes: &[u8]) {
    let Ok(schema) = TableSchema::from_json(bytes) else {
        return;
    };
    let again = TableSchema::from_json(&schema.to_json()).expect("its own json");
    assert_eq!(again.to_json(), schema.to_json());
    // What every opener of a table derives.
    let _ = schema.options();
    let _ = schema.bucket_mode();
    let _ = tidewater_format::ensure_readable(&schema);
    let _ = tidewater_format::ensure_writable(&schema);
    let _ = schema.trimmed_primary_keys();
    let _ = schema.key_value_type(true);
    let _ = schema.key_value_type(false);
    let _ = schema.partition_type();
}

pub(crate) fn manifest(bytes: &[u8]) {
    let Ok(entries) = manifest::decode_entries(bytes, &ManifestFilter::all()) else {
        return;
    };
    let small = ManifestFilter::all()
        .with_bucket(|bucket, _| bucket % 2 == 0)
        .with_level(|level| level < 3)
        .without_key_stats()
        .without_value_stats();
    let _ = manifest::decode_entries(bytes, &small);
    if let Ok(encoded) = manifest::encode_entries(&entries, codec()) {
        let again = manifest::decode_entries(&encoded, &ManifestFilter::all());
        assert_eq!(again.expect("its own bytes"), entries);
    }
    let _ = tidewater_format::live_entries(entries);
}

pub(crate) fn manifest_list(bytes: &[u8]) {
    use tidewater_format::manifest_list;
    if let Ok(manifests) = manifest_list::decode(bytes)
        && let Ok(encoded) = manifest_list::encode(&manifests, codec())
    {
        let again = manifest_list::decode(&encoded).expect("its own bytes");
        assert_eq!(again, manifests);
    }
}

pub(crate) fn index_manifest(bytes: &[u8]) {
    if let Ok(entries) = index_manifest::decode(bytes)
        && let Ok(encoded) = index_manifest::encode(&entries, codec())
    {
        let again = index_manifest::decode(&encoded).expect("its own bytes");
        assert_eq!(again, entries);
    }
}
