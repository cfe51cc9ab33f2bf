//! Follows a table from its first snapshot, and remembers its place in a file: `cargo run --example follow -- WAREHOUSE [POSITION_FILE]`.

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use tidewater::{
    Catalog, Identifier, RowKind, Runtime, SnapshotId, StreamMode, StreamOptions, StreamPosition,
    VALUE_KIND_COLUMN,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let warehouse = arguments.next().unwrap_or_else(|| "warehouse".to_owned());
    let position = arguments.next();
    let catalog = Runtime::default().catalog(&warehouse)?;
    let table = catalog
        .get_table(&Identifier::new("shop", "customers"))
        .await?;

    let mut stream = table.new_stream(StreamOptions {
        mode: StreamMode::FromSnapshot(SnapshotId(1)),
        ..StreamOptions::default()
    })?;
    if let Some(text) = position
        .as_ref()
        .and_then(|file| std::fs::read_to_string(file).ok())
    {
        stream.restore(StreamPosition::from_json(&text)?);
    }
    while let Some(plan) = stream.plan_next().await? {
        let snapshot = plan.snapshot;
        let mut changes = stream.read(plan).await?;
        while let Some(batch) = changes.next_batch().await? {
            let kinds = batch.column_by_name(VALUE_KIND_COLUMN);
            let kinds = kinds
                .ok_or("changes have kinds")?
                .as_primitive::<Int8Type>();
            for row in 0..batch.num_rows() {
                let kind = RowKind::from_i8(kinds.value(row))?;
                let id = arrow_cast::display::array_value_to_string(batch.column(0), row)?;
                println!("snapshot {} {} {id}", snapshot.0, kind.short());
            }
        }
        // Once the changes are dealt with, the place behind them is safe to remember.
        if let Some(file) = &position {
            std::fs::write(file, stream.position().to_json())?;
        }
    }
    Ok(())
}
