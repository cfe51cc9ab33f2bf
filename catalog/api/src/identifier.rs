//! `database.table`.

use std::fmt;
use std::str::FromStr;

use crate::error::{CatalogError, Result};

/// The name of a table in its database.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identifier {
    /// The database.
    pub database: String,
    /// The table.
    pub object: String,
}

impl Identifier {
    /// `database.object`.
    pub fn new(database: impl Into<String>, object: impl Into<String>) -> Self {
        Self {
            database: database.into(),
            object: object.into(),
        }
    }

    /// Checks that both parts name something that can lie in a folder.
    ///
    /// # Errors
    /// [`CatalogError::BadName`]; [`CatalogError::Unsupported`] for a branch or a system table (`table$…`).
    pub fn check(&self) -> Result<()> {
        check_name("database", &self.database)?;
        check_name("table", &self.object)?;
        if self.object.contains('$') {
            return Err(CatalogError::Unsupported {
                what: format!("{self}: branches and system tables"),
            });
        }
        Ok(())
    }
}

/// Blank names, separators and the reserved database are none.
pub(crate) fn check_name(what: &'static str, name: &str) -> Result<()> {
    let problem = if name.trim().is_empty() {
        "is blank"
    } else if name.contains(['/', '\\', '\0']) || name == "." || name == ".." {
        "would leave its folder"
    } else if what == "database" && name == "sys" {
        "is reserved"
    } else {
        return Ok(());
    };
    Err(CatalogError::BadName {
        what,
        name: name.to_owned(),
        problem,
    })
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.database, self.object)
    }
}

impl FromStr for Identifier {
    type Err = CatalogError;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once('.') {
            Some((database, object)) => Ok(Self::new(database, object)),
            None => Err(CatalogError::BadName {
                what: "table",
                name: text.to_owned(),
                problem: "is not of the form DATABASE.TABLE",
            }),
        }
    }
}
