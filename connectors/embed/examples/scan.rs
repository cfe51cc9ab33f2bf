//! Reads a table at its latest snapshot, or at one that is named: `cargo run --example scan -- WAREHOUSE [SNAPSHOT]`.

use tidewater::{Catalog, Identifier, Predicate, Runtime, SnapshotId};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let warehouse = arguments.next().unwrap_or_else(|| "warehouse".to_owned());
    let catalog = Runtime::default().catalog(&warehouse)?;
    let table = catalog
        .get_table(&Identifier::new("shop", "customers"))
        .await?;

    let mut scan = table.new_scan();
    if let Some(snapshot) = arguments.next() {
        scan = scan.snapshot(SnapshotId(snapshot.parse()?));
    }
    let filter = Predicate::parse_text("id >= 1 and city is not null", &scan.row_type().await?)?;
    let scan = scan.project(&["id", "city"])?.filter(filter)?;
    println!("{} rows", scan.count().await?);
    let mut rows = scan.read().await?;
    while let Some(batch) = rows.next_batch().await? {
        for row in 0..batch.num_rows() {
            let cells: Result<Vec<String>, _> = batch
                .columns()
                .iter()
                .map(|column| arrow_cast::display::array_value_to_string(column, row))
                .collect();
            println!("{}", cells?.join("  "));
        }
    }
    Ok(())
}
