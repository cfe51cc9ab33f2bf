//! From an address and an option map to a client of an object store.
//!
//! Keys are those Java users have in their catalogs (spec 04, store options): the prefix of the store, then a name in which `-`, `.` and `_`
//! are the same. What is not one of Java's names goes to the builder of `object_store` under its own name (`s3.conditional-put`,
//! `gs.service-account-key`, `az.sas-token`, `s3.timeout`); what neither knows is left alone, as it may be meant for
//! another reader of the same options. Options win over the usual environment variables of each provider.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::memory::InMemory;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};

use crate::IoError;
use crate::options::IoOptionDoc;
use crate::uri::Place;

const S3_PREFIXES: &[&str] = &["s3.", "s3a.", "fs.s3a.", "fs.s3."];
const GCS_PREFIXES: &[&str] = &["gs.", "fs.gs."];
const AZURE_PREFIXES: &[&str] = &["az.", "azure.", "fs.azure."];

/// What the stores themselves are told. Names of `object_store`'s builders work as well, behind the same prefixes.
pub(crate) const STORE_OPTION_DOCS: &[IoOptionDoc] = &[
    IoOptionDoc {
        key: "s3.endpoint",
        default: "",
        meaning: "Address of the S3 service; empty means Amazon's.",
    },
    IoOptionDoc {
        key: "s3.region",
        default: "us-east-1",
        meaning: "Region that requests are signed for.",
    },
    IoOptionDoc {
        key: "s3.access-key",
        default: "",
        meaning: "Access key id; empty means the provider's chain.",
    },
    IoOptionDoc {
        key: "s3.secret-key",
        default: "",
        meaning: "Secret that belongs to the access key.",
    },
    IoOptionDoc {
        key: "s3.session-token",
        default: "",
        meaning: "Token of temporary credentials.",
    },
    IoOptionDoc {
        key: "s3.path-style-access",
        default: "true",
        meaning: "Whether the bucket stands in the path of a request and not in its host name.",
    },
    IoOptionDoc {
        key: "gs.service-account-path",
        default: "",
        meaning: "File with the service account's key.",
    },
    IoOptionDoc {
        key: "az.account-name",
        default: "",
        meaning: "Storage account, unless the address names it.",
    },
    IoOptionDoc {
        key: "az.account-key",
        default: "",
        meaning: "Key of the storage account.",
    },
    IoOptionDoc {
        key: "az.endpoint",
        default: "",
        meaning: "Address of the blob service; empty means Azure's.",
    },
];

/// Opens the store of a place that is not local.
///
/// # Errors
/// [`IoError::InvalidOption`] if the store's builder refuses what it was given.
pub(crate) fn open_remote(
    place: &Place,
    options: &BTreeMap<String, String>,
) -> Result<Arc<dyn ObjectStore>, IoError> {
    match place {
        Place::Memory => Ok(Arc::new(InMemory::new())),
        Place::S3 { bucket } => open_s3(bucket, options),
        Place::Gcs { bucket } => open_gcs(bucket, options),
        Place::Azure { container, account } => open_azure(container, account.as_deref(), options),
        Place::Local | Place::Custom { .. } => Err(IoError::Unsupported {
            what: format!("opening {} by its address", place.prefix()),
        }),
    }
}

fn open_s3(
    bucket: &str,
    options: &BTreeMap<String, String>,
) -> Result<Arc<dyn ObjectStore>, IoError> {
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        .with_retry(retry_config());
    let (mut endpoint, mut path_style) = (None, None);
    for (name, key, value) in store_options(options, S3_PREFIXES) {
        match name.as_str() {
            "endpoint" => endpoint = Some(value),
            "path_style_access" => path_style = Some(parse_bool(key, value)?),
            "access_key" => builder = builder.with_access_key_id(value),
            "secret_key" => builder = builder.with_secret_access_key(value),
            "endpoint_region" => builder = builder.with_region(value),
            other => match AmazonS3ConfigKey::from_str(other) {
                Ok(known) => builder = builder.with_config(known, value),
                Err(_) => ignored(key),
            },
        }
    }
    if let Some(path_style) = path_style {
        builder = builder.with_virtual_hosted_style_request(!path_style);
    }
    if let Some(endpoint) = endpoint {
        let endpoint = with_scheme(endpoint);
        let hosted = path_style == Some(false);
        let endpoint = if hosted {
            with_bucket_in_host(&endpoint, bucket)
        } else {
            endpoint
        };
        builder = builder
            .with_allow_http(endpoint.starts_with("http://"))
            .with_endpoint(endpoint);
    }
    built("s3", builder.build())
}

fn open_gcs(
    bucket: &str,
    options: &BTreeMap<String, String>,
) -> Result<Arc<dyn ObjectStore>, IoError> {
    let mut builder = GoogleCloudStorageBuilder::from_env()
        .with_bucket_name(bucket)
        .with_retry(retry_config());
    for (name, key, value) in store_options(options, GCS_PREFIXES) {
        match GoogleConfigKey::from_str(&name) {
            Ok(known) => builder = builder.with_config(known, value),
            Err(_) => ignored(key),
        }
    }
    built("gs", builder.build())
}

