//! Prints where the repository breaks its own rules; exits 1 if it does, 2 if it could not be looked at.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The sources it was built from, unless another repository is named.
    // Cargo says where it runs; the place of building may be another clone that shared the build folder and is gone.
    let package = std::env::var("CARGO_MANIFEST_DIR")
        .unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
    let own = format!("{package}/../..");
    let root = std::env::args().nth(1).unwrap_or(own);
    match tidewater_tidy::check(Path::new(&root)) {
        Ok(findings) if findings.is_empty() => ExitCode::SUCCESS,
        Ok(findings) => {
            for finding in &findings {
                println!("{finding}");
            }
            eprintln!("tidy: {} findings", findings.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("tidy: {error}");
            let mut source = error.source();
            while let Some(cause) = source {
                eprintln!("  because {cause}");
                source = cause.source();
            }
            ExitCode::from(2)
        }
    }
}
