//! Snapshots, schemas and options.

use serde_json::{Value, json};
use tidewater_format::TableOptions;
use tidewater_table::Table;
use tidewater_types::text::iso_timestamp;
use tidewater_types::{TimestampValue, TypeError};

use crate::error::Result;
use crate::output::Output;

/// Milliseconds since 1970 as text in UTC.
fn time_text(millis: i64) -> String {
    let value = TimestampValue {
        millis,
        nano_of_milli: 0,
    };
    iso_timestamp(value, 3, true)
}

pub(super) async fn snapshots(table: &Table, output: &mut Output) -> Result<()> {
    let log = table.log().snapshots();
    for id in log.list_ids().await? {
        // One that expires meanwhile is passed over.
        let Some(snapshot) = log.try_read(id).await? else {
            continue;
        };
        output.record(&json!({
            "id": id.0,
            "kind": snapshot.commit_kind.to_string(),
            "time": time_text(snapshot.time_millis),
            "user": snapshot.commit_user,
            "identifier": snapshot.commit_identifier,
            "schema": snapshot.schema_id.0,
            "records": snapshot.total_record_count,
            "delta": snapshot.delta_record_count,
            "changelog": snapshot.changelog_record_count,
            "watermark": snapshot.watermark.filter(|watermark| *watermark != i64::MIN),
        }))?;
    }
    Ok(())
}

pub(super) async fn schemas(table: &Table, output: &mut Output) -> Result<()> {
    let schemas = table.log().schemas();
    for id in schemas.list_ids().await? {
        let schema = schemas.read(id).await?;
        let columns: Vec<String> = schema
            .fields
            .iter()
            .map(|field| format!("{} {}", field.name, field.data_type))
            .collect();
        output.record(&json!({
            "id": id.0,
            "time": time_text(schema.time_millis),
            "columns": columns.join(", "),
            "primaryKeys": schema.primary_keys.join(", "),
            "partitionKeys": schema.partition_keys.join(", "),
            "options": schema.options.len(),
        }))?;
    }
    Ok(())
}

pub(super) fn options(table: &Table, output: &mut Output) -> Result<()> {
    for (key, value) in &table.schema().options {
        let doc = TableOptions::doc(key);
        output.record(&json!({
            "option": key,
            "value": value,
            "default": doc.map_or(Value::Null, |doc| json!(doc.default)),
            "meaning": doc.map_or_else(|| "unknown to this engine, kept".to_owned(), |doc| doc.meaning.to_string()),
        }))?;
    }
    // Values that do not read as their types show up here rather than at the next write.
    table
        .schema()
        .options()
        .map(drop)
        .map_err(|error| TypeError::invalid(error.to_string()).into())
}
