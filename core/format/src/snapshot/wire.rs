//! The JSON of snapshot files, which tags and long-lived changelogs share.
//!
//! Members are written in Java's order; `changelogManifestList` and the record counts are written as `null` when there is
//! none, as 1.3 does, everything else is left out. Source: spec 01b §1, Paimon `Snapshot.java`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tidewater_types::{SchemaId, SnapshotId};

use super::{SNAPSHOT_VERSION, Snapshot};
use crate::error::{FormatError, Result};
use crate::json::{Members, order_of, text_object, to_java_pretty};

const WHAT: &str = "snapshot";

impl Snapshot {
    /// Reads a snapshot file.
    ///
    /// # Errors
    /// [`FormatError::Json`] and [`FormatError::Corrupt`] for what is no snapshot, [`FormatError::NewerVersion`] for files of
    /// a later layout.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        WireSnapshot::parse(WHAT, bytes)?.validate()
    }

    /// The snapshot file's bytes, as Java would print them.
    pub fn to_json(&self) -> Vec<u8> {
        to_java_pretty(&Value::Object(
            WireSnapshot::from(self.clone()).into_members(),
        ))
    }
}

/// A snapshot file as written: members that other members make no sense without may be missing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WireSnapshot {
    version: i32,
    id: Option<i64>,
    schema_id: i64,
    base_manifest_list: Option<String>,
    base_manifest_list_size: Option<i64>,
    delta_manifest_list: Option<String>,
    delta_manifest_list_size: Option<i64>,
    changelog_manifest_list: Option<String>,
    changelog_manifest_list_size: Option<i64>,
    index_manifest: Option<String>,
    commit_user: Option<String>,
    commit_identifier: i64,
    commit_kind: Option<super::CommitKind>,
    time_millis: i64,
    log_offsets: Option<BTreeMap<i32, i64>>,
    total_record_count: Option<i64>,
    delta_record_count: Option<i64>,
    changelog_record_count: Option<i64>,
    watermark: Option<i64>,
    statistics: Option<String>,
    properties: Option<BTreeMap<String, String>>,
    next_row_id: Option<i64>,
    extra: Map<String, Value>,
    property_order: Vec<String>,
}

impl WireSnapshot {
    pub(super) fn parse(what: &'static str, bytes: &[u8]) -> Result<Self> {
        Self::from_members(Members::parse(what, bytes)?)
    }

    pub(super) fn from_members(mut members: Members) -> Result<Self> {
        let commit_kind = members.text("commitKind")?;
        let properties = members.text_map("properties")?;
        let property_order = order_of(properties.as_deref().unwrap_or_default());
        Ok(Self {
            version: members.int("version")?.unwrap_or(1),
            id: members.long("id")?,
            schema_id: members.long("schemaId")?.unwrap_or(0),
            base_manifest_list: members.text("baseManifestList")?,
            base_manifest_list_size: members.long("baseManifestListSize")?,
            delta_manifest_list: members.text("deltaManifestList")?,
            delta_manifest_list_size: members.long("deltaManifestListSize")?,
            changelog_manifest_list: members.text("changelogManifestList")?,
            changelog_manifest_list_size: members.long("changelogManifestListSize")?,
            index_manifest: members.text("indexManifest")?,
            commit_user: members.text("commitUser")?,
            commit_identifier: members.long("commitIdentifier")?.unwrap_or(0),
            commit_kind: commit_kind.map(|word| word.parse()).transpose()?,
            time_millis: members.long("timeMillis")?.unwrap_or(0),
            log_offsets: log_offsets(&mut members)?,
            total_record_count: members.long("totalRecordCount")?,
            delta_record_count: members.long("deltaRecordCount")?,
            changelog_record_count: members.long("changelogRecordCount")?,
            watermark: members.long("watermark")?,
            statistics: members.text("statistics")?,
            properties: properties.map(|texts| texts.into_iter().collect()),
            next_row_id: members.long("nextRowId")?,
            extra: members.into_rest(),
            property_order,
        })
    }

    /// The snapshot, if nothing is missing that a reader needs.
    pub(super) fn validate(self) -> Result<Snapshot> {
        if self.version > SNAPSHOT_VERSION {
            return Err(FormatError::NewerVersion {
                what: WHAT,
                found: self.version.into(),
                supported: SNAPSHOT_VERSION.into(),
            });
        }
        fn need<T>(value: Option<T>, member: &str) -> Result<T> {
            let missing = || FormatError::corrupt(WHAT, format!("member {member:?} is missing"));
            value.ok_or_else(missing)
        }
        Ok(Snapshot {
            version: self.version,
            id: SnapshotId(need(self.id, "id")?),
            schema_id: SchemaId(self.schema_id),
            base_manifest_list: need(self.base_manifest_list, "baseManifestList")?,
            base_manifest_list_size: self.base_manifest_list_size,
            delta_manifest_list: need(self.delta_manifest_list, "deltaManifestList")?,
            delta_manifest_list_size: self.delta_manifest_list_size,
            changelog_manifest_list: self.changelog_manifest_list,
            changelog_manifest_list_size: self.changelog_manifest_list_size,
            index_manifest: self.index_manifest,
            commit_user: need(self.commit_user, "commitUser")?,
            commit_identifier: self.commit_identifier,
            commit_kind: need(self.commit_kind, "commitKind")?,
            time_millis: self.time_millis,
            log_offsets: self.log_offsets,
            total_record_count: self.total_record_count,
            delta_record_count: self.delta_record_count,
            changelog_record_count: self.changelog_record_count,
            watermark: self.watermark,
            statistics: self.statistics,
            properties: self.properties,
            next_row_id: self.next_row_id,
            extra: self.extra,
            property_order: self.property_order,
        })
    }