fn open_azure(
    container: &str,
    account: Option<&str>,
    options: &BTreeMap<String, String>,
) -> Result<Arc<dyn ObjectStore>, IoError> {
    let mut builder = MicrosoftAzureBuilder::from_env()
        .with_container_name(container)
        .with_retry(retry_config());
    for (name, key, value) in store_options(options, AZURE_PREFIXES) {
        // Hadoop's spelling names the account's host behind the key: `fs.azure.account.key.<account>.dfs.core.windows.net`.
        if let Some(host) = name.strip_prefix("account_key_") {
            if account.is_some_and(|account| host.split('_').next() == Some(account)) {
                builder = builder.with_access_key(value);
            }
            continue;
        }
        match (name.as_str(), AzureConfigKey::from_str(&name)) {
            ("endpoint", _) => {
                let endpoint = with_scheme(value);
                builder = builder
                    .with_allow_http(endpoint.starts_with("http://"))
                    .with_endpoint(endpoint);
            }
            (_, Ok(known)) => builder = builder.with_config(known, value),
            (_, Err(_)) => ignored(key),
        }
    }
    if let Some(account) = account {
        builder = builder.with_account(account);
    }
    built("az", builder.build())
}

fn built<S: ObjectStore>(
    prefix: &str,
    store: object_store::Result<S>,
) -> Result<Arc<dyn ObjectStore>, IoError> {
    let store = store.map_err(|error| IoError::InvalidOption {
        key: format!("{prefix}.*"),
        reason: error.to_string(),
    })?;
    Ok(Arc::new(store))
}

/// The options of one store: name without prefix in the builders' spelling, whole key, value. Later prefixes of the list do not win
/// over earlier ones: the first prefix that carries a name decides.
fn store_options<'a>(
    options: &'a BTreeMap<String, String>,
    prefixes: &[&str],
) -> Vec<(String, &'a str, &'a str)> {
    let mut found: BTreeMap<String, (&str, &str)> = BTreeMap::new();
    for prefix in prefixes {
        for (key, value) in options {
            if let Some(name) = key.strip_prefix(prefix) {
                let name = name.to_ascii_lowercase().replace(['-', '.'], "_");
                found.entry(name).or_insert((key.as_str(), value.as_str()));
            }
        }
    }
    found
        .into_iter()
        .map(|(name, (key, value))| (name, key, value))
        .collect()
}

fn ignored(key: &str) {
    tracing::debug!(key, "no store knows this option");
}

fn parse_bool(key: &str, value: &str) -> Result<bool, IoError> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(IoError::InvalidOption {
            key: key.to_owned(),
            reason: format!("cannot read {value:?}"),
        }),
    }
}

/// Java accepts an endpoint without a scheme and means https.
fn with_scheme(endpoint: &str) -> String {
    if endpoint.contains("://") {
        endpoint.to_owned()
    } else {
        format!("https://{endpoint}")
    }
}

/// `object_store` wants the bucket in the endpoint's host when requests are addressed that way.
fn with_bucket_in_host(endpoint: &str, bucket: &str) -> String {
    match endpoint.split_once("://") {
        Some((scheme, host)) if !host.starts_with(&format!("{bucket}.")) => {
            format!("{scheme}://{bucket}.{host}")
        }
        _ => endpoint.to_owned(),
    }
}

/// The client repeats a request by itself only briefly: it knows best about connections and about the parts of an upload, while the
/// patience for a store in trouble is in [`crate::IoOptions`], where a test's clock rules.
fn retry_config() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(2),
            base: 2.0,
        },
        max_retries: 4,
        retry_timeout: Duration::from_secs(90),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|&(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    }

    #[test]
    fn names_lose_their_prefix_and_their_punctuation() {
        let options = map(&[
            ("fs.s3a.access.key", "hadoop"),
            ("s3.access-key", "paimon"),
            ("fs.s3a.path.style.access", "true"),
            ("bucket", "4"),
        ]);
        assert_eq!(
            store_options(&options, S3_PREFIXES),
            [
                ("access_key".to_owned(), "s3.access-key", "paimon"),
                (
                    "path_style_access".to_owned(),
                    "fs.s3a.path.style.access",
                    "true"
                ),
            ]
        );
    }

    #[test]
    fn clients_are_built_without_a_network() {
        let s3 = Place::S3 { bucket: "b".into() };
        let options = map(&[
            ("s3.endpoint", "http://127.0.0.1:9000"),
            ("s3.access-key", "a"),
            ("s3.secret-key", "s"),
            ("s3.path.style.access", "true"),
            ("s3.connection.maximum", "100"),
        ]);
        assert!(open_remote(&s3, &options).is_ok());
        let azure = Place::Azure {
            container: "c".into(),
            account: Some("acc".into()),
        };
        // "k" is no base64: the key was found and handed on.
        let options = map(&[("fs.azure.account.key.acc.dfs.core.windows.net", "k")]);
        assert!(
            matches!(open_remote(&azure, &options), Err(IoError::InvalidOption { key, .. }) if key == "az.*")
        );
        let options = map(&[("fs.azure.account.key.acc.dfs.core.windows.net", "a2V5")]);
        assert!(open_remote(&azure, &options).is_ok());
    }

    #[test]
    fn a_wrong_switch_names_its_key() {
        let options = map(&[("fs.s3a.path.style.access", "yes")]);
        let refused = open_remote(&Place::S3 { bucket: "b".into() }, &options);
        assert!(
            matches!(refused, Err(IoError::InvalidOption { key, .. }) if key == "fs.s3a.path.style.access")
        );
    }

    #[test]
    fn hosts_get_the_bucket_once() {
        assert_eq!(
            with_bucket_in_host("https://s3.example.com", "b"),
            "https://b.s3.example.com"
        );
        assert_eq!(
            with_bucket_in_host("https://b.s3.example.com", "b"),
            "https://b.s3.example.com"
        );
        assert_eq!(with_scheme("s3.example.com"), "https://s3.example.com");
    }
}
