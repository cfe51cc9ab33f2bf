//! `options`: every option that the code declares, as records or as the page `docs/options.md`.

use serde_json::json;
use tidewater_format::{PATTERNS, TableOptions};
use tidewater_io::IoOptions;

use crate::command::OptionsArgs;
use crate::context::Context;
use crate::error::{EXIT_DONE, Result};

/// One option, wherever it is declared.
struct Listed {
    scope: &'static str,
    key: &'static str,
    value_type: &'static str,
    default: Option<String>,
    meaning: &'static str,
    remark: &'static str,
}

const TABLE: &str = "table";
const COLUMN: &str = "column";
const STORE: &str = "store";

/// The sections of the page, in order: scope, title, what the options have in common.
const SECTIONS: [(&str, &str, &str); 3] = [
    (
        TABLE,
        "Options of a table",
        "Stored with the table, or given for one call. Keys that are not listed are kept as they are.",
    ),
    (
        COLUMN,
        "Options of a column",
        "`<...>` stands for the part that varies, mostly a column's name.",
    ),
    (
        STORE,
        "Access to stores",
        "Given with the warehouse; never stored with a table.",
    ),
];

fn listed() -> Vec<Listed> {
    let tables = TableOptions::all().iter().map(|option| Listed {
        scope: TABLE,
        key: option.key,
        value_type: option.value_type,
        default: option.default.clone(),
        meaning: option.meaning,
        remark: match (option.immutable, option.newer, option.foreign) {
            (true, ..) => "fixed once the table has data",
            (_, true, _) => "of format versions after 1.3",
            (_, _, true) => "for other programs, kept",
            _ => "",
        },
    });
    let columns = PATTERNS.iter().map(|option| Listed {
        scope: COLUMN,
        key: option.pattern,
        value_type: option.value_type,
        default: None,
        meaning: option.meaning,
        remark: if option.newer {
            "of format versions after 1.3"
        } else {
            ""
        },
    });
    let stores = IoOptions::all()
        .iter()
        .chain(IoOptions::store_options())
        .map(|option| Listed {
            scope: STORE,
            key: option.key,
            value_type: "",
            default: (!option.default.is_empty()).then(|| option.default.to_owned()),
            meaning: option.meaning,
            remark: "",
        });
    tables.chain(columns).chain(stores).collect()
}

pub(crate) fn run(args: &OptionsArgs, context: &mut Context) -> Result<u8> {
    let options = listed();
    if args.markdown {
        context.output.text(&page(&options))?;
        return Ok(EXIT_DONE);
    }
    for option in options {
        context.output.record(&json!({
            "scope": option.scope,
            "key": option.key,
            "type": option.value_type,
            "default": option.default,
            "meaning": option.meaning,
            "remark": option.remark,
        }))?;
    }
    Ok(EXIT_DONE)
}

fn page(options: &[Listed]) -> String {
    let mut page = String::from(
        "# Options\n\nWritten by `./dev docs` from the declarations in the code; do not edit. An option that is listed is read and kept; which features\nthis build does not have yet stands in the README, and asking for one is refused with exit status 64.\n",
    );
    for (scope, title, about) in SECTIONS {
        page.push_str(&format!("\n## {title}\n\n{about}\n\n| key | type | default | meaning |\n| --- | --- | --- | --- |\n"));
        for option in options.iter().filter(|option| option.scope == scope) {
            let default = option
                .default
                .as_deref()
                .map_or_else(|| "–".to_owned(), |text| format!("`{text}`"));
            let meaning = if option.remark.is_empty() {
                option.meaning.to_owned()
            } else {
                format!("{} ({})", option.meaning, option.remark)
            };
            page.push_str(&format!(
                "| `{}` | {} | {default} | {} |\n",
                option.key,
                option.value_type,
                meaning.replace('|', "\\|")
            ));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_lists_every_option_once() {
        let options = listed();
        let page = page(&options);
        for option in &options {
            let row = format!("| `{}` |", option.key);
            assert_eq!(page.matches(&row).count(), 1, "{}", option.key);
        }
    }
}
