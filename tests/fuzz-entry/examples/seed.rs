//! Writes the seeds of each target into a folder: `seed FOLDER`.

fn main() -> std::io::Result<()> {
    let folder = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "seeds".to_owned());
    for target in tidewater_fuzz_entry::TARGETS {
        let folder = std::path::Path::new(&folder).join(target.name);
        std::fs::create_dir_all(&folder)?;
        for (number, seed) in (target.seeds)().into_iter().enumerate() {
            std::fs::write(folder.join(number.to_string()), seed)?;
        }
    }
    Ok(())
}
