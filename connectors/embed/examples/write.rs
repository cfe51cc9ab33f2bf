//! Writes upserts and deletes into a table, commit by commit: `cargo run --example write -- WAREHOUSE`.

use std::sync::Arc;

use arrow_array::{Int8Array, Int64Array, RecordBatch, StringArray};
use tidewater::{
    Catalog, CommitOptions, Committable, DataType, Identifier, RowType, Runtime, SchemaDefinition,
    WriteOptions,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let warehouse = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "warehouse".to_owned());
    let catalog = Runtime::default().catalog(&warehouse)?;
    catalog.create_database("shop", true).await?;
    let columns = RowType::of([
        ("id", DataType::big_int().not_null()),
        ("city", DataType::string()),
    ]);
    let definition = SchemaDefinition::keyed(columns, ["id"])
        .with_option("bucket", "2")
        .with_option("changelog-producer", "input");
    let name = Identifier::new("shop", "customers");
    let table = catalog.create_table(&name, definition, true).await?;

    let user = "write-example".to_owned();
    let commit = table.new_commit(CommitOptions { user })?;
    let mut write = table.new_write(WriteOptions::default()).await?;
    // A restarted job asks what it has committed, and goes on behind it.
    let first = commit.last_identifier().await?.unwrap_or(0) + 1;
    for identifier in first..first + 3 {
        let ids = Int64Array::from(vec![1, 2, identifier]);
        let cities = StringArray::from(vec![format!("city {identifier}"); 3]);
        let rows = RecordBatch::try_from_iter([
            ("id", Arc::new(ids) as _),
            ("city", Arc::new(cities) as _),
        ])?;
        // 0 is +I, 3 is -D: customer 2 goes.
        write
            .write_with_kinds(rows, Int8Array::from(vec![0, 3, 0]))
            .await?;
        let messages = write.prepare_commit(true).await?;
        for snapshot in commit
            .commit(Committable::new(identifier, messages))
            .await?
        {
            println!("snapshot {} ({})", snapshot.id.0, snapshot.kind);
        }
    }
    Ok(())
}
