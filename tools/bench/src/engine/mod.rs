//! The operations on a Tidewater table, through the calls that any program would make.

mod meta;
mod read;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arrow_schema::Schema;
use tidewater_catalog::{Catalog, FileSystemCatalog, Identifier};
use tidewater_format::SchemaDefinition;
use tidewater_io::{CpuPool, Env, MemoryBudget};
use tidewater_table::{Table, TableEnv};
use tidewater_types::arrow_types::from_arrow_schema;

use crate::answer::Answer;
use crate::args::Call;
use crate::error::{BenchError, Result};
use crate::input::{Input, KIND};

/// The database that harnesses look into.
const DATABASE: &str = "b";
/// Table of the keyed workload.
const KEYED: &str = "t";
/// Table of the append workload.
const APPEND: &str = "ap";
/// Table that only has metadata.
const META: &str = "m";

/// Runs one operation.
///
/// # Errors
/// Whatever ends it early: then there is no figure.
pub(crate) fn run(call: &Call) -> Result<Answer> {
    let threads = call.threads()?;
    let folder = call.table()?;
    std::fs::create_dir_all(&folder).map_err(BenchError::file(&folder))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .map_err(BenchError::file(Path::new("runtime")))?;
    let bench = Bench {
        input: Input::new(call.text("in").map(PathBuf::from).unwrap_or_default()),
        memory: call.number("memory-mib", 1024)? << 20,
        env: Env::system(),
        cpu: CpuPool::new(threads),
        folder,
    };
    let files = call.number("files", 100_000)?;
    runtime.block_on(async {
        match call.op.as_str() {
            "load" => bench.load().await,
            "upsert" => bench.upsert().await,
            "compact" => bench.compact().await,
            "scan_all" => bench.scan(KEYED, None).await,
            "scan_proj" => bench.scan(KEYED, Some(&crate::input::NARROW)).await,
            "count" => bench.count().await,
            "append_load" => bench.append_load().await,
            "append_scan" => bench.scan(APPEND, None).await,
            "append_part" => bench.append_part().await,
            "meta" => bench.meta(files).await,
            "meta_plan" => bench.meta_plan().await,
            "lookup" | "range" | "nonkey" | "stream" => Ok(Answer::unsupported(
                "measured with a later part of the engine",
            )),
            "changelog" => Ok(Answer::unsupported(
                "changelog-producer=lookup is not built",
            )),
            "wide_load" | "wide_scan" | "wide_compact" => Ok(Answer::unsupported(
                "merge-engine=partial-update is not built",
            )),
            other => Ok(Answer::unsupported(&format!("no operation {other}"))),
        }
    })
}

/// What all operations share.
struct Bench {
    input: Input,
    folder: PathBuf,
    memory: usize,
    env: Env,
    cpu: CpuPool,
}

impl Bench {
    /// Seconds since `start` of this clock.
    fn since(&self, start: std::time::Duration) -> f64 {
        self.env.monotonic().saturating_sub(start).as_secs_f64()
    }

    fn catalog(&self) -> Result<FileSystemCatalog> {
        let memory = MemoryBudget::new(self.memory);
        let env = TableEnv::new(self.env.clone(), self.cpu.clone(), memory);
        let warehouse = self
            .folder
            .canonicalize()
            .map_err(BenchError::file(&self.folder))?;
        let warehouse = warehouse.to_string_lossy();
        Ok(FileSystemCatalog::open(&warehouse, &BTreeMap::new(), env)?)
    }

    async fn table(&self, name: &str) -> Result<Table> {
        Ok(self
            .catalog()?
            .get_table(&Identifier::new(DATABASE, name))
            .await?)
    }

    /// Makes a table anew with the columns of an input.
    async fn create(
        &self,
        name: &str,
        columns: &Schema,
        keys: &[&str],
        partitions: &[&str],
        options: &[(&str, &str)],
    ) -> Result<Table> {
        let mut fields = from_arrow_schema(columns)?.fields;
        fields.retain(|field| field.name != KIND);
        let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let definition = SchemaDefinition {
            fields,
            primary_keys: texts(keys),
            partition_keys: texts(partitions),
            options: options
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            comment: None,
        };
        let catalog = self.catalog()?;
        let table = Identifier::new(DATABASE, name);
        catalog.create_database(DATABASE, true).await?;
        catalog.drop_table(&table, true).await?;
        Ok(catalog.create_table(&table, definition, false).await?)
    }
}