    pub(super) fn into_members(self) -> Map<String, Value> {
        let mut members = Map::new();
        let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
        put("version", self.version.into());
        put("id", self.id.into());
        put("schemaId", self.schema_id.into());
        put("baseManifestList", self.base_manifest_list.into());
        put_some(
            &mut put,
            "baseManifestListSize",
            self.base_manifest_list_size,
        );
        put("deltaManifestList", self.delta_manifest_list.into());
        put_some(
            &mut put,
            "deltaManifestListSize",
            self.delta_manifest_list_size,
        );
        put("changelogManifestList", self.changelog_manifest_list.into());
        put_some(
            &mut put,
            "changelogManifestListSize",
            self.changelog_manifest_list_size,
        );
        put_some(&mut put, "indexManifest", self.index_manifest);
        put("commitUser", self.commit_user.into());
        put("commitIdentifier", self.commit_identifier.into());
        put(
            "commitKind",
            self.commit_kind.map(super::CommitKind::as_str).into(),
        );
        put("timeMillis", self.time_millis.into());
        let offsets = self.log_offsets.map(|offsets| {
            let texts = offsets
                .into_iter()
                .map(|(bucket, offset)| (bucket.to_string(), offset.into()));
            texts.collect::<Map<String, Value>>()
        });
        put_some(&mut put, "logOffsets", offsets);
        put("totalRecordCount", self.total_record_count.into());
        put("deltaRecordCount", self.delta_record_count.into());
        put_some(
            &mut put,
            "changelogRecordCount",
            self.changelog_record_count,
        );
        put_some(&mut put, "watermark", self.watermark);
        put_some(&mut put, "statistics", self.statistics);
        let order = self.property_order;
        let properties = self.properties.map(|texts| text_object(&order, &texts));
        put_some(&mut put, "properties", properties);
        put_some(&mut put, "nextRowId", self.next_row_id);
        for (name, value) in self.extra {
            put(&name, value);
        }
        members
    }
}

fn put_some<T: Into<Value>>(
    put: &mut impl FnMut(&str, Value) -> Option<Value>,
    name: &str,
    value: Option<T>,
) {
    if let Some(value) = value {
        put(name, value.into());
    }
}

fn log_offsets(members: &mut Members) -> Result<Option<BTreeMap<i32, i64>>> {
    const NAME: &str = "logOffsets";
    let offsets = match members.take(NAME) {
        None => return Ok(None),
        Some(Value::Object(offsets)) => offsets,
        Some(other) => return Err(members.wrong(NAME, "an object", &other)),
    };
    let pairs = offsets.iter().map(|(bucket, offset)| {
        let pair = bucket.parse().ok().zip(offset.as_i64());
        pair.ok_or_else(|| {
            members.wrong(&format!("{NAME}.{bucket}"), "an offset of a bucket", offset)
        })
    });
    pairs.collect::<Result<_>>().map(Some)
}

impl From<Snapshot> for WireSnapshot {
    fn from(snapshot: Snapshot) -> Self {
        Self {
            version: snapshot.version,
            id: Some(snapshot.id.0),
            schema_id: snapshot.schema_id.0,
            base_manifest_list: Some(snapshot.base_manifest_list),
            base_manifest_list_size: snapshot.base_manifest_list_size,
            delta_manifest_list: Some(snapshot.delta_manifest_list),
            delta_manifest_list_size: snapshot.delta_manifest_list_size,
            changelog_manifest_list: snapshot.changelog_manifest_list,
            changelog_manifest_list_size: snapshot.changelog_manifest_list_size,
            index_manifest: snapshot.index_manifest,
            commit_user: Some(snapshot.commit_user),
            commit_identifier: snapshot.commit_identifier,
            commit_kind: Some(snapshot.commit_kind),
            time_millis: snapshot.time_millis,
            log_offsets: snapshot.log_offsets,
            total_record_count: snapshot.total_record_count,
            delta_record_count: snapshot.delta_record_count,
            changelog_record_count: snapshot.changelog_record_count,
            watermark: snapshot.watermark,
            statistics: snapshot.statistics,
            properties: snapshot.properties,
            next_row_id: snapshot.next_row_id,
            extra: snapshot.extra,
            property_order: snapshot.property_order,
        }
    }
}
