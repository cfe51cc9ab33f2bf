//! Snapshots, tags, consumers and hints against what Java reads and writes.

use proptest::prelude::*;
use serde_json::Value;
use tidewater_types::ErrorKind;

use super::wire::WireSnapshot;
use super::*;
use crate::test_vectors::{java_metadata_files, python_metadata_files, vector};

fn as_json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

/// The members that 1.3.1 knows: the ones in Java's answer.
fn known_members(json: &Value, answer: &Value) -> Value {
    let members = json.as_object().unwrap().iter();
    let known = members.filter(|(name, _)| answer.get(name).is_some());
    Value::Object(
        known
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}

#[test]
fn snapshots_read_and_print_as_in_java() {
    for case in vector("snapshot_json.json")["snapshots"]
        .as_array()
        .unwrap()
    {
        let name = case["name"].as_str().unwrap();
        let input = case["input"].as_str().unwrap();
        let wire = WireSnapshot::parse("snapshot", input.as_bytes());
        assert_eq!(
            wire.is_ok(),
            case["ok"].as_bool().unwrap(),
            "{name}: {wire:?}"
        );
        let Ok(wire) = wire else {
            let error = Snapshot::from_json(input.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{name}");
            continue;
        };
        let answer = &case["re_serialized"];
        let printed = Value::Object(wire.clone().into_members());
        assert_eq!(&known_members(&printed, answer), answer, "{name}");
        // Java reads a snapshot without a base list and fails when it looks for the files; here it is refused at once.
        if answer["baseManifestList"].is_null() {
            assert_eq!(
                wire.validate().unwrap_err().to_string(),
                "corrupt snapshot: member \"baseManifestList\" is missing"
            );
            continue;
        }
        let snapshot = Snapshot::from_json(input.as_bytes()).unwrap();
        assert_eq!(
            i64::from(snapshot.version),
            case["version"].as_i64().unwrap(),
            "{name}"
        );
        assert_eq!(as_json(&snapshot.to_json()), printed, "{name}");
    }
}

#[test]
fn members_of_newer_versions_are_written_back() {
    let input = br#"{"version":3,"uuid":"x","id":4,"schemaId":0,"baseManifestList":"a","deltaManifestList":"b","commitUser":"u","commitIdentifier":1,"commitKind":"APPEND","timeMillis":5,"operation":"WRITE","future":{"a":[1,2.50]}}"#;
    let snapshot = Snapshot::from_json(input).unwrap();
    let extra: Vec<_> = snapshot.extra.keys().map(String::as_str).collect();
    assert_eq!(extra, ["uuid", "operation", "future"]);
    let again = Snapshot::from_json(&snapshot.to_json()).unwrap();
    assert_eq!(again, snapshot);
    assert!(
        String::from_utf8(snapshot.to_json())
            .unwrap()
            .contains("2.50")
    );
}

#[test]
fn a_snapshot_of_a_later_layout_is_not_supported() {
    let input = br#"{"version":4,"id":4,"schemaId":0,"baseManifestList":"a","deltaManifestList":"b","commitUser":"u","commitIdentifier":1,"commitKind":"APPEND","timeMillis":5}"#;
    let error = Snapshot::from_json(input).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(
        error.to_string(),
        "snapshot has version 4, this build reads up to 3"
    );
}

#[test]
fn tags_read_and_print_as_in_java() {
    for case in vector("snapshot_json.json")["tags"].as_array().unwrap() {
        let input = case["input"].as_str().unwrap();
        let tag = Tag::from_json(input.as_bytes()).unwrap();
        let printed = String::from_utf8(tag.to_json()).unwrap();
        let json = as_json(printed.as_bytes());
        assert_eq!(
            json.get("tagCreateTime"),
            case.get("re_serialized_tagCreateTime")
                .filter(|time| !time.is_null()),
            "{input}"
        );
        let retained = case["re_serialized_tagTimeRetained_text"].as_str().unwrap();
        match json.get("tagTimeRetained") {
            None => assert_eq!(retained, "absent"),
            Some(number) => assert_eq!(number.to_string(), retained),
        }
        assert_eq!(Tag::from_json(printed.as_bytes()).unwrap(), tag);
    }
}

#[test]
fn a_tag_with_a_time_that_is_none_is_refused() {
    let tag = |time: &str, retained: &str| {
        format!(
            r#"{{"id":1,"baseManifestList":"a","deltaManifestList":"b","commitUser":"u","commitKind":"APPEND","tagCreateTime":{time},"tagTimeRetained":{retained}}}"#
        )
    };
    assert!(Tag::from_json(tag("[2024,2,29,0,0]", "0").as_bytes()).is_ok());
    for (time, retained) in [
        ("[2024,13,1,0,0]", "1"),
        ("[2024,1,1]", "1"),
        ("\"yesterday\"", "1"),
        ("[2024,1,1,0,0,0,1000000000]", "1"),
        ("[2024,1,1,0,0]", "-1"),
        ("[2024,1,1,0,0]", "\"1 day\""),
        ("[2024,1,1,0,0]", "1e400"),
    ] {
        let error = Tag::from_json(tag(time, retained).as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{time} {retained}");
    }
}

#[test]
fn consumers_read_as_in_java() {
    for case in vector("snapshot_json.json")["consumers"]
        .as_array()
        .unwrap()
    {
        let consumer = Consumer::from_json(case["input"].as_str().unwrap().as_bytes()).unwrap();
        assert_eq!(
            consumer.next_snapshot.0,
            case["nextSnapshot"].as_i64().unwrap()
        );
        assert_eq!(Consumer::from_json(&consumer.to_json()).unwrap(), consumer);
    }
    assert_eq!(
        Consumer::new(SnapshotId(4)).to_json(),
        b"{\n  \"nextSnapshot\" : 4\n}"
    );
}

#[test]
fn hints_hold_one_positive_number() {
    for case in vector("snapshot_hints.json")["cases"].as_array().unwrap() {
        let Some(hint) = case["LATEST"].as_str() else {
            continue;
        };
        // Java lists the folder exactly when the hint says nothing, or snapshot hint + 1 exists.
        let snapshots = 1..=3;
        let expected = case["latest_id"].as_i64();
        let from_hint = parse_hint(hint.as_bytes()).filter(|id| !snapshots.contains(&(id + 1)));
        let answer = from_hint.or(Some(3));
        assert_eq!(answer, expected.or(Some(3)), "{}", case["name"]);
        if case["name"] == "LATEST with trailing space" || case["name"] == "LATEST is 0" {
            assert_eq!(parse_hint(hint.as_bytes()), None);
        }
        if case["name"] == "LATEST with trailing newline" {
            assert_eq!(parse_hint(hint.as_bytes()), Some(3));
        }
    }
    for torn in [
        &b""[..],
        b"-1",
        b"+1",
        b"1.0",
        b"\xff",
        b"99999999999999999999",
        &[b'1'; 1000],
    ] {
        assert_eq!(parse_hint(torn), None);
    }
    assert_eq!(parse_hint(&format_hint(i64::MAX)), Some(i64::MAX));
}

#[test]
fn snapshot_files_of_java_come_back_byte_for_byte() {
    let (mut snapshots, mut tags, mut consumers) = (0, 0, 0);
    for (path, text) in java_metadata_files() {
        let (folder, name) = path.rsplit_once('/').unwrap();
        let printed = if folder.ends_with("/snapshot") && name.starts_with("snapshot-")
            || folder.ends_with("/changelog") && name.starts_with("changelog-")
        {
            snapshots += 1;
            Snapshot::from_json(text.as_bytes()).unwrap().to_json()
        } else if folder.ends_with("/tag") {
            tags += 1;
            Tag::from_json(text.as_bytes()).unwrap().to_json()
        } else if folder.ends_with("/consumer") {
            consumers += 1;
            Consumer::from_json(text.as_bytes()).unwrap().to_json()
        } else {
            continue;
        };
        assert_eq!(String::from_utf8(printed).unwrap(), text, "{path}");
    }
    assert!(
        snapshots > 600 && tags > 6 && consumers > 1,
        "{snapshots} {tags} {consumers}"
    );
}

#[test]
fn snapshot_files_of_python_come_back_with_equal_content() {
    let mut snapshots = 0;
    for (path, text) in python_metadata_files() {
        if path.contains("/snapshot/snapshot-") {
            snapshots += 1;
            let mut printed = as_json(&Snapshot::from_json(text.as_bytes()).unwrap().to_json());
            // 1.3 writes the null that newer versions leave out.
            let removed = printed
                .as_object_mut()
                .unwrap()
                .remove("changelogManifestList");
            assert_eq!(removed, Some(Value::Null));
            assert_eq!(printed, as_json(text.as_bytes()), "{path}");
        }
    }
    assert!(snapshots >= 2);
}

#[test]
fn a_new_snapshot_prints_what_java_prints_when_there_is_nothing_to_say() {
    let mut snapshot = Snapshot::new(SnapshotId(1), SchemaId(0), CommitKind::Append);
    snapshot.base_manifest_list = "manifest-list-u-0".to_owned();
    snapshot.base_manifest_list_size = Some(884);
    snapshot.delta_manifest_list = "manifest-list-u-1".to_owned();
    snapshot.delta_manifest_list_size = Some(989);
    snapshot.commit_user = "me".to_owned();
    snapshot.time_millis = 1;
    snapshot.total_record_count = Some(3);
    snapshot.delta_record_count = Some(3);
    let expected = r#"{
  "version" : 3,
  "id" : 1,
  "schemaId" : 0,
  "baseManifestList" : "manifest-list-u-0",
  "baseManifestListSize" : 884,
  "deltaManifestList" : "manifest-list-u-1",
  "deltaManifestListSize" : 989,
  "changelogManifestList" : null,
  "commitUser" : "me",
  "commitIdentifier" : 9223372036854775807,
  "commitKind" : "APPEND",
  "timeMillis" : 1,
  "logOffsets" : { },
  "totalRecordCount" : 3,
  "deltaRecordCount" : 3,
  "changelogRecordCount" : 0,
  "nextRowId" : 0
}"#;
    assert_eq!(String::from_utf8(snapshot.to_json()).unwrap(), expected);
}

const SAMPLE: &str = r#"{"version":3,"id":1,"schemaId":0,"baseManifestList":"m-0","baseManifestListSize":10,"deltaManifestList":"m-1","deltaManifestListSize":11,"changelogManifestList":"m-2","commitUser":"u","commitIdentifier":1,"commitKind":"APPEND","timeMillis":1718000000000,"logOffsets":{"0":5},"totalRecordCount":3,"deltaRecordCount":2,"properties":{"k":"v"},"tagCreateTime":[2024,6,10,1,2,3,4],"tagTimeRetained":3600.5}"#;

proptest! {
    /// Whatever bytes a file holds, reading it answers, and what was read prints to something equal.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Snapshot::from_json(&bytes);
        let _ = Tag::from_json(&bytes);
        let _ = Consumer::from_json(&bytes);
        let _ = parse_hint(&bytes);
    }

    /// A damaged snapshot file is read or refused, and one that is read comes back equal.
    #[test]
    fn damaged_files_are_read_or_refused(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..3), 1..6)) {
        let mut bytes = SAMPLE.as_bytes().to_vec();
        for (place, byte, edit) in edits {
            let place = place.index(bytes.len().max(1));
            match edit {
                0 if place < bytes.len() => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                _ => bytes.truncate(place),
            }
        }
        if let Ok(snapshot) = Snapshot::from_json(&bytes) {
            prop_assert_eq!(Snapshot::from_json(&snapshot.to_json()).unwrap(), snapshot);
        }
        if let Ok(tag) = Tag::from_json(&bytes) {
            prop_assert_eq!(Tag::from_json(&tag.to_json()).unwrap(), tag);
        }
    }

    /// Every snapshot survives its file.
    #[test]
    fn snapshots_survive_their_files(
        numbers in prop::array::uniform6(any::<i64>()),
        texts in prop::array::uniform4(any::<String>()),
        options in prop::array::uniform4(prop::option::of(any::<i64>())),
        offsets in prop::option::of(prop::collection::btree_map(any::<i32>(), any::<i64>(), 0..3)),
        properties in prop::option::of(prop::collection::btree_map(any::<String>(), any::<String>(), 0..3)),
    ) {
        let [name, list, user, statistics] = texts;
        let mut snapshot = Snapshot::new(SnapshotId(numbers[0]), SchemaId(numbers[1]), CommitKind::Overwrite);
        snapshot.base_manifest_list = name;
        snapshot.base_manifest_list_size = Some(numbers[2]);
        snapshot.delta_manifest_list = list;
        snapshot.delta_manifest_list_size = Some(numbers[3]);
        snapshot.commit_user = user;
        snapshot.commit_identifier = numbers[4];
        snapshot.time_millis = numbers[5];
        snapshot.watermark = options[0];
        snapshot.changelog_record_count = options[1];
        snapshot.next_row_id = options[2];
        snapshot.total_record_count = options[3];
        snapshot.statistics = Some(statistics);
        snapshot.log_offsets = offsets;
        snapshot.properties = properties;
        prop_assert_eq!(Snapshot::from_json(&snapshot.to_json()).unwrap(), snapshot);
    }
}
