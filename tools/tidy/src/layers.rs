//! No arrow back between crates (design §2).
//!
//! ```text
//!  core: types -> format -> io -> index -> files    a crate may use what stands before it
//!  lsm:  merge -> store -> table
//!  core -> lsm -> catalog -> connectors -> tools -> tests
//! ```
//!
//! Dev-dependencies count: a core crate's generators sit behind its own `test-util` feature. The one exception is `tests/testkit`, which
//! the tests of connectors and tools may use.

use crate::Finding;
use crate::workspace::{Dependency, DependencyKind, Member, Workspace};

const LAYERS: &[&str] = &["core", "lsm", "catalog", "connectors", "tools", "tests"];

/// Crates of the two layers in which the order is fixed.
const CORE: &[&str] = &["types", "format", "io", "index", "files"];
const LSM: &[&str] = &["merge", "store", "table"];

const TESTKIT: &str = "tests/testkit";

/// Layers whose tests may use the testkit.
const TESTKIT_USERS: &[&str] = &["connectors", "tools", "tests"];

pub(crate) fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.members.iter().flat_map(check_member).collect()
}

fn check_member(member: &Member) -> Vec<Finding> {
    let manifest = format!("{}/Cargo.toml", member.folder);
    let Some(from) = rank(&member.folder) else {
        return vec![Finding::new(
            manifest,
            format!("{} has no place in the layers of tools/tidy", member.name),
        )];
    };
    let refused = member
        .dependencies
        .iter()
        .filter(|arrow| !allowed(&member.folder, from, arrow));
    refused
        .map(|arrow| {
            let message = format!(
                "{} must not depend on {}: arrows go {}",
                member.folder,
                arrow.folder,
                LAYERS.join(" -> ")
            );
            Finding::new(manifest.as_str(), message)
        })
        .collect()
}

fn allowed(user: &str, from: Rank, arrow: &Dependency) -> bool {
    let layer = user.split('/').next().unwrap_or(user);
    if arrow.kind == DependencyKind::Dev
        && arrow.folder == TESTKIT
        && TESTKIT_USERS.contains(&layer)
    {
        return true;
    }
    match rank(&arrow.folder) {
        // A crate may name itself in its dev-dependencies to switch a feature on.
        Some(_) if arrow.folder == user => arrow.kind == DependencyKind::Dev,
        Some(to) if to.layer == from.layer => match (to.inside, from.inside) {
            (Some(to), Some(from)) => to < from,
            _ => true,
        },
        Some(to) => to.layer < from.layer,
        None => false,
    }
}

/// Where a folder stands: a layer, and a place in it where the order inside is fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rank {
    layer: usize,
    inside: Option<usize>,
}

fn rank(folder: &str) -> Option<Rank> {
    let (layer_name, name) = folder.split_once('/')?;
    let layer = LAYERS.iter().position(|&known| known == layer_name)?;
    let order = match layer_name {
        "core" => CORE,
        "lsm" => LSM,
        _ => {
            return Some(Rank {
                layer,
                inside: None,
            });
        }
    };
    let inside = order.iter().position(|&known| known == name)?;
    Some(Rank {
        layer,
        inside: Some(inside),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrow(from: &str, to: &str, kind: DependencyKind) -> Vec<Finding> {
        let member = Member {
            name: format!("tidewater-{from}"),
            folder: from.to_owned(),
            dependencies: vec![Dependency {
                folder: to.to_owned(),
                kind,
            }],
        };
        check(&Workspace {
            members: vec![member],
        })
    }

    #[test]
    fn arrows_down_are_fine() {
        for (from, to) in [
            ("core/files", "core/types"),
            ("core/io", "core/format"),
            ("lsm/merge", "core/format"),
            ("lsm/table", "lsm/store"),
            ("catalog/jdbc", "catalog/api"),
            ("connectors/kafka", "connectors/embed"),
            ("tools/cli", "connectors/embed"),
            ("tests/peers", "tests/testkit"),
            ("tests/sim", "tools/cli"),
        ] {
            assert_eq!(
                arrow(from, to, DependencyKind::Normal),
                [],
                "{from} -> {to}"
            );
        }
    }

    #[test]
    fn arrows_up_are_found_in_every_kind() {
        for (from, to) in [
            ("core/types", "core/format"),
            ("core/format", "core/io"),
            ("core/files", "lsm/merge"),
            ("lsm/merge", "lsm/store"),
            ("lsm/table", "catalog/api"),
            ("catalog/api", "connectors/embed"),
            ("connectors/embed", "tools/cli"),
        ] {
            for kind in [
                DependencyKind::Normal,
                DependencyKind::Dev,
                DependencyKind::Build,
            ] {
                let found = arrow(from, to, kind);
                assert_eq!(found.len(), 1, "{from} -> {to}");
                assert_eq!(found[0].place, format!("{from}/Cargo.toml"));
            }
        }
    }

    #[test]
    fn the_testkit_is_for_tests_of_upper_layers_only() {
        for (user, kind, fine) in [
            ("connectors/embed", DependencyKind::Dev, true),
            ("tools/cli", DependencyKind::Dev, true),
            ("tools/cli", DependencyKind::Normal, false),
            ("lsm/table", DependencyKind::Dev, false),
            ("core/io", DependencyKind::Dev, false),
        ] {
            assert_eq!(
                arrow(user, TESTKIT, kind).is_empty(),
                fine,
                "{user} {kind:?}"
            );
        }
    }

    #[test]
    fn a_crate_without_a_place_is_found() {
        let found = arrow("core/extras", "core/types", DependencyKind::Normal);
        assert_eq!(
            found[0].message,
            "tidewater-core/extras has no place in the layers of tools/tidy"
        );
        assert_eq!(
            arrow("lsm/table", "misc/thing", DependencyKind::Normal).len(),
            1
        );
    }
}
